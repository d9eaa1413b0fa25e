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
    def __init__(self) -> None:
        self.turns, self.found = 1, 0

    def visit_For(self, node: ast.For) -> None:
        call = node.iter
        bounds = call.args if isinstance(call, ast.Call) else []
        if not all(isinstance(a, ast.Constant) and isinstance(a.value, int) for a in bounds):
            raise ValueError(f"`{ast.unparse(node.iter)}`: how many turns is known when it runs")
        before = self.turns
        self.turns *= len(range(*(ast.literal_eval(a) for a in bounds)))
        for statement in node.body:
            self.visit(statement)
        self.turns = before

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
