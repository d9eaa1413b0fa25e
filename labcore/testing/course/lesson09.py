"""The exercises of lesson 09: three loop bodies, and a handler that counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .facts import graph_of
from .result import Fact, Result, Unusable, ask, checked, is_number, make, shown

PROBE = [-2.0, -1.0, 1.0, 2.0]


class _Values:
    """What `ops` is for numbers: buffers are lists, and every read or write is counted."""

    def __init__(self, **buffers: list[float]) -> None:
        self.buffers = buffers
        self.accesses = 0

    def load(self, buffer: str, at: int) -> float:
        return self._cells(buffer, at)[at]

    def store(self, buffer: str, at: int, value: float) -> None:
        self._cells(buffer, at)[at] = value

    def _cells(self, buffer: str, at: int) -> list[float]:
        if buffer not in self.buffers:
            raise NameError(f"no buffer {buffer!r}: there are {', '.join(self.buffers)}")
        cells = self.buffers[buffer]
        if not 0 <= at < len(cells):
            raise IndexError(f"{buffer}[{at}] is outside of its {len(cells)} elements")
        self.accesses += 1
        return cells

    def constant(self, value: float, dtype: Any = None) -> float:
        return value

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from ...fusion.primitives import PRIMITIVES

        if name not in PRIMITIVES:
            raise AttributeError(f"ops has no {name}")
        return PRIMITIVES[name].fn


@checked
def bodies(mul: Any, relu: Any, flip: Any) -> Result:
    """Exercise 1: bodies `body(ops, i, n)` for y = x * w, y = relu(x), and y = x turned round.

    Each runs on numbers, once an element, and once more where neither index nor values are numbers.
    """
    weights = [3.0, 3.0, 5.0, 5.0]
    products, of_mul = _run(mul, w=weights)
    clipped, of_relu = _run(relu)
    turned, of_flip = _run(flip)
    facts = (
        Fact("mul: y", [x * w for x, w in zip(PROBE, weights)], products),
        Fact("relu: y", [max(x, 0.0) for x in PROBE], clipped),
        Fact("flip: y", PROBE[::-1], turned),
        Fact("accesses of the three, N = 4", [12, 8, 8], [of_mul, of_relu, of_flip]),
        Fact("mul reads, and writes", ["w[i0]", "x[i0]", "y[i0]"], sorted(_places(mul))),
        Fact("relu reads, and writes", ["x[i0]", "y[i0]"], _places(relu)),
        Fact("flip reads, and writes", ["x[-i0 + 3]", "y[i0]"], _places(flip)),
    )
    return Result(facts, _belief_of_bodies(facts))


def _run(body: Any, **more: list[float]) -> tuple[list[float], int]:
    """y after a turn of the body for each element, and how often arrays were touched."""
    values = _Values(x=list(PROBE), y=[0.0] * len(PROBE), **more)
    for i in range(len(PROBE)):
        _turn(body, values, i)
    return values.buffers["y"], values.accesses


def _turn(body: Any, handler: Any, i: Any) -> None:
    """A body answers nothing, it stores; one that answers `...` is not begun."""
    (answer,) = ask(_answered(body), handler, i, len(PROBE))
    if answer is not None:
        raise Unusable("a body that stores its result and returns nothing", shown(answer))


def _answered(body: Any) -> Any:
    """The body with its answer in a list, so that None is one; what is no function stays as it is.
    """
    return (lambda *args: [body(*args)]) if callable(body) else body


def _places(body: Any) -> list[str]:
    """What a body reads and writes, told by a run in which no number is known."""
    from ...fusion.handlers import Reads
    from ...fusion.ir import index, ops, using

    with using(Reads()) as reads, ops.one_run():
        try:
            _turn(body, ops, index(0))
        except Unusable as unusable:
            hint = "here the index is a symbol and a value is nothing yet: ask ops for all of it"
            raise Unusable(unusable.expected, f"{unusable.found}; {hint}") from None
    return [f"{buffer}[{at}]" for buffer, at in (*reads.loads, *reads.stores)]


def _belief_of_bodies(facts: Sequence[Fact]) -> str:
    _, clipped, turned, accesses, *_ = (fact.found for fact in facts)
    if turned == PROBE:
        return (
            "Reading i and writing i copies: nobody would notice on a list that reads the same "
            "both ways. A view is another index: element i comes from n - 1 - i."
        )
    if clipped == PROBE:
        return "relu is one question: ops.relu(value)."
    if any(found > wanted for found, wanted in zip(accesses, (12, 8, 8))):
        return "One load of each input and one store an element: what was loaded is in hand."
    if not all(fact.holds for fact in facts[4:]):
        return "Element i of y is what a turn makes: the loop around it brings the others."
    return ""


@checked
def count_ops(kind: Any) -> Result:
    """Exercise 2: a handler whose `accesses` are the loads and stores that a body asks for.

    Each body is run once, with a symbolic index; loops multiply what it finds by their turns.
    """
    from ...fusion import lower, schedule, separate

    graph = graph_of(_block, (4,), (4,)).graph
    before, runs = _counted(kind, separate(graph).nests)
    after, _ = _counted(kind, schedule(lower(graph)).nests)
    facts = (
        Fact("accesses of the three bodies", 28, before),
        Fact("accesses of the fused body", 12, after),
        Fact("runs of the three bodies", 3, runs),
    )
    return Result(facts, COUNT_BELIEFS.get(after, ""))


COUNT_BELIEFS = {
    16: "A constant stands in the code: asking for one touches no array.",
    24: "An operation works on values in hand: it touches no array.",
    48: "Those are all turns: the check multiplies by the turns, count each question once.",
    28: "Only loads and stores touch an array; operations and constants do not.",
    8: "A store is an access as well.",
    4: "A load is an access as well.",
    0: "Nothing was counted: add to self.accesses in load and in store.",
    3: "That is one turn: the check multiplies by the turns, count each question once.",
}


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


def _run_body(nest: Any, node: Any) -> bool:
    nest.run(node)
    return True


def _counted(kind: Any, nests: list[Any]) -> tuple[int, int]:
    """Accesses of all nests, counted by handlers of the student's, and the runs that took."""
    from ...fusion.ir import using

    total, runs = 0, 0
    for nest in nests:
        counter = make(kind)
        turns = int((nest.rows * nest.columns).value({}))
        for node in nest.nodes:
            with using(counter):
                ask(_run_body, nest, node)
            runs += 1
        found: Any = getattr(counter, "accesses", None)
        if not is_number(found):
            raise Unusable("a handler with a number `accesses`", f"accesses = {shown(found)}")
        total += int(found) * turns
    return total, runs
