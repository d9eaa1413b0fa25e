"""Kernels whose sums are cut into parts, which threads share; then one adds up what they left.

In: a `Nest` that adds up over its rows, or over all there is.  Out: a `Kernel`:

    for part in prange(16):                            for part in prange(64):
        for i1 in range(1024):                             acc = float64(0.0)
            left[1024*part + i1] = float64(0.0)            for i1 in range(n*part, n*part + n):
        for i0 in range(256*part, 256*part + 256):             acc = radd(acc, float64(x[i1]))
            for i1 in range(1024):                         left[part] = acc
                left[1024*part + i1] = ...             acc = left[0]
    for part in range(1, 16):                          for part in range(1, 64):
        for i1 in range(1024):                             acc = acc + left[part]
            left[i1] = left[i1] + ...                  out[0] = float32(acc)
    for i1 in range(1024):
        out[i1] = float32(left[i1])

The whole rows of a part lie side by side, so they come from memory as fast as for one thread; when
threads shared columns, each row was another page for each of them, and two were slower than one.
Scratch of a row is a part's own as well, so that rows with scratch can be shared.
Invariant: how many parts there are follows from sizes alone, and they are added up in their order,
so any number of threads gives the same bits.
A card does the same in two kernels; OpenMP's `reduction` adds up in the order in which threads end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .. import dtypes
from ..fusion.deps import Node
from ..fusion.handlers import Name
from ..fusion.ir import Expr, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import accumulator
from . import spelling
from .cpu import CpuPrinter, Section
from .printer import LENT, Kernel, Line, Parameter, indented, kernel_name, note_now, note_of
from .ranges import PART, SHARED
from .sharing import LINE, parts_of


def print_kernel(nest: Nest, number: int = 0) -> Kernel:
    """The kernel of a nest, numbered within its program."""
    name = kernel_name(nest, number)
    kernel = CpuPrinter(nest).print(name)
    if kernel.sharing.variable != PART:
        return kernel
    printer = _Rows(nest) if nest.outer_loops else _Loop(nest)
    return replace(printer.print(name), sharing=kernel.sharing)


@dataclass(frozen=True)
class Total:
    """A sum of a buffer in a variable, in the type that it adds up in."""

    buffer: str
    kind: str
    name: Name
    note: str


class _PartsPrinter(CpuPrinter):
    """What both forms share."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest)
        found = parts_of(nest)
        assert found is not None
        self.cut = found

    @property
    def how_many(self) -> str:
        """How many parts there are: a number, or what the wrapper computes of sizes."""
        if not self.cut.count:
            return str(self.cut.most)
        if self.cut.count not in self.parameters:
            self.parameters[self.cut.count] = Parameter(
                self._name(LENT + "parts"), dtypes.int64, self.cut.count, number=True)
        return self.parameters[self.cut.count].name

    def head(self, variable: str, size: Expr) -> str:
        if variable != self.cut.variable:
            return f"for {variable} in range({self.spell_offset(size)}):"
        return self.head_of_part(variable, self.factor(size))

    def factor(self, size: Expr) -> str:
        """A size, as one of a product's."""
        text = self.spell_offset(size)
        return text if len(size.terms) == 1 else f"({text})"

    def head_of_part(self, variable: str, turns: str) -> str:
        """The first line of a loop over the turns of a part."""
        if not turns.isdigit() or self.cut.count:
            return (f"for {variable} in range({turns}*{PART} // {self.how_many}, "
                    f"{turns}*({PART} + 1) // {self.how_many}):")
        size = -(-int(turns) // self.cut.most)
        first = f"{size}*{PART}"
        end = f"{first} + {size}"
        if int(turns) % size or int(turns) // size != self.cut.most:
            end = f"min({end}, {turns})"
        return f"for {variable} in range({first}, {end}):"

    def by_parts(self, body: list[Line]) -> list[Line]:
        return [(f"for {PART} in {SHARED}({self.how_many}):", ""), *indented(body, 1)]

    def others(self, body: list[Line]) -> list[Line]:
        """Statements for each part but the first."""
        return [(f"for {PART} in range(1, {self.how_many}):", ""), *indented(body, 1)] * bool(body)

    def leave(self, totals: list[Total]) -> list[Line]:
        """A part leaves its totals for all."""
        return [(f"{self._left(each)}[{PART}] = {each.name}", each.note) for each in totals]

    def added(self, totals: list[Total]) -> list[Line]:
        """What the parts left of them, added up."""
        starts: list[Line] = []
        turns: list[Line] = []
        for each in totals:
            dtype, left = each.name.dtype, self._left(each)
            first = f"bool({left}[0])" if dtype is dtypes.bool else f"{left}[0]"
            starts.append((f"{each.name} = {first}", each.note))
            turns.append((taken_in(each.kind, each.name, f"{left}[{PART}]", dtype), each.note))
        return [*starts, *self.others(turns)]

    def _left(self, total: Total) -> str:
        """The array with what each part leaves of a total."""
        return self._lent(f"{total.buffer}_parts", total.name.dtype, Expr.of(self.cut.most))


def taken_in(kind: str, total: str, more: str, dtype: dtypes.dtype) -> str:
    """A statement: what a part left is added, in the order of parts, and in no other: each phase
    has the same bits."""
    old, new = (f"bool({each})" if dtype is dtypes.bool and each.endswith("]") else each
                for each in (total, more))
    return f"{total} = {spelling.combine(kind, old, new, dtype, in_order=True)}"


class _Rows(_PartsPrinter):
    """Rows in parts. `done`: are the parts, and the first one's columns have all?"""

    done = False

    def print(self, name: str) -> Kernel:
        with using(self):
            passes = [line for part in self.nest.passes for line in self._pass(part)]
            turns = [
                *self._start_columns(),
                *self._start_folds(),
                *self._loops(self.nest.row_loops, passes),
                *self.leave(self._folds()),
            ]
            columns = self.others(self._loops(self.nest.inner_loops, self._added_columns()))
            folds = self.added(self._folds())
            self.done = True
            ends = [*self._end_columns(), *folds, *self._end_folds()]
        return self.kernel(name, [*self.by_parts(turns), *columns, *ends])

    # ---- where a part adds up ----

    def adds_up_apart(self, node: Node) -> bool:
        return True

    def _column_cell(self, buffer: str, at: Expr, kind: str) -> str:
        wide = accumulator(kind, self.buffers[buffer].dtype)
        return self._cell_of_part(f"{buffer}_parts", wide, "" if self.done else PART)

    def _cell(self, buffer: str, at: Expr) -> str:
        if self.nest.homes.get(buffer) != "row" or buffer in self.nest.lends:
            return super()._cell(buffer, at)
        return self._cell_of_part(f"{buffer}_row", self.buffers[buffer].dtype, PART)

    def _cell_of_part(self, name: str, dtype: dtypes.dtype, part: str) -> str:
        """An element of a part's own row: those begin in cache lines of their own."""
        length = self.nest.columns
        if length.const is not None:
            length = Expr.of(-(-length.const // LINE) * LINE)
        array = self._lent(name, dtype, length * self.cut.most)
        column = self.spell_offset(self.nest.column)
        return f"{array}[{self.factor(length)}*{part} + {column}]" if part else f"{array}[{column}]"

    # ---- what parts left is added up ----

    def _added_columns(self) -> list[Line]:
        lines: list[Line] = []
        for node, at in self.over_rows("colred"):
            kind, wide = node.loops.kind, accumulator(node.loops.kind, node.out.dtype)
            more = self._column_cell(node.name, at, kind)
            total = self._cell_of_part(f"{node.name}_parts", wide, "")
            lines.append((taken_in(kind, total, more, wide), note_of(node)))
        return lines

    def _folds(self) -> list[Total]:
        found: list[Total] = []
        for node, _ in self.over_rows("fold"):
            kind, name = node.loops.kind, self._local_name(f"{node.name}_acc")
            wide = accumulator(kind, node.out.dtype)
            found.append(Total(node.name, kind, Name(name, wide), note_of(node)))
        return found


class _Loop(_PartsPrinter):
    """One loop over all there is, pass by pass, in parts. `totals` are those of the present pass,
    which begin with `starts`."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest)
        self.starts: list[Line] = []
        self.totals: list[Total] = []

    def print(self, name: str) -> Kernel:
        with using(self):
            lines = [line for part in self.nest.passes for line in self._pass(part)]
        return self.kernel(name, lines)

    def begin_total(self, start: Line) -> None:
        self.starts.append(start)

    def _reduce_row(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        known = len(self.section.totals)
        super()._reduce_row(buffer, at, kind, value)
        if len(self.section.totals) > known:
            total = self.section.totals[kind, value]
            self.totals.append(Total(buffer, kind, total, note_now()))

    def head_of_blocks(self, count: str) -> str:
        return self.head_of_part(self._block, count)

    def _pass(self, part: Pass) -> list[Line]:
        self.starts, self.totals = [], []
        return super()._pass(part)

    def _around(self, section: Section, loops: list[Line]) -> list[Line]:
        if not loops:
            return [*section.before, *section.after]
        parts = self.by_parts([*self.starts, *loops, *self.leave(self.totals)])
        return [*section.before, *parts, *self.added(self.totals), *section.after]
