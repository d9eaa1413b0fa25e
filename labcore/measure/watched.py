"""The two lanes of a call on a card of silicon, measured.

In: a function, tensors on the card, a plan (`lanes.PLANS`).  Out: `Lanes`, and the kernels' names.
Method: a kernel's time is that of the card between two events, around one replay of `REPEAT` times
the kernel, so nothing of the host is in it. A call's time on the host is the median of several,
with nobody listening; where in it the launches were is from one that was watched, and scaled. When
a kernel starts follows from both, as in `lanes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

from ..runtime import cards
from ..runtime.allocator import Pool
from ..runtime.card import SiliconCard
from ..runtime.driver import KernelStep, Step
from ..runtime.replay import Replaying
from ..tensor.cuda import card as card_in_use
from .lanes import Lanes, launched, replayed

REPEAT, ROUNDS, CALLS = 20, 9, 10

Call = Callable[[], Any]


class Refused(Exception):
    """Why a plan of a function has no lanes."""


def watched(fn: Callable[..., Any], args: Sequence[Any], plan: str) -> tuple[Lanes, list[str]]:
    """Measure one plan. `fn` is called many times, and its kernels once more by themselves, so it
    should leave its arguments as they are. Raises Refused where a part of it runs on the host, or
    cannot be recorded; what the call raises comes as it is."""
    from .. import compile as compile_function, no_grad

    card = card_in_use()
    assert isinstance(card, SiliconCard), "the simulated card has no clock"
    with no_grad():
        compiled = compile_function(fn) if plan.startswith("compiled") else fn
        seen = steps_of(card, lambda: compiled(*args))
        kernels, stamps = device_times(card, seen.steps), seen.stamps
        if plan.endswith("replayed"):
            again = _replaying(card, fn, args, plan)
            return replayed(kernels, host_time(card, again)), seen.names
        total = host_time(card, lambda: compiled(*args))
    launches = [b - a for a, b in zip([0.0, *stamps], stamps)]
    return launched(kernels, [each * total / stamps[-1] for each in launches]), seen.names


class _Stamped(list[Any]):
    """Notes when each step was made."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.times = perf_counter(), list[float]()

    def append(self, step: Any) -> None:
        self.times.append(perf_counter() - self.begin)
        super().append(step)


@dataclass(frozen=True)
class Watched:
    """The steps of a call, when each launch was over, and the kernels' names. `kept`: memory that
    the steps write to when they are made again."""

    steps: list[Step]
    stamps: list[float]
    names: list[str]
    kept: Any


def steps_of(card: SiliconCard, call: Call) -> Watched:
    """Watch a call, after two that are not. Raises Refused."""
    for _ in range(2):
        call()
    pool = Pool(card.allocator, heir=card.allocator.common)
    launches: list[Any] = []
    with card.allocator.using(pool), cards.recording(launches, None):
        steps = _Stamped()
        with cards.recording_steps(steps):
            kept = call()
    if not steps:
        raise Refused("nothing runs on the card")
    for step in steps:
        if isinstance(step, str):
            raise Refused(step)
    named = iter(launches)
    names = [next(named).kernel if isinstance(s, KernelStep) else "matmul" for s in steps]
    return Watched(list(steps), steps.times, names, (pool, kept))


def device_times(card: SiliconCard, steps: Sequence[Step]) -> list[float]:
    """How long each runs; a kernel that is launched again over as many threads is measured once."""
    known: dict[Any, float] = {}
    found = []
    for step in steps:
        if not isinstance(step, KernelStep):
            found.append(_device(card, step))
            continue
        key = id(step.function), step.grid, step.block
        if key not in known:
            known[key] = _device(card, step)
        found.append(known[key])
    return found


def _device(card: SiliconCard, step: Step) -> float:
    replay = card.driver.replay([step] * REPEAT)
    replay.launch()
    return median(card.driver.timed(replay.launch) for _ in range(ROUNDS)) / REPEAT


def host_time(card: SiliconCard, call: Call) -> float:
    """What a call takes on the host, which does not wait for the card."""
    found = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        for _ in range(CALLS):
            call()
        found.append((perf_counter() - begin) / CALLS)
        card.synchronize()
    return median(found)


def _replaying(card: SiliconCard, fn: Callable[..., Any], args: Sequence[Any], plan: str) -> Call:
    """A call that is replayed. Raises Refused with the reason why it is not."""
    from .. import compile as compile_function, trace

    skipped: list[str] = []
    if plan == "compiled_replayed":
        compiled = compile_function(fn, mode="reduce-overhead")
        again: Call = lambda: compiled(*args)
    else:
        tensors = [a for a in args if hasattr(a, "array")]
        rest = {k: a for k, a in enumerate(args) if not hasattr(a, "array")}

        def eager(given: list[Any]) -> tuple[Any, ...]:
            found = iter(given)
            out = fn(*[rest[k] if k in rest else next(found) for k in range(len(args))])
            return tuple(out) if isinstance(out, (tuple, list)) else (out,)

        def tell(outcome: str, reason: str, steps: int) -> None:
            if outcome == "skipped":
                skipped.append(reason)

        replaying = Replaying(card, eager, tell)
        again = lambda: replaying(list(tensors))
    with trace.record() as story:
        for _ in range(5):
            again()
    skipped += [e.reason for e in story.of(trace.CudaGraph) if e.outcome == "skipped"]
    if skipped:
        raise Refused(skipped[0])
    return again
