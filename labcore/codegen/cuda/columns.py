"""Columns: a block has a tile of columns; its threads walk down the rows, then add up sideways.

A warp reads neighbouring columns of one row, or, where there are few columns, of several rows. Each
thread has up to four columns and keeps their sums in registers; eight threads share a column and
fold their sums through shared memory. With several blocks to a tile each leaves a partial result,
and a second kernel adds those up.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import dtypes
from ...fusion.deps import Node
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...fusion.primitives import identity
from .. import spelling
from ..printer import Line, Note
from .base import GridPrinter, guarded, repeated
from .device import WARP
from .fold import AGAIN, Cells, Partials, Reduction, fold_kernel
from .form import EACH, Form, rows_a_batch
from .kernel import GridKernel, ceil_div


class ColumnsPrinter(GridPrinter):
    """`wide` threads stand side by side, `tall` of them in a column of the block; each has `each`
    columns, `wide` apart."""

    def __init__(self, nest: Nest, form: Form) -> None:
        loops = [*nest.row_loops, *nest.inner_loops]
        super().__init__(nest, form, [var for var, _ in loops])
        columns = nest.columns.const
        self.wide, self.each = WARP, form.each or EACH
        if columns is not None and columns < WARP * self.each:
            self.wide = next(w for w in (1, 2, 4, 8, 16, 32) if w >= min(columns, WARP))
            self.each = max(1, -(-columns // self.wide))
        self.tall = form.threads // self.wide
        self.partials = Partials(nest, form.shares)

    @property
    def tile(self) -> int:
        return self.wide * self.each

    def kernels(self, name: str) -> list[GridKernel]:
        (only,) = self.nest.passes
        per_column = self._per_column(only.inside)
        loads = self.loads(only.inside, self.each)
        section = self.section_of(only)
        lines = [
            *self._place(),
            *section.before,
            *self._each_column(per_column),
            *self._begin(),
            *self._walk(loads, section.inside),
            *self._fold(),
        ]
        tiles = ceil_div(self.nest.columns, self.tile)
        batches = self.nest.batches
        across = tiles if batches.const == 1 else f"({batches}) * ({tiles})"
        if batches.const is not None and self.nest.columns.const is not None:
            across = str(batches.const * int(tiles))
        shares = self.form.shares
        grid = (across,) if shares == 1 else (across, str(shares))
        kernel = self.on_grid(name, lines, grid, (self.wide, self.tall))
        return [kernel] if shares == 1 else [
            kernel, fold_kernel(self.nest, self.form, f"{name}_fold")
        ]

    def _place(self) -> list[Line]:
        """Which tile, which batch, and where the thread's first column is."""
        lines = [("tx = int64(cuda.threadIdx.x)", ""), ("ty = int64(cuda.threadIdx.y)", "")]
        block = "int64(cuda.blockIdx.x)"
        if not self.nest.batch_loops:
            return [*lines, (f"col = {block} * {self.tile} + tx", "")]
        tiles = f"(({self.spell_offset(self.nest.columns)} + {self.tile - 1}) // {self.tile})"
        return [
            *lines,
            (f"batch = {block} // {tiles}", ""),
            *self.unflatten(self.nest.batch_loops, "batch"),
            (f"col = {block} % {tiles} * {self.tile} + tx", ""),
        ]

    # ---- down the rows ----

    def _per_column(self, nodes: list[Node]) -> list[Line]:
        """Loads that are the same in all rows, such as a bias."""
        rows = {var for var, _ in self.nest.row_loops}
        everything, self.inner_vars = self.inner_vars, self.inner_vars - rows
        lines = list[Line]()
        for (buffer, at), note in self._read_by(nodes).items():
            if not rows & at.symbols:
                name = self.array(f"{buffer}_c", self.each, self.buffers[buffer].dtype)
                lines.append((f"{name}[k] = {self._cell(buffer, at)}", note))
                self.registers[buffer, at] = name
        self.inner_vars = everything
        return lines

    def _each_column(self, body: list[Line]) -> list[Line]:
        if not body:
            return []
        at = self.unflatten(self.nest.inner_loops, f"col + {self.wide} * k")
        columns = self.nest.columns
        even = columns.const is not None and columns.const % self.tile == 0
        condition = "" if even else f"col + {self.wide} * k < {self.spell_offset(columns)}"
        return repeated(f"for k in range({self.each}):", guarded(condition, [*at, *body]))

    def _walk(self, loads: list[Line], body: list[Line]) -> list[Line]:
        rows = self.spell_offset(rows_a_batch(self.nest))
        start, step = "ty", self.tall * self.form.shares
        if self.form.shares > 1:
            start = f"int64(cuda.blockIdx.y) * {self.tall} + ty"
        turn = [
            *self.unflatten(self.nest.row_loops, "row"),
            *self._each_column(loads),
            *self._each_column(body),
        ]
        return repeated(f"for row in range({start}, {rows}, {step}):", turn)

    # ---- results ----

    def _column_cell(self, buffer: str, at: Expr, kind: str) -> str:
        wide = self.adds_in(kind, self.buffers[buffer].dtype)
        return f"{self.array(f'{buffer}_p', self.each, wide)}[k]"

    def _begin(self) -> list[Line]:
        lines: list[Line] = []
        for buffer, at, kind, note in self._columns():
            wide = self.adds_in(kind, self.buffers[buffer].dtype)
            start = spelling.constant(identity(kind, wide), wide)
            lines.append((f"{self._column_cell(buffer, at, kind)} = {start}", note))
        return repeated(f"for k in range({self.each}):", lines)

    def _fold(self) -> list[Line]:
        """The sums of the threads that share a column, through shared memory."""
        found, lines = self._columns(), list[Line]()
        types = [self.adds_in(kind, self.buffers[buffer].dtype) for buffer, _, kind, _ in found]
        cells = Cells(self, self.tall * self.tile, types)
        for number, turn in enumerate(cells.turns(found)):
            lines += [("cuda.syncthreads()", AGAIN)] * (number > 0)
            lines += self._turn(turn, cells)
        return lines

    def _turn(self, found: Sequence[Reduction], cells: Cells) -> list[Line]:
        share: list[Line] = []
        results: list[Line] = []
        for place, (buffer, at, kind, note) in enumerate(found):
            fold = cells.name(place, buffer, self.adds_in(kind, self.buffers[buffer].dtype))
            column = f"tx + {self.wide} * k"
            share.append((f"{fold}[ty * {self.tile} + {column}] = "
                          f"{self._column_cell(buffer, at, kind)}", note))
            cell = f"{fold}[{{}}{column}]"
            results += self._result(buffer, at, kind, cell, note)
        return [
            *repeated(f"for k in range({self.each}):", share),
            ("cuda.syncthreads()", ""),
            *guarded("ty == 0", self._each_column(results)),
        ]

    def _result(self, buffer: str, at: Expr, kind: str, cell: str, note: Note) -> list[Line]:
        dtype = self.buffers[buffer].dtype
        wide = self.adds_in(kind, dtype)
        total = self._local_name(f"{buffer}_acc")
        spelled = "bool({})" if wide is dtypes.bool else "{}"
        first, other = (spelled.format(cell.format(k)) for k in ("", f"s * {self.tile} + "))
        lines = [
            (f"{total} = {first}", note),
            *repeated(f"for s in range(1, {self.tall}):",
                      [(f"{total} = {spelling.combine(kind, total, other, wide)}", note)]),
        ]
        if self.form.shares == 1:
            done = spelling.cast(total, wide, dtype) if wide is not dtype else total
            return [*lines, (f"{self._cell(buffer, at)} = {done}", note)]
        part = self._lent(f"{buffer}_part", wide, self.partials.size)
        columns = self._factor(self.nest.columns)
        where = "int64(cuda.blockIdx.y)"
        if self.nest.batch_loops:
            where = f"({where} * {self._factor(self.nest.batches)} + batch)"
        column = self.spell_offset(self.nest.column)
        return [*lines, (f"{part}[{where} * {columns} + {column}] = {total}", note)]
