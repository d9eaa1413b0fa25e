"""Which loop of a nest threads may share, and whether that is worth it.

In: a `Nest`, its printed kernel.  Out: the text, in which that loop says `prange`, and why.
A loop is shared when no turn of it reads or writes what another one writes: rows, each of which is
computed by itself, or columns, which add up over all rows. Where everything adds to one total, or
is written at places that only the values tell, one thread works.
It does also where loops are small: waking a thread takes longer than they do. Where sizes are
symbols the call decides: `runtime/threads.py` is told the work then, too.
PyTorch cuts loops from 32,768 elements on in eager mode; Inductor cuts all but the smallest.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..fusion.ir import Expr
from ..fusion.nest import Nest
from ..runtime.threads import LEAST
from .ranges import SHARED, loops_of

ROWS = {"each", "row", "rowred", "rowscan"}
COLUMNS = {"each", "colred", "colscan", "column"}
MANY = 64  # turns that are enough for any number of threads; and a cache line has several columns


@dataclass(frozen=True)
class Sharing:
    """`variable`: of the loop that threads share, "" if there is none."""

    variable: str
    rule: str
    detail: str


ALONE = Sharing("", "plain", "a kernel for reading keeps to one order")


def shareable(nest: Nest) -> Sharing:
    """By what is computed; the size is not asked."""
    parts = {nest.parts[node] for node in nest.nodes}
    if any(node.loops.kind in ("scatter", "scatter_add") for node in nest.nodes):
        return Sharing("", "scatter", "two turns may write to the same place")
    if parts <= ROWS and nest.outer_loops and not _has_scratch(nest):
        return _if_apart(nest, _widest(nest.outer_loops), "rows")
    if not parts <= COLUMNS or not nest.loops:
        rule = "scratch" if parts <= ROWS and nest.outer_loops else "one total"
        return Sharing("", rule, "every turn writes to the same memory")
    variable, size = nest.inner_loops[0]
    if nest.outer_loops and size.const is not None and size.const < 2 * MANY:
        return Sharing("", "narrow", f"{size} columns lie in the same cache lines")
    return _if_apart(nest, variable, "columns" if nest.outer_loops else "elements")


def if_worth_it(source: str, found: Sharing) -> tuple[str, Sharing]:
    """The text of a kernel, and what is said of it, after a look at the size of its loops."""
    if not found.variable:
        return source, found
    (kernel,) = ast.parse(source).body
    assert isinstance(kernel, ast.FunctionDef)
    work = loops_of(kernel).work
    if work.const is not None and work.const < 2 * LEAST:
        detail = f"work of {work}, and {2 * LEAST} would be worth a second thread"
        return source.replace(f" {SHARED}(", " range("), Sharing("", "small", detail)
    return source, Sharing(found.variable, found.rule, f"work of {work}; {found.detail}")


def _has_scratch(nest: Nest) -> bool:
    """Does each row use the same memory for what its passes hand on?"""
    return any(home == "row" and name not in nest.lends for name, home in nest.homes.items())


def _widest(loops: list[tuple[str, Expr]]) -> str:
    """The outermost of many turns; the outermost, if none has many."""
    many = [v for v, size in loops if size.const is None or size.const >= MANY]
    return many[0] if many else loops[0][0]


def _if_apart(nest: Nest, variable: str, rule: str) -> Sharing:
    """Each turn must use places of its own in all that the nest writes."""
    used: dict[str, set[Expr]] = {}
    for node in nest.nodes:
        for buffer, offsets in (*node.loads.items(), *node.stores.items()):
            at = {nest.group.placed(node, offset).subs(nest.rename) for offset in offsets}
            used.setdefault(nest.storage(buffer), set()).update(at)
    inner = {v: Expr() for v, _ in nest.inner_loops}
    for node in nest.nodes:
        places = used[nest.storage(node.name)]
        (wrote,) = (nest.group.placed(node, at).subs(nest.rename) for at in node.stores[node.name])
        own = {wrote, wrote.subs(inner)}  # and the first of its row
        if nest.homes[node.name] == "memory" and not (
            places <= own and all(variable in place.symbols for place in places)
        ):
            detail = f"a turn may need what another one writes to {nest.storage(node.name)}"
            return Sharing("", "in place", detail)
    return Sharing(variable, rule, f"each {rule[:-1]} by itself")
