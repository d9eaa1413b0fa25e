"""The exercises of lesson 14: a benchmark, two edits and the disk cache, a break-even."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...measure.costs import fresh_cache
from .result import Fact, Result, Unusable, ask, begun, checked, is_number

CALLS = (4, 4, 8, 4)


class Compiling:
    """A function and its clock, for exercise 1: a size that is new takes 5 s, a known one 1 s."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[int] = []

    def __call__(self, size: int) -> int:
        self.now += 1.0 if size in self.calls else 5.0
        self.calls.append(size)
        return size

    def clock(self) -> float:
        return self.now


@checked
def bench(answer: Any) -> Result:
    """Exercise 1: `bench(fn, calls, clock)` gives (first, warm, variants)."""
    fn = Compiling()
    found = ask(answer, fn, list(CALLS), fn.clock)
    if not isinstance(found, (tuple, list)) or len(found) != 3 or not all(map(is_number, found)):
        raise Unusable("first, warm and variants", repr(found))
    first, warm, variants = found
    facts = (
        Fact("first call, in s", 5.0, first),
        Fact("warm call, in s", 1.0, warm),
        Fact("variants", 2, variants),
        Fact("calls made", list(CALLS), fn.calls),
    )
    belief = ""
    if fn.calls[: len(CALLS)] != list(CALLS):
        belief = "A warm-up with another size compiles another variant: time calls as they come."
    elif warm not in (1.0, 5.0):
        belief = "One average mixes calls that compile with calls that do not."
    elif variants == 1:
        belief = "Not only the first call compiles: look at the third one."
    elif variants == 3:
        belief = "Going back to a size compiles nothing: its variant is still there."
    return Result(facts, belief)


@checked
def edits(keeps: Any, misses: Any) -> Result:
    """Exercise 2: two functions of (x, bias), each `block` with an edit. The kernel of the first is
    found on disk, that of the second is not."""
    facts = []
    with fresh_cache():
        _outcome(_block)
        for name, wanted, edited in (("keeps", "hit", keeps), ("misses", "miss", misses)):
            begun(edited)
            if not callable(edited):
                raise Unusable("a function", repr(edited))
            facts.append(Fact(f"{name}: disk cache", wanted, ask(_outcome, edited)))
    facts.insert(0, Fact("keeps: is edited", True, _text_of(keeps) != _text_of(_block)))
    belief = ""
    if facts[1].found != "hit":
        belief = "It computes something else, or its arrays have other names: another kernel."
    elif facts[2].found != "miss":
        belief = "Names of variables, comments and lines are not in the key; what is computed is."
    return Result(tuple(facts), belief)


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


def _text_of(fn: Any) -> tuple:
    code = getattr(fn, "__code__", None)
    return () if code is None else (code.co_code, code.co_consts, code.co_varnames, code.co_names)


def _outcome(fn: Callable[..., Any]) -> str:
    """What the disk cache says of the kernels of a first call."""
    from ... import compile as compile_function, inference_mode, ones, trace

    with trace.record() as story, inference_mode():
        compile_function(fn)(ones(4), ones(4))
    found = {event.outcome for event in story.of(trace.DiskCache)} - {"evicted"}
    return " and ".join(sorted(found)) or "no kernel"


@checked
def break_even(answer: Any) -> Result:
    """Exercise 3: `break_even(compiling, eager, compiled)` gives steps, or "never"."""
    cases = (
        ("12 s, 100 ms, 70 ms", (12, 0.1, 0.07), 400),
        ("6 s, 72 ms, 70 ms", (6, 0.072, 0.07), 3000),
        ("12 s, 70 ms, 70 ms", (12, 0.07, 0.07), "never"),
        ("12 s, 70 ms, 100 ms", (12, 0.07, 0.1), "never"),
    )
    facts = []
    for name, times, steps in cases:
        found = ask(answer, *times)
        near = is_number(found) and is_number(steps)
        facts.append(Fact(name, steps, found, tolerance=1e-2 if near else 1e-6))
    belief = ""
    if facts[0].found == 120:
        belief = "12 / 0.1 is how many eager steps it lasts; what comes in is the difference."
    elif is_number(facts[3].found) and facts[3].found < 0:
        belief = "A negative number of steps is no answer: a slower step never pays."
    elif facts[2].found != "never" or facts[3].found != "never":
        belief = "Where a compiled step is not faster, nothing ever comes in."
    return Result(tuple(facts), belief)
