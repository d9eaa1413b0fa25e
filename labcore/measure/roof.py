"""The roofline: is a kernel as fast as memory lets it be, or as arithmetic does?

In: what `cost` measured of some functions.  Out: a figure. To the right is more work for each byte,
upwards is more work a second; the roof is the machine's bandwidth on the left, its arithmetic on
the right, and no point lies above it but by what the clock errs.
After Williams, Waterman, Patterson: Roofline (2009). An operation of a kernel's text is one
operation here; `exp` and its like take some twenty instructions, so what uses them has a lower roof
than the one that is drawn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..fusion.source_count import bounds_use
from .limits import operations

if TYPE_CHECKING:
    from .costs import Cost

CASTS = {t.name for t in dtypes.ALL} | {f"of_{t.name}" for t in dtypes.HALVES}
NO_WORK = {*CASTS, "range", "prange", "check_index"}


def operations_in(source: str) -> int:
    """Scalar operations of a kernel's text, those of indices left out, times the turns of their
    loops. Raises ValueError for a loop whose number of turns the text does not tell."""
    counter = _Operations()
    counter.visit(ast.parse(source))
    return counter.found


class _Operations(ast.NodeVisitor):
    """`places`: the turns that loops around are in, where others begin or end there."""

    def __init__(self) -> None:
        self.turns, self.found = 1, 0
        self.places: dict[str, int] = {}

    def visit_For(self, node: ast.For) -> None:
        before, turns, name = self.turns, self._range(node), ast.unparse(node.target)
        if bounds_use(node.body, name):
            for place in turns:
                self.places[name] = place
                self._body(node)
        else:
            self.turns *= len(turns)
            self._body(node)
        self.turns = before

    def _body(self, node: ast.For) -> None:
        for statement in node.body:
            self.visit(statement)

    def _range(self, node: ast.For) -> range:
        call = node.iter
        bounds = call.args if isinstance(call, ast.Call) else []
        used = {n.id for a in bounds for n in ast.walk(a) if isinstance(n, ast.Name)}
        if not used <= {"min", *self.places}:
            raise ValueError(f"`{ast.unparse(node.iter)}`: how many turns is known when it runs")
        names = {"__builtins__": {}, "min": min, **self.places}
        return range(*(eval(ast.unparse(a), names) for a in bounds))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.found += self.turns
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.found += self.turns
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id not in NO_WORK:
            self.found += self.turns
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Where in an array is no work of the program's."""


def roofline(costs: Iterable[Cost]) -> Any:
    """A matplotlib figure with a point for each; both axes are logarithmic."""
    from matplotlib.figure import Figure

    points = list(costs)
    if not points:
        raise ValueError("roofline: nothing was measured; give it what `cost` returns")
    bandwidth, arithmetic = max(each.stream for each in points), operations()
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    ridge = arithmetic / bandwidth
    left = min(ridge, *(each.intensity for each in points)) / 4
    right = max(ridge, *(each.intensity for each in points)) * 4
    axes.loglog(
        [left, ridge, right], [left * bandwidth, arithmetic, arithmetic], color="0.35", label="roof"
    )
    for each in points:
        height = each.operations / each.warm
        axes.plot([each.intensity], [height], "o", label=each.function)
        axes.annotate(
            each.function, (each.intensity, height), xytext=(6, -10), textcoords="offset points"
        )
    axes.set_xlabel("operations for each byte moved")
    axes.set_ylabel("operations a second, one thread")
    axes.set_title(f"{bandwidth / 1e9:.0f} GB/s, {arithmetic / 1e9:.0f} G operations/s")
    return figure
