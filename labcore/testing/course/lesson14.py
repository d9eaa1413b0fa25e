"""The exercises of lesson 14: a benchmark, two edits and the disk cache, a break-even."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...measure.costs import fresh_cache
from .result import Fact, Result, Unusable, ask, begun, checked, is_number, shown

if TYPE_CHECKING:
    import labcore as torch

SERIES = ((4, 4, 8, 4), (4, 8, 8, 16))


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
    facts: list[Fact] = []
    belief = ""
    for calls in SERIES:
        fn = Compiling()
        found = ask(answer, fn, list(calls), fn.clock)
        form = isinstance(found, (tuple, list)) and len(found) == 3
        if not form or not all(map(is_number, found)):
            raise Unusable("first, warm and variants", shown(found))
        first, warm, variants = found
        told = (
            Fact("calls made", list(calls), fn.calls),
            Fact("first call, in s", 5.0, first),
            Fact("warm call, in s", 1.0, warm),
            Fact("variants", len(set(calls)), variants),
        )
        facts += told
        if not belief and not all(fact.holds for fact in told):
            belief = _belief_of_timing(calls, fn.calls, first, warm, variants)
    return Result(tuple(facts), belief)


def _belief_of_timing(
    calls: Sequence[int], made: list[int], first: float, warm: float, variants: float
) -> str:
    if not made:
        return "Nothing was called: the times are those of fn, once for each size."
    if made != list(calls):
        return "A warm-up compiles, too, and then the first call is none: time calls as they come."
    if first < 0.1:
        return "That is another clock: this one tells its time when it is called."
    if warm == 5.0:
        return "A call with a size that is new compiles: a warm one has a size that came before."
    if warm != 1.0:
        return "One average mixes calls that compile with calls that do not."
    if variants == 1:
        return "Not only the first call compiles: look at the third one."
    if variants > len(set(calls)):
        return "Going back to a size compiles nothing: its variant is still there."
    return ""


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
                raise Unusable("a function", shown(edited))
            facts.append(Fact(f"{name}: disk cache", wanted, ask(_outcome, edited)))
    given = {_text_of(_block), _text_of(_as_in_the_lesson)}
    facts.insert(0, Fact("keeps: is edited", True, _text_of(keeps) not in given))
    belief = ""
    if not facts[0].found:
        belief = "That is block as it was: write it otherwise, so that it computes the same."
    elif facts[1].found != "hit":
        belief = "It computes something else, or its arrays have other names: another kernel."
    elif facts[2].found != "miss":
        belief = "Names of variables, comments and lines are not in the key; what is computed is."
    return Result(tuple(facts), belief)


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


# As it is handed out: read and never called, for without torch there is nobody to call.
def _as_in_the_lesson(x: Any, bias: Any) -> Any:
    return torch.relu(x + bias) * 2


def _text_of(fn: Any) -> tuple:
    code = getattr(fn, "__code__", None)
    if code is None:
        return ()
    constants = tuple(value for value in code.co_consts if value is not None)
    return code.co_code, constants, code.co_varnames, code.co_names


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
        if not is_number(found) and not isinstance(found, str):
            raise Unusable('a number of steps, or "never"', shown(found))
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
