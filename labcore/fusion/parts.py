"""The parts that loops play in a shared nest over  outer x inner.

In: nodes, and the sizes of the loops.  Out: the part of each:

    each     pointwise over outer x inner                    runs inside the inner loop
    rowred   reduces inner, keeps outer   (sum over -1)      adds up in the inner loop
    row      pointwise over outer                            runs between inner loops
    colred   reduces outer, keeps inner   (sum over 0)       adds up across the whole nest
    rowscan  runs along inner             (cumsum over -1)   hands on its total in the inner loop
    colscan  runs along outer             (cumsum over 0)    hands on a row of totals
    fold     reduces outer, once a row    (a sum of rowreds) adds up between inner loops
    column   pointwise over inner, of what colreds make      runs once the last row is done
    last     pointwise over nothing, of what folds make      runs once the last row is done

Columns may lie in a batch: then they begin anew in each turn of the first of the outer loops, and
are done after it.
Invariant: `column` and `last` are parts by what a node reads, the others by its loops alone.
Inductor leaves such things to its printers.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .deps import Node, Sizes

OVER_ROWS = ("colred", "fold")  # parts that are complete once the last row is done
ENDS = ("column", "last")  # parts that run then
BY_ROW = ("row", "fold")  # parts that run once a row, between inner loops


def batch_of(nodes: Iterable[Node]) -> int:
    return next((n.batch for n in nodes if n.batch is not None), 0)


def parts_in(nodes: Iterable[Node], outer: Sizes, inner: Sizes | None) -> dict[Node, str] | None:
    """The part of each node, which come in program order, or None if one does not fit."""
    nodes = list(nodes)
    if inner is None:
        return dict.fromkeys(nodes, "each")
    columns = outer[:batch_of(nodes)] + inner
    over_rows: dict[str, str] = {}  # the parts that made them
    alone: dict[tuple, str | None] = {}
    parts: dict[Node, str] = {}
    for node in nodes:
        if node.form not in alone:
            alone[node.form] = node.part(outer, inner)
        part = _end(node, columns, over_rows) or alone[node.form]
        if part is None:
            return None
        parts[node] = part
        if part in OVER_ROWS or part in ENDS:
            over_rows[node.name] = part
    return parts


def _end(node: Node, columns: Sizes, over_rows: Mapping[str, str]) -> str | None:
    """The part of a pointwise node that reads what is complete once the last row is done."""
    if not over_rows or node.is_reduction or node.is_scan:
        return None
    read = {over_rows[buffer] for buffer in node.loads if buffer in over_rows}
    if node.sizes == columns and not read.isdisjoint(("colred", "column")):
        return "column"
    return "last" if not node.sizes and not read.isdisjoint(("fold", "last")) else None


def runs(part: str) -> int:
    """When a part runs: in each row (0), after the last one of a batch (1), after all (2)."""
    return {"column": 1, "last": 2}.get(part, 0)


def complete(part: str) -> int:
    """When what a part makes can be read."""
    return {"colred": 1, "fold": 2}.get(part, runs(part))
