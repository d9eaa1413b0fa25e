"""The exercises of lesson 06: two meta rules, a pure function, a decomposition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .facts import seen
from .operators import Noted
from .result import Fact, Result, Unusable, ask, checked, kind_of, shown

# ---- shapes without data ------------------------------------------------------------------------

DRAWS = 20
Shape = tuple[int, ...]


@checked
def meta_rules(outer: Any, cat: Any) -> Result:
    """Exercise 1: `outer(x, y)` and `cat(x, y, dim)` are the shapes of torch's results; cat raises
    where x and y do not fit. Nothing is read."""
    from ... import cat as torch_cat, ones, outer as torch_outer

    draw = Random(6)
    vectors = [((draw.randint(1, 9),), (draw.randint(1, 9),)) for _ in range(DRAWS)]
    pairs = [_joinable(draw) for _ in range(DRAWS)]
    first = _judged("outer", outer, torch_outer, vectors)
    second = _judged("cat", cat, lambda x, y, dim: torch_cat([x, y], dim), pairs)
    with Noted() as noted:
        refuses = _raised(cat, ones(2, 3), ones(2, 4), 0)
    reads = first.reads + second.reads + noted.reads
    facts = (
        *first.facts,
        *second.facts,
        Fact("cat of (2, 3) and (2, 4) along 0 raises", "ValueError", refuses),
        Fact("elements read", 0, reads),
    )
    return Result(facts, _belief_of_rules(first, second, refuses, reads))


@dataclass
class _Judged:
    """A rule's answers for some shapes: how many were right, and for each wrong one its dim, what
    was expected and what was found."""

    name: str
    right: int = 0
    reads: int = 0
    wrong: list[tuple[str, int, Shape, Shape]] = field(default_factory=list)

    @property
    def facts(self) -> list[Fact]:
        """One for all shapes, and one for the first that went wrong."""
        told = [Fact(f"{self.name}, right for random shapes", DRAWS, self.right)]
        return told + [Fact(case, expected, found) for case, _, expected, found in self.wrong[:1]]


def _judged(name: str, rule: Any, operator: Callable[..., Any], drawn: Iterable[Any]) -> _Judged:
    from ... import ones

    judged = _Judged(name)
    for a, b, *dim in drawn:
        x, y = ones(*a), ones(*b)
        with Noted() as noted:
            found = _shape(ask(rule, x, y, *dim))
        judged.reads += noted.reads
        expected = tuple(operator(x, y, *dim).shape)
        judged.right += found == expected
        if found != expected:
            along = f" along {dim[0]}" if dim else ""
            case = f"{name} of {a} and {b}{along}"
            judged.wrong.append((case, *(dim or [0]), expected, found))
    return judged


def _joinable(draw: Random) -> tuple[Shape, Shape, int]:
    """Two shapes that differ along one dim at most, and that dim, counted from either end."""
    rank = draw.randint(1, 3)
    a = [draw.randint(1, 5) for _ in range(rank)]
    dim = draw.randrange(rank)
    b = [draw.randint(1, 5) if axis == dim else size for axis, size in enumerate(a)]
    return tuple(a), tuple(b), draw.choice((dim, dim - rank))


def _shape(answer: Any) -> Shape:
    try:
        shape = tuple(answer)
    except TypeError:
        raise Unusable("a shape", shown(answer)) from None
    if not all(type(size) is int for size in shape):
        raise Unusable("a shape", shown(answer))
    return shape


def _raised(rule: Any, *args: Any) -> str:
    """The name of what it raises."""
    try:
        rule(*args)
    except Exception as error:
        return type(error).__name__
    return "nothing"


def _belief_of_rules(outer: _Judged, cat: _Judged, refuses: str, reads: int) -> str:
    if reads:
        return "A rule reads shapes and no elements: while capturing there are none."
    if outer.wrong and all(found == expected[::-1] for _, _, expected, found in outer.wrong):
        return "outer is turned round: the first vector gives the rows."
    if cat.wrong and all(dim < 0 for _, dim, _, _ in cat.wrong):
        return "Right for a dim from 0 on: one below 0 counts from the end."
    if cat.wrong:
        return "cat adds the sizes along dim; all others are those of x."
    if refuses == "nothing":
        return "What a rule lets pass, a kernel meets later: sizes beside dim have to be equal."
    if refuses != "ValueError":
        return "Refused by an error of another kind: say it on purpose, with a ValueError."
    return ""


# ---- no mutation inside -------------------------------------------------------------------------


@checked
def pure(fn: Any) -> Result:
    """Exercise 2: `fn(x)` is x with its first row tripled; nothing is written in place."""
    facts, belief = [], ""
    for rows in ([[1.0, 2.0], [3.0, 4.0]], [[5.0, -6.0, 7.0], [8.0, 9.0, -1.0]]):
        first, second = ([3 * value for value in row] for row in rows)
        found, afterwards, writing = _tripled(fn, rows)
        facts += [
            Fact(f"values for x = {rows}", [first, rows[1]], found),
            Fact("x afterwards", rows, afterwards),
            Fact("in-place operators", [], writing),
        ]
        if afterwards != rows:
            belief = "The caller's x was written: y = x * 1 had made memory of its own."
        elif writing:
            belief = f"{writing[0]} writes into a tensor: a pure operator makes a new one."
        elif found == [first, second]:
            belief = "Both rows are tripled: v is a view of the first one."
        elif found == first:
            belief = "That is the row alone: the write went through v into y, and y is returned."
        elif found == rows:
            belief = "Nothing is tripled: the write to v has to be seen in y."
    return Result(tuple(facts), belief)


def _tripled(fn: Any, rows: list[list[float]]) -> tuple[Any, Any, list[str]]:
    """What `fn` makes of x, what x is afterwards, and the operators that wrote in place."""
    from ... import Tensor, tensor

    x = tensor(rows)
    with Noted() as noted:
        y = ask(fn, x)
    if not isinstance(y, Tensor):
        raise Unusable("a tensor", kind_of(y))
    return y.tolist(), x.tolist(), noted.writing


# ---- a small vocabulary -------------------------------------------------------------------------


@checked
def softsign(fn: Any) -> Result:
    """Exercise 3: `fn(x)` is x / (1 + |x|), in the operators abs, add and div: one kernel, 2N."""
    from ... import tensor

    row = [-3.0, -1.0, 0.0, 3.0]  # for which float32 is exact
    with Noted() as noted:
        ask(fn, tensor(row))
    told = seen(fn, (tensor(row),))
    facts = (
        Fact("values", [v / (1 + abs(v)) for v in row], *told.lists()),
        Fact("operators called", ["abs", "add", "div"], sorted(noted.called)),
        Fact("places that break", 0, told.places),
        Fact("kernels", 1, told.kernels),
        Fact("accesses", 2 * len(row), told.accesses),
    )
    belief = ""
    if "softsign" in noted.called:
        belief = "That is the large operator itself: spell it out in small ones."
    elif told.places:
        belief = "Part of it runs outside the graph, where no loop reaches: use torch's operators."
    elif len(noted.called) > 3:
        belief = "More operators than it takes: abs, add and div say all of it."
    return Result(facts, belief)
