"""The exercises of lesson 01: formulas, a report, a launch cost."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .result import Fact, Result, Unusable, ask, begun, checked, numbers, shown


@checked
def formulas(costs: Any) -> Result:
    """Exercise 1: `costs(n)` gives ((eager, fused), (eager, fused)) accesses of `both` and `kept`.

    What is expected is the compiler's own ledger for these functions at that n.
    """
    facts: list[Fact] = []
    forgot_the_store = False
    for n in (1, 4, 7):
        pairs = ask(costs, n)
        if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
            raise Unusable("two pairs, (eager, fused) each", shown(pairs))
        for name, fn, pair in zip(("both", "kept"), (_both, _kept), pairs):
            found = numbers(begun(pair), 2)
            facts.append(Fact(f"{name}, N={n}", _ledger(fn, n), found))
            forgot_the_store |= name == "kept" and found == (7 * n, 3 * n)
    belief = "A result that is handed out has to be stored, fused or not."
    return Result(tuple(facts), belief if forgot_the_store else "")


def _both(x: Any, bias: Any) -> Any:
    return x + 1, x * 2


def _kept(x: Any, bias: Any) -> Any:
    clipped = (x + bias).relu()
    return clipped * 2, clipped


def _ledger(fn: Callable[..., Any], n: int) -> tuple[int, int]:
    """(separate, fused) accesses as the compiler counts them for n elements."""
    from ... import compile as compile_function, inference_mode, ones, trace

    with trace.record() as recorder, inference_mode():
        compile_function(fn, fullgraph=True)(ones(n), ones(n))
    (ledger,) = recorder.of(trace.Accesses)
    return ledger.separate, ledger.fused


class FakeClock:
    """A clock for exercise 2: three passes take 8 s, one pass takes 4 s; it keeps who asked."""

    SECONDS = {"three passes": 8.0, "one pass": 4.0}

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, plan: str, n: int) -> float:
        if plan not in self.SECONDS:
            raise ValueError(f"the clock times 'three passes' and 'one pass', not {plan!r}")
        self.asked.append(plan)
        return self.SECONDS[plan]


@checked
def report(fn: Any) -> Result:
    """Exercise 2: `fn(n, clock)` returns (ratio of accesses, speed-up), the second one measured."""
    clock = FakeClock()
    ratio, speedup = numbers(ask(fn, 4, clock), 2)
    facts = (
        Fact("ratio of accesses", round(7 / 3, 3), ratio, tolerance=2e-3),
        Fact("speed-up on this clock", 2.0, speedup),
        Fact("plans timed", ["one pass", "three passes"], sorted(set(clock.asked))),
    )
    belief = ""
    if abs(speedup - 7 / 3) < 1e-2:
        belief = "You divided counts: that is the first number, and it needs no clock."
    elif speedup == 0.5:
        belief = "Upside down: a speed-up is the old time over the new one."
    return Result(facts, belief)


@checked
def launch_cost(answer: Any) -> Result:
    """Exercise 3: the launch cost in µs at which (80 + 10 L) / (70 + 2 L) is 3, and the limit of
    that speed-up when launches cost ever more.
    """
    cost, limit = numbers(begun(answer), 2)
    belief = ""
    if cost == 15:
        belief = "Three times 5 µs scales the launches only: solve 80 + 10 L = 3 (70 + 2 L)."
    return Result((Fact("L in µs", 32.5, cost), Fact("limit", 5, limit)), belief)
