"""Rows: a block, or a warp, has a row; reductions along it are done by its threads together.

    registers   a thread's elements lie T apart; what a pass loads or leaves stays in registers
    long rows   each pass reads again; what it leaves for a later one goes to scratch
    columns     blocks walk over rows; a thread adds up its own columns on the way, and each block
                leaves one row of partial results, which a second kernel adds up
"""

from __future__ import annotations

import re

from ... import dtypes
from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...fusion.primitives import identity
from .. import spelling
from ..printer import Line
from .base import GridPrinter, guarded, repeated
from .device import WARP
from .fold import Partials, fold_kernel
from .form import PER_THREAD, Form, rows_a_batch
from .kernel import GridKernel, ceil_div

# A multiprocessor is four parts with registers of their own, and takes 32 blocks.
PARTS, REGISTERS, BLOCKS = 4, 16384, 32
HALVES = 8  # further ones where words become numbers and back


class RowsPrinter(GridPrinter):
    """`own`: the elements of a row that a thread holds in registers; 0 when it holds none."""

    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form, [var for var, _ in nest.inner_loops])
        columns = nest.columns.const
        long = form.name.startswith("long") or columns is None
        self.own = 0 if long else max(1, -(-(columns or 0) // form.threads))
        self.partials = Partials(nest, form.shares) if "columns" in form.name else None
        alone = form.threads > WARP or self.partials or not nest.outer_loops
        self.rows_a_block = 1 if alone else form.rows

    def kernels(self, name: str) -> list[GridKernel]:
        fixed = self._fixed()
        inside = [line for k in range(len(self.nest.passes)) for line in self._pass_of(k)]
        if self.partials is None:
            lines = [("tid = int64(cuda.threadIdx.x)", ""), *self._one_row(inside)]
            grid = ceil_div(self.nest.rows, self.rows_a_block)
            block = (self.form.threads,) + (self.rows_a_block,) * (self.rows_a_block > 1)
            return [self.on_grid(name, lines, (grid,), block)]
        lines = [("tid = int64(cuda.threadIdx.x)", ""), *fixed, *self._walk(inside)]
        first = self.on_grid(name, lines, (self._blocks(),), (self.form.threads,))
        return [first, fold_kernel(self.nest, self.form, f"{name}_fold")]

    def _one_row(self, inside: list[Line]) -> list[Line]:
        if not self.nest.outer_loops:
            return inside
        block = "int64(cuda.blockIdx.x)"
        if self.rows_a_block > 1:
            block += f" * {self.rows_a_block} + cuda.threadIdx.y"
        variables = self.unflatten(self.nest.outer_loops, "row")
        whole = self.rows_a_block == 1 and self.nest.rows.const != 0
        condition = "" if whole else f"row < {self.spell_offset(self.nest.rows)}"
        return [(f"row = {block}", ""), *guarded(condition, [*variables, *inside])]

    @property
    def resident(self) -> int:
        """Blocks that find room for what their threads hold, doubles in two registers each, and
        little more. Left to itself, the compiler takes some registers more, and the blocks that
        would hide each other's waiting for memory are one fewer."""
        if not self.own or not self.form.beside:
            return 1
        own = [words for text in self.declared.values() for words in _words_of(text)]
        wide = max((each for _, each in own), default=1)
        held = self.form.beside * wide + sum(n * each for n, each in own)
        held += HALVES * any(p.dtype.is_half for p in self.parameters.values())
        registers = -(-held // 8) * 8
        warps = self.form.threads * self.rows_a_block // WARP
        return max(1, min(BLOCKS, PARTS * (REGISTERS // (WARP * registers)) // warps))

    def _fixed(self) -> list[Line]:
        """What is the same in all rows of a walk, such as weights, is loaded once a block."""
        if not self.own or self.partials is None:
            return []
        outer = {var for var, _ in self.nest.outer_loops}
        return self._held(self.loads(
            self.nest.passes[0].inside, self.own, again=True,
            which=lambda at: outer.isdisjoint(at.symbols)))

    # ---- one pass ----

    def _pass_of(self, number: int) -> list[Line]:
        part = self.nest.passes[number]
        loads = self.loads(part.inside, self.own, again=True) if self.own else []
        section = self.section_of(part)
        if not self.own:
            body = self._walk_row(section.inside)
        else:
            body = [*self._held(loads), *self._held(section.inside)]
        return [*section.before, *body, *self.after_loop()]

    def _held(self, body: list[Line]) -> list[Line]:
        """The body for each element that the thread holds. Of many, only the last one has to be
        asked for: fifty questions need registers that the elements need."""
        if not body:
            return []
        index, columns = f"tid + {self.form.threads} * k", self.nest.columns.const or 0
        whole, rest = divmod(columns, self.form.threads)
        turn = [*self.unflatten(self.nest.inner_loops, index), *body]
        if not rest or self.own <= PER_THREAD:
            condition = f"{index} < {columns}" if rest else ""
            return repeated(f"for k in range({self.own}):", guarded(condition, turn))
        return [*repeated(f"for k in range({whole}):", turn),
                (f"k = {whole}", ""), *guarded(f"tid < {rest}", turn)]

    def _walk_row(self, body: list[Line]) -> list[Line]:
        if not body:
            return []
        at = self.unflatten(self.nest.inner_loops, "c")
        bound = self.spell_offset(self.nest.columns)
        return repeated(f"for c in range(tid, {bound}, {self.form.threads}):", [*at, *body])

    def keep(self, buffer: str, at: Expr, value: Name) -> None:
        if not self.own:
            return super().keep(buffer, at, value)
        dead = self._dead(buffer, value.dtype)
        name = dead or self.array(f"{buffer}_r", self.own, value.dtype)
        self.registers[buffer, at] = name
        self.put(True, f"{name}[k] = {value}")

    def _dead(self, buffer: str, dtype: dtypes.dtype) -> str | None:
        """Registers of a value that is read for the last time before this one is made: without
        them a row of 50 thousand columns is spilled to memory."""
        when, node = self.nest.when, self.nest.group.made[buffer]
        for (other, at), name in self.registers.items():
            readers = [n for n in self.nest.nodes if other in n.loads]
            done = all((when[n], n.order) <= (when[node], node.order) for n in readers)
            if done and self.buffers[other].dtype is dtype:
                del self.registers[other, at]
                return name
        return None

    def _cell(self, buffer: str, at: Expr) -> str:
        borrowed = buffer in self.nest.lends
        if self.nest.homes.get(buffer) == "row" and not borrowed:
            return self._scratch_cell(buffer, at)
        return super()._cell(buffer, at)

    # ---- columns beside rows ----

    def _column_cell(self, buffer: str, at: Expr, kind: str) -> str:
        """Where a thread adds up a column of its own."""
        wide = self.adds_in(kind, self.buffers[buffer].dtype)
        if self.own:
            return f"{self.array(f'{buffer}_p', self.own, wide)}[k]"
        assert self.partials is not None
        part = self._lent(f"{buffer}_part", wide, self.partials.size)
        return f"{part}[{self._share_start} + {self.spell_offset(self.nest.column)}]"

    @property
    def _share_start(self) -> str:
        """Where the row of partial results of this block begins."""
        columns = self._factor(self.nest.columns)
        if not self.nest.batch_loops:
            return f"share * {columns}"
        return f"(share * {self._factor(self.nest.batches)} + batch) * {columns}"

    def _blocks(self) -> str:
        batches = self.nest.batches
        if batches.const is not None:
            return str(batches.const * self.form.shares)
        return f"({batches}) * {self.form.shares}"

    def _walk(self, inside: list[Line]) -> list[Line]:
        """The rows of a block, one after the other, then its partial results."""
        nest, block = self.nest, "int64(cuda.blockIdx.x)"
        where = [(f"share = {block}", "")]
        if nest.batch_loops:
            where = [(f"share = {block} % {self.form.shares}", ""),
                     (f"batch = {block} // {self.form.shares}", ""),
                     *self.unflatten(nest.batch_loops, "batch")]
        rows = self.spell_offset(rows_a_batch(nest))
        flat = "row" if self.own or not nest.batch_loops else "turn"
        turn = [*self.unflatten(nest.row_loops, flat), *inside]
        if flat == "turn":
            turn = [(f"row = batch * {self._factor(rows_a_batch(nest))} + turn", ""), *turn]
        if any(node in nest.reductions and nest.parts[node] == "rowred" for node in nest.nodes):
            turn.append(("cuda.syncthreads()", "the slots are used again in the next row"))
        walk = repeated(f"for {flat} in range(share, {rows}, {self.form.shares}):", turn)
        return [*where, *self._begin_columns(), *walk, *self._leave_columns()]

    def _begin_columns(self) -> list[Line]:
        lines = []
        for buffer, at, kind, note in self._columns():
            wide = self.adds_in(kind, self.buffers[buffer].dtype)
            start = spelling.constant(identity(kind, wide), wide)
            text = f"{self._column_cell(buffer, at, kind)} = {start}"
            if self.own:
                lines += repeated(f"for k in range({self.own}):", [(text, note)])
            else:
                lines += self._walk_row([(text, note)])
        return lines

    def _leave_columns(self) -> list[Line]:
        """Registers go where the second kernel finds them."""
        assert self.partials is not None
        lines: list[Line] = []
        for buffer, at, kind, note in self._columns() if self.own else ():
            wide = self.adds_in(kind, self.buffers[buffer].dtype)
            part = self._lent(f"{buffer}_part", wide, self.partials.size)
            column = self.spell_offset(self.nest.column)
            lines += [(f"{part}[{self._share_start} + {column}] = "
                       f"{self._column_cell(buffer, at, kind)}", note)]
        return self._held(lines)


def _words_of(declaration: str) -> list[tuple[int, int]]:
    """(elements, registers of 32 bits for each) of a thread's own array; none of a shared one."""
    found = re.fullmatch(r"\w+ = cuda\.local\.array\((\d+), \w+?(64)?(?:32|8)?\)", declaration)
    return [(int(found[1]), 2 if found[2] else 1)] if found else []
