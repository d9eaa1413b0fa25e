"""Rows: a block, or a warp, has a row; reductions along it are done by its threads together.

    registers   a thread's elements lie T apart; what a pass loads or leaves stays in registers
    long rows   each pass reads again; what it leaves for a later one goes to scratch
    columns     blocks walk over rows; a thread adds up its own columns on the way, and each block
                leaves one row of partial results, which a second kernel adds up
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ... import dtypes
from ...fusion.deps import Node
from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...fusion.primitives import identity
from .. import spelling
from ..printer import Line
from .base import Held, guarded, repeated
from .device import WARP
from .fold import Partials, fold_kernel
from .form import (
    MORE_HALVES,
    PER_THREAD,
    Form,
    blocks_that_fit,
    elements_of,
    rows_a_batch,
)
from .kernel import GridKernel, ceil_div
from .side_by_side import LOADS, STORES, WIDEST
from .wide import WidePrinter, if_aligned


class RowsPrinter(WidePrinter):
    """`own`: the elements of a row that a thread holds in registers; 0 when it holds none."""

    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form, [var for var, _ in nest.inner_loops])
        columns = nest.columns.const
        long = form.name.startswith("long") or columns is None
        self.own = 0 if long else elements_of(columns or 0, form.threads, form.wide)
        self.partials = Partials(nest, form.shares) if "columns" in form.name else None
        alone = form.threads > WARP or self.partials or not nest.outer_loops
        self.rows_a_block = 1 if alone else form.rows
        self.wide = form.wide if self.own else 1
        self.single: set[str] = set()

    def kernels(self, name: str) -> list[GridKernel]:
        tid: Line = ("tid = int64(cuda.threadIdx.x)", "")
        if self.partials is None:
            inside = [line for k in range(len(self.nest.passes)) for line in self._pass_of(k)]
            lines = [tid, *self._one_row(inside)]
            grid = ceil_div(self.nest.rows, self.rows_a_block)
            block = (self.form.threads,) + (self.rows_a_block,) * (self.rows_a_block > 1)
            return [self.on_grid(name, lines, (grid,), block)]
        first = self.on_grid(name, [tid, *self._walks()], (self._blocks(),), (self.form.threads,))
        return [first, fold_kernel(self.nest, self.form, f"{name}_fold")]

    def _walks(self) -> list[Line]:
        """By words if all arrays allow it, else one by one. Had each load the choice, its registers
        would be needed before their time."""
        if self.wide == 1:
            return self._whole_walk()
        self.asks_once, self.asked = True, {}
        words, other = self._whole_walk(), RowsPrinter(self.nest, replace(self.form, wide=1))
        alone = other._whole_walk()
        self.declared = {**other.declared, **self.declared}
        self.brief |= other.brief
        return if_aligned(self.asked, words, alone)

    def _whole_walk(self) -> list[Line]:
        fixed = self._fixed()
        self.coming = Coming(self) if self.form.ahead else None
        inside = [line for k in range(len(self.nest.passes)) for line in self._pass_of(k)]
        return [*fixed, *self._walk(inside)]

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
        own = [words for name, text in self.declared.items() if name not in self.brief
               for words in _words_of(text)]
        wide = max((each for _, each in own), default=1)
        held = self.form.beside * wide + sum(n * each for n, each in own)
        held += MORE_HALVES * any(p.dtype.is_half for p in self.parameters.values())
        return blocks_that_fit(held, self.form.threads * self.rows_a_block)

    def _fixed(self) -> list[Line]:
        """What is the same in all rows of a walk, such as weights, is loaded once a block."""
        if not self.own or self.partials is None:
            return []
        outer, alone = {var for var, _ in self.nest.outer_loops}, self.wide == 1
        passes = self.nest.passes[:1] if alone else self.nest.passes
        return self.moved(self.held_of(
            [node for part in passes for node in part.inside], self.own, again=alone,
            which=lambda at: outer.isdisjoint(at.symbols)), LOADS)

    # ---- one pass ----

    def _pass_of(self, number: int) -> list[Line]:
        part = self.nest.passes[number]
        held = self._loaded_by(part.inside) if self.own else []
        self.results = []
        section = self.section_of(part)
        if not self.own:
            body = self._walk_row(section.inside)
        else:
            body = [*self.moved(held, LOADS), *self.one_by_one(section.inside),
                    *self.moved(self.results, STORES)]
        return [*section.before, *body, *self.after_loop()]

    def _loaded_by(self, nodes: Sequence[Node]) -> list[Held]:
        """What a pass loads into registers. What is read once, and changes with no row, is as good
        to load when it is needed, unless several elements of it are one load."""
        held = self.held_of(nodes, self.own, again=self.wide == 1)
        self.brief.update(h.array for h in held if not self._worth_keeping(h.buffer, h.at, nodes))
        return held

    def one_by_one(self, lines: Iterable[Line]) -> list[Line]:
        """The body for each element that the thread holds. Of many, only the last one has to be
        asked for: fifty questions need registers that the elements need."""
        body = list(lines)
        if not body:
            return []
        index, columns = self._index, self.nest.columns.const or 0
        whole, rest = divmod(columns, self.form.threads)
        turn = [*self.unflatten(self.nest.inner_loops, index), *body]
        if self.wide > 1 or self.own <= PER_THREAD or not rest:
            condition = "" if self._no_rest else f"{index} < {columns}"
            return repeated(f"for k in range({self.own}):", guarded(condition, turn))
        return [*repeated(f"for k in range({whole}):", turn),
                (f"k = {whole}", ""), *guarded(f"tid < {rest}", turn)]

    def in_words(self, lines: Iterable[Line]) -> list[Line]:
        wide = self.wide
        index = f"{wide} * (tid + {self.form.threads} * k)"
        turn = [*self.unflatten(self.nest.inner_loops, index), *lines]
        condition = "" if self._no_rest else f"{index} < {self.nest.columns.const}"
        return repeated(f"for k in range({self.own // wide}):", guarded(condition, turn))

    @property
    def _no_rest(self) -> bool:
        return self.own * self.form.threads == self.nest.columns.const

    @property
    def _index(self) -> str:
        """Where the k-th element of a thread lies in the row."""
        wide, threads = self.wide, self.form.threads
        if wide == 1:
            return f"tid + {threads} * k"
        return f"{wide} * (tid + {threads} * (k >> {wide.bit_length() - 1})) + (k & {wide - 1})"

    def numbers_of_a_row(self) -> list[Held]:
        """What is one number for a whole row, and is loaded, with a register of its own."""
        rows = {var for var, _ in self.nest.row_loops}
        nodes = [node for part in self.nest.passes for node in (*part.before, *part.inside)]
        found = [Held(buffer, at, self.register(buffer, at, f"{buffer}_r", 1), note)
                 for (buffer, at), note in self._read_by(nodes, along=False).items()
                 if rows & at.symbols]
        self.single = {each.array for each in found}
        self.brief |= self.single
        return found

    def kept(self, name: str) -> str:
        return f"{name}[0]" if name in self.single else super().kept(name)

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
        next_row = self.coming.taken(flat, rows) if self.coming else []
        turn = [*next_row, *self.unflatten(nest.row_loops, flat), *inside]
        if flat == "turn":
            turn = [(f"row = batch * {self._factor(rows_a_batch(nest))} + turn", ""), *turn]
        if any(node in nest.reductions and nest.parts[node] == "rowred" for node in nest.nodes):
            turn.append(("cuda.syncthreads()", "the slots are used again in the next row"))
        walk = repeated(f"for {flat} in range(share, {rows}, {self.form.shares}):", turn)
        first = self.coming.loaded("share", rows) if self.coming else []
        return [*where, *self._begin_columns(), *first, *walk, *self._leave_columns()]

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
        words: list[Line] = []
        alone: list[Line] = []
        column, wide = self.spell_offset(self.nest.column), self.wide
        for buffer, at, kind, note in self._columns() if self.own else ():
            dtype = self.adds_in(kind, self.buffers[buffer].dtype)
            part = self._lent(f"{buffer}_part", dtype, self.partials.size)
            array = self._column_cell(buffer, at, kind).removesuffix("[k]")
            place = f"{self._share_start} + {column}"
            if wide > 1 and dtype.itemsize * wide <= WIDEST:
                words.append((f"{STORES[wide]}({part}, {place}, {array}, {wide} * k)", note))
            else:
                alone.append((f"{part}[{place}] = {array}[k]", note))
        return [*(self.in_words(words) if words else []), *self.one_by_one(alone)]


class Coming:
    """The next row of a walk: its loads go ahead of the work on this one, which so need not wait
    for them. What they load into becomes this row's when its turn comes."""

    def __init__(self, printer: RowsPrinter) -> None:
        self.printer, self.own = printer, printer.own
        nodes = printer.nest.passes[0].inside
        rows = {var for var, _ in printer.nest.row_loops}
        now = printer.held_of(nodes, self.own, which=lambda at: not rows.isdisjoint(at.symbols))
        self.along = [(each, self._next(each, self.own)) for each in now]
        self.single = [(each, self._next(each, 1)) for each in printer.numbers_of_a_row()]

    def _next(self, held: Held, count: int) -> Held:
        dtype = self.printer.buffers[held.buffer].dtype
        name = self.printer.array(f"{held.array}_next", count, dtype)
        if count == 1:
            self.printer.brief.add(name)
        return replace(held, array=name)

    def loaded(self, row: str, rows: str) -> list[Line]:
        """The loads of a row, if it is one."""
        printer = self.printer
        found = [(f"{coming.array}[0] = {printer._cell(coming.buffer, coming.at)}", coming.note)
                 for _, coming in self.single]
        along = printer.moved([coming for _, coming in self.along], LOADS)
        at = printer.unflatten(printer.nest.row_loops, "ahead")
        return [(f"ahead = {row}", ""), *guarded(f"ahead < {rows}", [*at, *found, *along])]

    def taken(self, row: str, rows: str) -> list[Line]:
        """The row that was loaded is this one, and the next one is loaded."""
        taken = [(f"{now.array}[k] = {coming.array}[k]", now.note) for now, coming in self.along]
        single = [(f"{now.array}[0] = {coming.array}[0]", now.note) for now, coming in self.single]
        return [*single, *self.printer.one_by_one(taken),
                *self.loaded(f"{row} + {self.printer.form.shares}", rows)]


def _words_of(declaration: str) -> list[tuple[int, int]]:
    """(elements, registers of 32 bits for each) of a thread's own array; none of a shared one."""
    found = re.fullmatch(r"\w+ = cuda\.local\.array\((\d+), \w+?(64)?(?:32|8)?\)", declaration)
    return [(int(found[1]), 2 if found[2] else 1)] if found else []
