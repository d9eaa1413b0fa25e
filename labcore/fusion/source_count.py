"""Accesses counted in a printed kernel: the third way of the ledger, from nothing but the text.

In: the source of kernels, `for i0 in range(4):`, `tmp0 = x[i0]`, `out[i0] = tmp4`.  Out: loads and
stores by array.
Invariant: it knows nothing of the loop IR; each subscript counts once a turn of the loops around
it, and the two branches of a choice count as the one that is longer. A strip that the kernel makes
for itself (`strip_of`) is no memory that anyone else sees, as registers are none; neither is the
number that each part leaves (`sum_parts[part] = sum_acc`).
"""
from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class SourceCount:
    """Element accesses by the name of the array."""

    loads: dict[str, int] = field(default_factory=dict)
    stores: dict[str, int] = field(default_factory=dict)

    @property
    def executed(self) -> int:
        return sum(self.loads.values()) + sum(self.stores.values())


def count_in_source(source: str, sizes: Mapping[str, int] | None = None) -> SourceCount:
    """Count the accesses of all kernels in `source`; `sizes` gives the names in loop bounds that
    are no literals.

    Raises ValueError for a loop whose number of turns the text does not tell.
    """
    counter = _Counter(dict(sizes or {}))
    counter.visit(ast.parse(source))
    return counter.found


class _Counter(ast.NodeVisitor):
    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes, self.turns, self.found = sizes, 1, SourceCount()
        self.own: set[str] = set()  # what is the kernel's own

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.own = set()
        for statement in node.body:  # not the signature: its annotations read nothing
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        turns, values = self.turns, range(*self._bounds(node))
        assert isinstance(node.target, ast.Name)
        if bounds_use(node.body, node.target.id):  # blocks: each has its own number of turns
            for value in values:
                self.sizes[node.target.id] = value
                self._body(node)
        else:
            self.turns *= len(values)
            self._body(node)
        self.turns = turns

    def _body(self, node: ast.For) -> None:
        for statement in node.body:
            self.visit(statement)

    def _bounds(self, node: ast.For) -> list[int]:
        call = node.iter
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and call.func.id in ("range", "prange")
        ):
            try:
                return [self._number(a) for a in call.args]
            except (KeyError, TypeError) as error:
                raise ValueError(
                    f"line {node.lineno}: the bounds of this loop need {error}; pass it in sizes"
                ) from None
        raise ValueError(f"line {node.lineno}: only loops over range(...) can be counted")

    def _number(self, node: ast.expr) -> int:
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {"min"}
        names = {name: self.sizes[name] for name in used} | {"min": min}
        return eval(compile(ast.Expression(node), "<bounds>", "eval"), {"__builtins__": {}}, names)

    def visit_While(self, node: ast.While) -> None:
        raise ValueError(f"line {node.lineno}: a while loop cannot be counted")

    def visit_Assign(self, node: ast.Assign) -> None:
        made = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(made, ast.Name) and made.id == "strip_of":
            self.own.update(target.id for target in node.targets if isinstance(target, ast.Name))
            return
        self.own.update(filter(None, map(_left_by_part, node.targets)))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            self._count(self.found.loads, node.target)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._count(
            self.found.stores if isinstance(node.ctx, ast.Store) else self.found.loads, node
        )
        self.visit(node.slice)

    def _count(self, table: dict[str, int], node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id not in self.own:
            table[node.value.id] = table.get(node.value.id, 0) + self.turns


def _left_by_part(target: ast.expr) -> str:
    """The array in which each part has a place."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
        return ""
    return ast.unparse(target.value) if target.slice.id == "part" else ""


def bounds_use(body: Sequence[ast.stmt], name: str) -> bool:
    """Does a loop in it run as far as a variable says?"""
    loops = [n for statement in body for n in ast.walk(statement) if isinstance(n, ast.For)]
    return any(isinstance(n, ast.Name) and n.id == name
               for loop in loops for n in ast.walk(loop.iter))
