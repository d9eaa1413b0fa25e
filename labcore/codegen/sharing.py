"""Which loop of a nest threads may share, and whether that is worth it.

In: a `Nest`, its printed kernel.  Out: the text, in which that loop says `prange`, and why.
A loop is shared when no turn of it reads or writes what another one writes: rows, each of which is
computed by itself. What adds up over all rows, or over everything, is cut into parts that add up by
themselves (see `parts.py`); how many depends on sizes alone, so that sums have one order for any
number of threads. Where rows are too few for that, threads share columns. What is written at places
that only the values tell, or goes on from row to row, has one thread.
It has also where loops are small: waking a thread takes longer than they do. Where sizes are
symbols the call decides: `runtime/threads.py` is told the work then, too.
PyTorch cuts loops from 32,768 elements on in eager mode; Inductor cuts all but the smallest.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..fusion.deps import Node
from ..fusion.ir import Expr
from ..fusion.nest import Nest
from ..fusion.parts import OVER_ROWS
from ..fusion.primitives import SUMEXP
from ..runtime.threads import LEAST
from .ranges import PART, SHARED, loops_of

ROWS = {"each", "row", "rowred", "rowscan"}
COLUMNS = {"each", "colred", "colscan", "column"}
MANY = 64  # turns that are enough for any number of threads; and a cache line has several columns
# A part adds up in memory of its own, which is filled and read once more: about a hundredth of the
# work. Column sums of 4096 x 1024 took two threads 0.65 of one's time; sharing columns, 1.7.
MOST_PARTS = 16
ROWS_OF_A_PART = 128
ELEMENTS_OF_ROWS = 65536  # of a part; short rows add up in strips, which are filled and read, too
MOST_PARTS_OF_A_LOOP = 64  # which adds up in variables
ELEMENTS_OF_A_PART = 16384
LINE = 64  # bytes of a cache line, and no type has more elements in it


@dataclass(frozen=True)
class Sharing:
    """`variable`: of the loop that threads share, "" if there is none."""

    variable: str
    rule: str
    detail: str


ALONE = Sharing("", "plain", "a kernel for reading keeps to one order")


@dataclass(frozen=True)
class Parts:
    """The turns of the loop of `variable` in `most` parts; of sizes that are symbols, in at most so
    many, and `count` is the Python that computes how many."""

    variable: str
    turns: Expr
    most: int
    count: str = ""

    @property
    def size(self) -> int:
        """How many turns a part has, where sizes are known; the last one may have fewer."""
        assert self.turns.const is not None
        return -(-self.turns.const // self.most)

    def __str__(self) -> str:
        if self.count:
            return f"up to {self.most} parts of the {self.turns} turns of {self.variable}"
        return f"{self.most} parts of {self.size} turns of {self.variable}"


def shareable(nest: Nest) -> Sharing:
    """By what is computed, and in how many parts; the size is not asked."""
    parts = {nest.parts[node] for node in nest.nodes}
    if any(node.loops.kind in ("scatter", "scatter_add") for node in nest.nodes):
        return Sharing("", "scatter", "two turns may write to the same place")
    if parts <= ROWS and nest.outer_loops and not _has_scratch(nest):
        return _if_apart(nest, _widest(nest.outer_loops), "rows")
    cut = parts_of(nest)
    if cut is not None:
        told = "which add up by themselves" if _sums(nest) else "with scratch of their own"
        return Sharing(PART, "parts", f"{cut}, {told}")
    if not parts <= COLUMNS or not nest.loops:
        rule = "scratch" if parts <= ROWS and nest.outer_loops else "one total"
        return Sharing("", rule, "every turn writes to the same memory")
    variable, size = nest.inner_loops[0]
    if nest.outer_loops and size.const is not None and size.const < 2 * MANY:
        return Sharing("", "narrow", f"{size} columns lie in the same cache lines")
    return _if_apart(nest, variable, "columns" if nest.outer_loops else "elements")


def parts_of(nest: Nest) -> Parts | None:
    """Into what the rows of a nest are cut, or, of one without rows, its turns; None where what a
    part needs is not its own, and where there are too few of them."""
    sums, loops = _sums(nest), nest.row_loops or nest.inner_loops
    if nest.batch_loops or not loops or not (sums or _has_scratch(nest)):
        return None
    if (nest.rows * nest.columns).const == 0:
        return None
    variable = _widest(loops)
    if (any(kind == SUMEXP for kind in sums) or not _goes_by_itself(nest)
            or _if_apart(nest, variable, "parts").variable != variable):
        return None
    found = _cut(nest, variable, dict(loops)[variable], bool(sums))
    if found.count and any(nest.parts[n] == "colred" and not nest.adds_up_apart(n)
                           for n in nest.nodes):
        return None  # of which a small call would write each column once more
    return found if found.most > 1 else None


def _cut(nest: Nest, variable: str, turns: Expr, sums: bool) -> Parts:
    """By sizes alone. Known ones are cut only where there is enough work (see `if_worth_it`); of
    symbols, a call with few elements has one part."""
    most, each_has, elements = MOST_PARTS_OF_A_LOOP, ELEMENTS_OF_A_PART, nest.rows * nest.columns
    limits: list[tuple[Expr, int]] = []
    if nest.outer_loops:
        most, each_has = MOST_PARTS, ELEMENTS_OF_ROWS
        limits += [(nest.rows + (ROWS_OF_A_PART - 1), ROWS_OF_A_PART)] * sums
    if elements.const is None:
        limits.append((elements, each_has))
    else:
        most = min(most, max(2, elements.const // each_has))
    known = [size.const // each for size, each in (*limits, (turns, 1)) if size.const is not None]
    unknown = [f"{size} // {each}" if len(size.terms) == 1 else f"({size}) // {each}"
               for size, each in limits if size.const is None]
    most = min([most, *known])
    if turns.const is not None and not unknown:
        most = -(-turns.const // -(-turns.const // most))  # parts of one size; none of them empty
    return Parts(variable, turns, most,
                 f"min({most}, {', '.join(unknown)}) or 1" if unknown else "")


def _sums(nest: Nest) -> list[str]:
    """The kinds of what adds up over all rows; of a nest without rows, over all there is."""
    parts = OVER_ROWS if nest.outer_loops else (*OVER_ROWS, "rowred")
    return [node.loops.kind for node in nest.nodes if nest.parts[node] in parts]


def _goes_by_itself(nest: Nest) -> bool:
    """Does nothing go on from part to part, and is what is one number for all not written over
    anything that parts read?"""
    parts = {nest.parts[node] for node in nest.nodes}
    if nest.outer_loops:
        return "colscan" not in parts
    numbers = [node for node in nest.nodes if nest.parts[node] in ("row", "rowred")]
    return "rowscan" not in parts and all(nest.storage(n.name) == n.name for n in numbers)


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
    """Each turn must use places of its own in all that the nest writes, before its parts are done.
    """
    used: dict[str, set[Expr]] = {}
    for node in nest.nodes:
        for buffer, offsets in (*node.loads.items(), *node.stores.items()):
            at = {nest.group.placed(node, offset).subs(nest.rename) for offset in offsets}
            used.setdefault(nest.storage(buffer), set()).update(at)
    inner = {v: Expr() for v, _ in nest.inner_loops}
    for node in nest.nodes:
        if rule == "parts" and not _is_of_a_part(nest, node):
            continue
        places = used[nest.storage(node.name)]
        (wrote,) = (nest.group.placed(node, at).subs(nest.rename) for at in node.stores[node.name])
        own = {wrote, wrote.subs(inner)}  # and the first of its row
        if nest.homes[node.name] == "memory" and not (
            places <= own and all(variable in place.symbols for place in places)
        ):
            detail = f"a turn may need what another one writes to {nest.storage(node.name)}"
            return Sharing("", "in place", detail)
    return Sharing(variable, rule, f"each {rule[:-1]} by itself")


def _is_of_a_part(nest: Nest, node: Node) -> bool:
    """Is it written before all parts are done?"""
    return nest.parts[node] in (ROWS if nest.outer_loops else {"each"})
