"""The exercises of lesson 00: three passes, a lazy wrapper, the same answer."""
from __future__ import annotations

from typing import Any

from .memory import CountingList, Memory
from .result import Fact, Result, Unusable, ask, checked, kind_of, numbers, shown

CASES = (
    ((-2.0, -1.0, 1.0, 2.0), (1.0, 1.0, 1.0, 1.0)),
    ((3.0, -5.0, 0.5), (1.0, 2.0, -1.0)),
)


@checked
def three_passes(fn: Any) -> Result:
    """Exercise 1: `fn(memory, x, bias)` computes block in three loops; 3 arrays, 7N accesses."""
    facts: list[Fact] = []
    belief = ""
    for x, bias in CASES:
        memory, n = Memory(), len(x)
        y = ask(fn, memory, memory.array(x), memory.array(bias))
        if not isinstance(y, CountingList):
            raise Unusable("an array from memory.new", kind_of(y))
        belief = belief or _belief_of_passes(memory, n)
        facts += [
            Fact(f"values, N={n}", [max(a + b, 0.0) * 2 for a, b in zip(x, bias)], y.values),
            Fact(f"arrays, N={n}", 3, memory.arrays),
            Fact(f"accesses, N={n}", 7 * n, memory.accesses),
        ]
    return Result(tuple(facts), belief)


def _belief_of_passes(memory: Memory, n: int) -> str:
    if memory.accesses == 3 * n:
        return "You fused: one loop, one array. That is the other plan, and it comes later."
    if memory.arrays < 3 and memory.accesses == 7 * n:
        return "You wrote over an array: eager makes a new one for each result."
    if memory.arrays == 3 and memory.accesses > 7 * n:
        return "An element is read more often than it is needed: keep it in a variable."
    return ""


LAZY_BELIEFS = {
    (1, 1, 1): "Wrapping compiles nothing: there are no inputs yet to specialise on.",
    (0, 1, 2): "The second call found the first call's variant: nothing was captured again.",
    (0, 0, 0): "The original function was called: wrapping leaves it as it was.",
}


@checked
def lazy(counts: Any) -> Result:
    """Exercise 2: `counts()` returns the backend's visits after wrapping, call 1 and call 2."""
    found = numbers(ask(counts), 3)
    return Result((Fact("captures", (0, 1, 1), found),), LAZY_BELIEFS.get(found, ""))


REFERENCE = [0.1 * k for k in range(1, 5)]


def _off(by: float) -> list[float]:
    return [value * (1 + by) for value in REFERENCE]


# what is judged: (the compiled result, eager's), and should it pass?
PROBES = {
    "eager's own result": (_off(6e-8), _off(6e-8), True),
    "the same sum in another order": (_off(-6e-8), _off(6e-8), True),
    "an exact result where eager is off": (_off(0.0), _off(1e-3), True),
    "three times eager's error": (_off(1.8e-7), _off(6e-8), False),
    "a last element never computed": ([*_off(6e-8)[:-1], 0.0], _off(6e-8), False),
}


@checked
def same(judge: Any) -> Result:
    """Exercise 3: `judge(got, eager, ref64)`: is a compiled result as good as eager's?

    All three are lists of floats, `ref64` computed in float64; good is an error of at most twice
    eager's own.
    """
    verdicts = {}
    for name, (got, eager, _) in PROBES.items():
        verdict = ask(judge, list(got), list(eager), list(REFERENCE))
        if not isinstance(verdict, bool):
            raise Unusable("True or False", shown(verdict))
        verdicts[name] = verdict
    facts = [
        Fact(f"{'accepts' if good else 'rejects'} {name}", good, verdicts[name])
        for name, (_, _, good) in PROBES.items()
    ]
    return Result(tuple(facts), _belief_of_judge(list(verdicts.values())))


def _belief_of_judge(verdicts: list[bool]) -> str:
    own, reordered, exact, thrice, dropped = verdicts
    if not own:
        return "Not even eager passes: measure both errors against ref64."
    if not reordered:
        return "Equal bits are more than eager promises: ask float64 which one is nearer."
    if not exact:
        return "Eager is no authority: here it is the one that is off."
    if dropped:
        return "A tolerance that forgives everything checks nothing."
    return "A fixed tolerance knows nothing of eager's own error." if thrice else ""
