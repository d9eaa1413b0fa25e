"""The exercises of lesson 05: one region, two events, no branch, one report, a bill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .facts import seen
from .result import Fact, Result, Unusable, ask, checked, is_number, shown

ROWS = ((-2.0, -1.0, 1.0, 2.0), (-3.0, -3.0, -3.0, -3.0), (1.0, 1.0, 1.0, 1.0))


def _inputs() -> list[Any]:
    from ... import tensor

    return [tensor(list(row)) for row in ROWS]


def _observer(seen_values: list[Any]) -> Callable[[Any], Any]:
    """A disabled function that notes what it is given, and gives it back."""
    from ... import Tensor
    from ...compiler import disable

    def observe(value: Any) -> Any:
        seen_values.append(value.tolist() if isinstance(value, Tensor) else value)
        return value

    return disable(observe)


@checked
def one_region(fn: Any) -> Result:
    """Exercise 1: `fn(x, watch)` is island's value, `watch` sees 3x, and one region is left."""
    saw: list[Any] = []
    watch = _observer(saw)
    told = seen(fn, *((x, watch) for x in _inputs()))
    tripled = [[3 * v for v in row] for row in ROWS]
    facts = (
        Fact("values", [[max(v + 1, 0.0) for v in row] for row in tripled], told.lists()),
        Fact("what watch saw", tripled, saw),
        Fact("regions", 1, told.regions),
    )
    belief = ""
    if not saw:
        belief = "Without watch there is one region, and nobody watches: move it, keep it."
    elif told.regions == 2:
        belief = "Two regions: something is still computed on each side of watch."
    elif saw != tripled:
        belief = "watch saw another value: it wants y, wherever it is called."
    return Result(facts, belief)


@checked
def two_events(breaks: Any, misses: Any) -> Result:
    """Exercise 2: `breaks(x)` breaks and captures once, `misses(x)` captures for each size."""
    from ... import ones

    first = seen(breaks, *[(ones(4),)] * 3, dynamic=False)
    second = seen(misses, *((ones(n),) for n in (4, 8, 16)), dynamic=False)
    facts = (
        Fact("the first has a place that breaks", True, first.places >= 1),
        Fact("the first captures", True, first.regions >= 1),
        Fact("its captures stay", [first.regions] * 3, list(first.captures)),
        Fact("places where the second breaks", 0, second.places),
        Fact("its captures", (1, 2, 3), second.captures),
    )
    belief = ""
    if breaks is misses:
        belief = "One function cannot be both: with a break it breaks for every size."
    elif not first.regions:
        belief = "The first computes nothing with tensors, so there is nothing to capture."
    elif second.places:
        belief = "The second breaks too: it should only meet sizes it does not know."
    return Result(facts, belief)


@checked
def no_branch(fn: Any) -> Result:
    """Exercise 3: `fn(x)` is either(x) for sums of both signs, in one region without a break."""
    told = seen(fn, *((x,) for x in _inputs()), backend="eager")
    expected = [_either(row) for row in ROWS]
    found = told.lists()
    facts = (
        Fact("values", expected, found),
        Fact("places that break", 0, told.places),
        Fact("regions", 1, told.regions),
    )
    belief = ""
    if told.places:
        belief = "A number is still asked for: leave the condition a tensor."
    elif found == [[2 * (v + 1) if v + 1 > 0 else v for v in row] for row in ROWS]:
        belief = "That asks each element for its own sign; either asks once, for the sum."
    return Result(facts, belief)


def _either(row: tuple[float, ...]) -> list[float]:
    h = [v + 1 for v in row]
    return [v * 2 for v in h] if sum(h) > 0 else [v - 1 for v in h]


@checked
def gathered(fn: Any) -> Result:
    """Exercise 4: `fn(x, report)` is chatty's value, and `report` gets its four words at once."""
    reports: list[Any] = []
    report = _observer(reports)
    told = seen(fn, *((x, report) for x in _inputs()))
    words = ["shifted", "scaled", "clipped", "centred"]
    facts = (
        Fact("values", [[(max((v + 1) * 2, 0.0) - 3) / 2 for v in r] for r in ROWS], told.lists()),
        Fact("reports in three calls", [words] * 3, reports),
        Fact("regions", 1, told.regions),
    )
    belief = ""
    if not reports:
        belief = "Nothing was reported: the words are part of what the function does."
    elif len(reports) > len(ROWS):
        belief = "Each call of report is a crossing: gather the words, hand them over once."
    elif told.regions > 1:
        belief = "Operations still stand on both sides of the report: let it be last."
    return Result(facts, belief)


@checked
def bill(fn: Any) -> Result:
    """Exercise 5: `fn(recorder, us)` is what the crossings of a trace cost, `us` each."""
    facts, belief = [], ""
    for layers in (4, 1):
        told = seen(_layered(), (_inputs()[0], layers))
        met = told.met
        (found,) = _one_number(ask(fn, told.trace, 20))
        many = "s" if layers > 1 else ""
        facts.append(Fact(f"{layers} layer{many}, {met} crossings, in µs", 20 * met, found))
        if layers == 4 and found == 20 * told.places:
            belief = "You counted places in the source; a call pays whenever it meets one."
        elif found == met:
            belief = "That is how often a break was met: each costs its microseconds."
    return Result(tuple(facts), belief)


def _one_number(answer: Any) -> tuple[float]:
    if not is_number(answer):
        raise Unusable("a number of µs", shown(answer))
    return (answer,)


def _layered() -> Callable[[Any, int], Any]:
    """A loop over layers with two places inside at which it breaks."""
    from ...compiler import disable

    @disable
    def note(value: Any) -> None:
        pass

    def layers(x: Any, count: int) -> Any:
        for _ in range(count):
            h = x * 0.5
            note(h)
            h = h.relu()
            note(h)
            x = x + h
        return x

    return layers
