"""The eager world beside the compiled one.

In: source text, and how to compile and call it.  Out: the first `Difference`, or None.
Invariant: what the lab hides from its users counts, too: a capture that fails inside is a
difference, even where CPython then gives the right answer.
"""

from __future__ import annotations

import contextlib
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import pytest

import labcore as torch
from labcore.capture import Break, Stop, WouldRaise, region
from labcore.capture.interpreter import Interpreter
from labcore.compiler import state
from labcore.trace import GraphBreak, Recorder, VariantAdded, record

from .worlds import Refused, World, compiled_source

CALLS = (0, 1, 2, 3, 4, 1)
# What running a graph may raise where eager raises too; anything else is the lab's own failure.
OF_GRAPHS = (ZeroDivisionError, RuntimeError, IndexError, ValueError, TypeError)
_numbers = count()


@dataclass
class Difference:
    """Where two runs can be told apart: the number of the call, and the two sides."""

    call: int
    place: str
    eager: Any
    compiled: Any

    @property
    def sort(self) -> tuple[str, str]:
        """What kind of difference it is, for shrinking."""
        inside = self.place == "inside the lab"
        return self.place[:9], self.compiled.split("(")[0] if inside else ""

    def __str__(self) -> str:
        return (
            f"call {self.call}, {self.place}\n  eager:    {self.eager!r:.900}\n"
            f"  compiled: {self.compiled!r:.900}"
        )


@dataclass
class Tally:
    """What happened to many programs; of the recorded ones, also how they were captured."""

    programs: int = 0
    calls: int = 0
    raised: int = 0
    overtime: int = 0
    refused: int = 0
    recorded: int = 0
    whole: int = 0  # without a break
    regions: int = 0
    graphs: int = 0
    breaks: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: Tally) -> Tally:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def text(self, top: int) -> str:
        """The summary, with the most frequent reasons of breaks."""
        per = max(self.recorded, 1)
        lines = [
            f"{self.programs} programs, {self.calls} calls, of which {self.raised} raised "
            f"({self.raised / max(self.calls, 1):.0%}); {self.overtime} took too long; "
            f"{self.refused} were Unsupported under fullgraph",
            f"{self.recorded} were recorded: {self.regions / per:.1f} regions and "
            f"{self.graphs / per:.1f} graphs each, {self.whole / per:.0%} without a break; "
            f"{sum(self.breaks.values()) / per:.1f} breaks each:",
            *(f"{count / per:7.1%}  {what}" for what, count in self.breaks.most_common(top)),
        ]
        return "\n".join(lines)


class Overtime(BaseException):
    """A program takes too long: nothing is learnt from it."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def late(*args: Any) -> None:
        raise Overtime

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def watching() -> Iterator[list[BaseException]]:
    """Contradictions are errors, and what failed inside the lab is listed."""
    failures: list[BaseException] = []
    failed = state.State.failed

    def listed(self: Any, error: Exception) -> Any:
        if not isinstance(error, WouldRaise):
            failures.append(error)
        return failed(self, error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "strict", True)
        patch.setattr(state.State, "failed", listed)
        yield failures


@contextlib.contextmanager
def stopping_anywhere(random: Random, often: float) -> Iterator[None]:
    """Regions end where they need not, too: before any instruction, or in an escape."""

    class Halting(Interpreter):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            if self.halt is None and random.random() < often:
                self.halt = Break("graph-break-call", reason="Just so.")
                self.halt.step = random.randint(0, 60)

    def resting(*args: Any) -> Stop:
        stop = Stop(*args)
        stop.rest |= not stop.truth_only and random.random() < often / 4
        return stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "Interpreter", Halting)
        patch.setattr(region, "Stop", resting)
        yield


def _overwrote_saved(outcome: Any) -> bool:
    return outcome[0] == "raised" and "has been modified by an inplace" in repr(outcome)


def difference(
    source: str,
    backend: str = "eager",
    tally: Tally | None = None,
    recorded: bool = False,
    fullgraph: bool = False,
) -> Difference | None:
    """Run the program's calls in both worlds. Raises Overtime."""
    tally = Tally() if tally is None else tally
    code = compiled_source(source, f"<random program {next(_numbers)}>")
    exact = backend == "eager"
    eager, compiled = (World(code, exact, looks_before=fullgraph) for _ in range(2))
    function = torch.compile(compiled.scope["f"], backend=backend, fullgraph=fullgraph)
    tally.programs += 1
    with watching() as failures, record() if recorded else contextlib.nullcontext() as trace:
        for number, which in enumerate(CALLS):
            with limited(3):
                one = eager.call(eager.scope["f"], which)
            failures.clear()
            try:
                with limited(60):
                    other = compiled.call(function, which)
            except Refused as refused:
                tally.refused += 1
                if refused.untouched:
                    return None
                return Difference(number, "Unsupported", "nothing is run", "something was")
            tally.calls += 1
            tally.raised += one["outcome"][0] == "raised"
            for error in failures:
                if not isinstance(error, OF_GRAPHS) or one["outcome"][0] == "returned":
                    return Difference(number, "inside the lab", "no error", repr(error))
            if one != other:
                if _overwrote_saved(one["outcome"]) and other["outcome"][0] == "returned":
                    return None  # a graph of pure operators has its gradient; the worlds part here
                return Difference(number, *first_difference(one, other))
    if trace is not None:
        _count(trace, tally)
    return None


def _count(trace: Recorder, tally: Tally) -> None:
    breaks, variants = trace.of(GraphBreak), trace.of(VariantAdded)
    tally.recorded += 1
    tally.whole += not breaks
    tally.breaks.update(f"{b.break_id}: {b.what}" for b in breaks)
    tally.regions += len(variants)
    tally.graphs += sum(v.result == "graph" for v in variants)


def first_difference(one: Any, other: Any, path: str = "") -> tuple[str, Any, Any]:
    """The innermost place where two descriptions differ."""
    if type(one) is type(other) and isinstance(one, dict) and list(one) == list(other):
        pairs = [(f"{path}.{key}", one[key], other[key]) for key in one]
    elif type(one) is type(other) and isinstance(one, (list, tuple)) and len(one) == len(other):
        pairs = [(f"{path}[{n}]", a, b) for n, (a, b) in enumerate(zip(one, other))]
    else:
        return path, one, other
    for place, a, b in pairs:
        if a != b:
            return first_difference(a, b, place)
    return path, one, other

