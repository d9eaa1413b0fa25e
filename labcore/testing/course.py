"""The checks of the lessons' exercises.

In: what a student wrote, as a value handed over (a check never looks up a name of theirs).  Out:
text: every fact as
*expected, found*, then "public checks passed" or the belief that most likely made the difference.
Invariant: a check runs the student's code on several inputs and compares facts and values, never
source text. An exercise that is not begun (it still returns `...`) is said to be so and is no
error, so a fresh notebook runs from top to bottom.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

X = (-2.0, -1.0, 1.0, 2.0)
BIAS = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Fact:
    """One thing a check looked at."""

    name: str
    expected: Any
    found: Any

    @property
    def holds(self) -> bool:
        return self.expected == self.found

    def __str__(self) -> str:
        mark = "ok " if self.holds else "NO "
        return f"{mark} {self.name}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Result:
    """The outcome of a check; `passed` is for programs, the text for people."""

    facts: tuple[Fact, ...]
    belief: str = ""

    @property
    def passed(self) -> bool:
        return bool(self.facts) and all(fact.holds for fact in self.facts)

    def __repr__(self) -> str:
        if not self.facts:
            return "Not begun: replace the ... in the cell above and run both cells again."
        end = (
            "Public checks passed."
            if self.passed
            else self.belief or "Not yet: see the facts above."
        )
        return "\n".join([*map(str, self.facts), end])


NOT_BEGUN = Result(())


class Memory:
    """Arrays that count: `array(values)` gives a list whose every `a[i]` is a read and `a[i] = v` a
    write.
    """

    def __init__(self) -> None:
        self.reads = self.writes = self.arrays = 0

    def array(self, values: Sequence[float]) -> CountingList:
        return CountingList(self, list(values))

    def new(self, length: int) -> CountingList:
        """An empty array, counted as one that had to be written."""
        self.arrays += 1
        return self.array([math.nan] * length)

    @property
    def accesses(self) -> int:
        return self.reads + self.writes


class CountingList:
    """A fixed-length list of numbers that reports each access of an element to its `Memory`."""

    def __init__(self, memory: Memory, values: list[float]) -> None:
        self._memory, self._values = memory, values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> float:
        self._memory.reads += 1
        return self._values[index]

    def __setitem__(self, index: int, value: float) -> None:
        self._memory.writes += 1
        self._values[index] = value

    def __repr__(self) -> str:
        return repr(self._values)


def three_passes(fn: Callable[[Memory, CountingList, CountingList], Any]) -> Result:
    """Exercise 1: `fn(memory, x, bias)` computes block in three loops; 3 arrays and 7N accesses."""
    facts, counts = [], None
    for x, bias in ((X, BIAS), ((3.0, -5.0, 0.5), (1.0, 2.0, -1.0))):
        memory = Memory()
        y = fn(memory, memory.array(x), memory.array(bias))
        if y is ...:
            return NOT_BEGUN
        n, counts = len(x), (memory.arrays, memory.accesses)
        values = list(getattr(y, "_values", y))
        facts += [
            Fact(f"values for N={n}", [max(a + b, 0.0) * 2 for a, b in zip(x, bias)], values),
            Fact(f"arrays for N={n}", 3, counts[0]),
            Fact(f"accesses for N={n}", 7 * n, counts[1]),
        ]
    belief = (
        "You fused: one loop, one array. That is the other plan, and it comes later."
        if counts == (1, 9)
        else ""
    )
    return Result(tuple(facts), belief)


LAZY_BELIEFS = {
    (1, 1, 1): "Wrapping compiles nothing: there are no inputs yet to specialise on.",
    (0, 1, 2): "The second call found the first call's variant: nothing was captured again.",
    (
        0,
        0,
        0,
    ): "The original function was called, not the wrapped one: wrapping leaves it as it was.",
}


def lazy(counts: Callable[[], Any]) -> Result:
    """Exercise 2: `counts()` returns the backend's visits after wrapping, after call 1 and after
    call 2.
    """
    found = counts()
    if found is ...:
        return NOT_BEGUN
    return Result((Fact("captures", [0, 1, 1], list(found)),), LAZY_BELIEFS.get(tuple(found), ""))


def same(judge: Callable[[Any, Any, Any], Any]) -> Result:
    """Exercise 3: `judge(got, eager, ref64)` says whether a compiled result is as good as eager's.

    All three are lists of floats, `ref64` computed in float64. It has to accept a sum in another
    order and to reject a result whose last element was never computed.
    """
    reference = [0.1 * k for k in range(1, 5)]
    eager = [v * (1 + 6e-8) for v in reference]
    reordered = [v * (1 - 6e-8) for v in reference]
    dropped = [*eager[:-1], 0.0]
    answers = [judge(got, eager, reference) for got in (eager, reordered, dropped)]
    if ... in answers:
        return NOT_BEGUN
    facts = (
        Fact("accepts eager's own result", True, bool(answers[0])),
        Fact("accepts another order of the same sum", True, bool(answers[1])),
        Fact("rejects a dropped last element", False, bool(answers[2])),
    )
    belief = ""
    if not answers[1]:
        belief = "Equal bits are more than eager promises: ask float64 which one is nearer."
    elif answers[2]:
        belief = "A tolerance that forgives everything checks nothing."
    return Result(facts, belief)


def formulas(costs: Callable[[int], Any]) -> Result:
    """Exercise 01.1: `costs(n)` gives ((eager, fused), (eager, fused)) accesses of `both` and
    `kept`.

    The expected numbers are the compiler's own ledger for these functions at that n.
    """
    facts, swapped = [], False
    for n in (1, 4, 7):
        found = costs(n)
        if found is ...:
            return NOT_BEGUN
        for name, fn, pair in zip(("both", "kept"), (_both, _kept), found):
            expected = _ledger(fn, n)
            facts.append(Fact(f"{name} at N={n}", expected, tuple(pair)))
            swapped |= name == "kept" and tuple(pair) == (7 * n, 3 * n)
    belief = "A result that is handed out has to be stored, fused or not." if swapped else ""
    return Result(tuple(facts), belief)


def _both(x: Any, bias: Any) -> Any:
    return x + 1, x * 2


def _kept(x: Any, bias: Any) -> Any:
    clipped = (x + bias).relu()
    return clipped * 2, clipped


def _ledger(fn: Callable[..., Any], n: int) -> tuple[int, int]:
    """(separate, fused) accesses as the compiler counts them for n elements."""
    from .. import compile as compile_function, inference_mode, ones, trace
    with trace.record() as recorder, inference_mode():
        compile_function(fn, fullgraph=True)(ones(n), ones(n))
    (ledger,) = recorder.of(trace.Accesses)
    return ledger.separate, ledger.fused


class FakeClock:
    """A clock for exercise 01.2: times three passes at 8 s and one pass at 4 s, and counts how
    often it is asked.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, plan: str, n: int) -> float:
        self.asked.append(plan)
        return {"three passes": 8.0, "one pass": 4.0}[plan]


def report(fn: Callable[[int, FakeClock], Any]) -> Result:
    """Exercise 01.2: `fn(n, clock)` returns (accesses ratio, speed-up), the second one measured."""
    clock = FakeClock()
    found = fn(4, clock)
    if found is ...:
        return NOT_BEGUN
    ratio, speedup = found
    facts = (
        Fact("ratio of accesses", round(7 / 3, 3), round(ratio, 3)),
        Fact("speed-up on this clock", 2.0, round(speedup, 3)),
        Fact("plans timed", ["one pass", "three passes"], sorted(set(clock.asked))),
    )
    counted = abs(speedup - 7 / 3) < 1e-3
    return Result(
        facts,
        "You divided counts: that is the first number, and no clock was asked." if counted else "",
    )


def launch_cost(answer: Any) -> Result:
    """Exercise 01.3: the launch cost in microseconds at which (80 + 10 L) / (70 + 2 L) is 3, and
    the limit for large L.
    """
    if answer is ...:
        return NOT_BEGUN
    cost, limit = answer
    belief = ""
    if cost == 15:
        belief = "Three times 5 µs scales the launches only: solve 80 + 10 L = 3 (70 + 2 L)."
    return Result((Fact("L in µs", 32.5, cost), Fact("limit", 5, limit)), belief)
