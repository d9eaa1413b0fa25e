"""The exercises of lesson 04: three policies, all variants of a branch, a mark, three buckets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

from .facts import Seen, seen
from .result import Fact, Result, Unusable, ask, begun, checked, is_number, shown

MODES = {"static": False, "automatic": None, "dynamic": True}
RULES = {
    "static": "Static: each size that is new makes a variant, and it stays.",
    "automatic": "Automatic: a number first; the first size that differs makes a symbol, for good.",
    "dynamic": "Dynamic: the first variant has the symbol, and it serves every size from 2 up.",
}
SERIES = ((4, 8, 16, 32), (4, 4, 8, 4), (4, 8, 4, 8))
STORM = range(2, 14)
LENGTHS = (100, 120, 200, 90, 256, 300)


def _doubled(x: Any) -> Any:
    return x * 2


def _by_size(x: Any) -> Any:
    return x * 2 if x.shape[0] > 10 else x + 1


def _calls(sizes: Any) -> list[tuple[Any]]:
    from ... import ones

    return [(ones(n),) for n in sizes]


def _integers(answer: Any, form: str) -> list[int]:
    if not isinstance(begun(answer), (list, tuple)) or not all(type(n) is int for n in answer):
        raise Unusable(form, shown(answer))
    return list(answer)


def _count(answer: Any) -> int:
    if not is_number(answer):
        raise Unusable("a number of variants", shown(answer))
    return int(answer)


@checked
def policies(fn: Any) -> Result:
    """Exercise 1: `fn(mode, sizes)` is how many variants these calls leave; sizes are >= 2."""
    facts, found = [], {}
    for mode, dynamic in MODES.items():
        found[mode] = [_count(ask(fn, mode, list(sizes))) for sizes in SERIES]
        told = [seen(_doubled, *_calls(s), backend="eager", dynamic=dynamic) for s in SERIES]
        facts.append(Fact(f"{mode}, three series", [t.captures[-1] for t in told], found[mode]))
    wrong = [mode for mode, fact in zip(MODES, facts) if not fact.holds]
    belief = RULES[wrong[0]] if wrong else ""
    if "automatic" in wrong and found["automatic"] == [len(set(sizes)) for sizes in SERIES]:
        belief = "Automatic counts sizes only until one changes: the second variant has a symbol."
    elif "automatic" in wrong and found["automatic"] == found["dynamic"]:
        belief = "Automatic cannot know at the first call what will change at the second."
    elif "static" in wrong and found["static"] == [len(sizes) for sizes in SERIES]:
        belief = "A size that comes back finds its variant: they are all kept."
    return Result(tuple(facts), belief)


@checked
def all_variants(sizes: Any) -> Result:
    """Exercise 2: the shortest series of sizes that makes all variants, under dynamic=True."""
    series = _integers(sizes, "a list of sizes")
    if not series or min(series) < 0:
        raise Unusable("a list of sizes", shown(series))
    told = seen(_by_size, *_calls(series), backend="eager", dynamic=True)
    facts = (
        Fact("variants", 4, told.captures[-1]),
        Fact("calls", 4, len(series)),
    )
    belief = ""
    if told.captures[-1] < 4 and not {0, 1} <= set(series):
        belief = "A symbol stands for 2 and more: what about the sizes below?"
    elif told.captures[-1] < 4:
        belief = "Sizes on both sides of the branch: up to 10, and above."
    elif len(series) > 4:
        belief = "All of them, and some calls found a variant that was there: leave those out."
    return Result(facts, belief)


@checked
def marked(fn: Any) -> Result:
    """Exercise 3: `fn(n)` is a tensor of n ones that a static compile keeps one variant for."""
    inputs = [ask(fn, n) for n in STORM]
    for x in inputs:
        if getattr(x, "ndim", None) != 1:
            raise Unusable("a tensor of n ones", shown(x))
    told = _storm(inputs)
    facts = (
        Fact("lengths", list(STORM), [len(x) for x in inputs]),
        Fact("captures in 12 calls", 1, told.captures[-1]),
    )
    belief = ""
    if len({len(x) for x in inputs}) < len(STORM):
        belief = "Other lengths are other inputs: a mark leaves them as they are."
    elif told.captures[-1] == 8:
        belief = "Nothing was said of these tensors: 8 variants, and the rest ran eagerly."
    elif told.captures[-1] > 1:
        belief = "Some of these tensors were handed over without a mark: say it of each one."
    return Result(facts, belief)


def _storm(inputs: list[Any]) -> Seen:
    """Calls of a function that somebody else compiled, for each size by itself."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the limit, which the facts tell
        return seen(_doubled, *((x,) for x in inputs), backend="eager", dynamic=False)


@checked
def buckets(sizes: Any) -> Result:
    """Exercise 4: three buckets for LENGTHS with the least padding."""
    chosen = _integers(sizes, "a list of bucket sizes")
    least = min(filter(None, map(_padding, combinations(sorted(LENGTHS), 3))))
    found = _padding(chosen)
    facts = (
        Fact("buckets", 3, len(set(chosen))),
        Fact("every length has a bucket", True, found is not None),
        Fact("padded elements", least, found),
    )
    belief = ""
    if found is None:
        belief = f"{max(LENGTHS)} has to fit as well: the largest bucket is no smaller."
    elif len(set(chosen)) != 3:
        belief = "Three buckets: more of them pad less, and each is a variant to compile."
    elif found == 342:
        belief = "Powers of two know nothing of your lengths: begin at the largest that occurs."
    elif found > least and set(chosen) <= set(LENGTHS):
        belief = "Lengths that occur, but others pad less: count what each makes the rest pad."
    elif found > least:
        belief = "A bucket between two lengths pads both: let each be a length that occurs."
    return Result(facts, belief)


def _padding(sizes: Any) -> int | None:
    """What the lab's own helper pads for LENGTHS; None where one of them fits no bucket."""
    from ...compiler import bucketed

    if not sizes or min(sizes) < 1 or max(sizes) < max(LENGTHS):
        return None
    fn: Callable[..., Any] = bucketed(_doubled, sizes=sizes, pad={"x": 0.0}, backend="eager")
    for (x,) in _calls(LENGTHS):
        fn(x)
    padded: int = fn.costs().padding  # type: ignore[attr-defined]
    return padded
