"""A nest of loops, printed as a CPU kernel: Python text that numba compiles and Python can run.

In: a `Nest`.  Out: a `Kernel`: its text, its parameters, its scratch.
A flat chain is one loop; rows are an outer loop with inner passes whose row stays in L1.  What does
not vary along the inner loop is printed before it. A loop that threads may share says `prange`.
float32 adds up in float64; in rows whose loop also evaluates exp or its like, in float32, in blocks
so short that this shows less than what is added. For a loop with both types in it gets vectors of
as many elements as fit of the wider one: softmax took 1.8 times as long.
Inductor prints C++ with explicit vector types and OpenMP; here LLVM vectorises.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .. import dtypes
from ..fusion.handlers import Name
from ..fusion.ir import Expr, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import (
    PRIMITIVES,
    SCANS,
    SUMEXP,
    accumulator,
    addition,
    identity,
    lowest,
)
from . import spelling
from .printer import (
    Kernel as Kernel,
    KernelPrinter,
    Line,
    Parameter as Parameter,
    indented,
    note_now,
    note_of,
    unique_name as unique_name,
)
from .sharing import if_worth_it, shareable

BLOCK = 1024  # values that add up in float32


@dataclass
class Section:
    """The statements of one pass: what runs before its inner loop, inside it, and after it. With
    `blocks`, statements around each block of its turns, the inner loop is cut into those."""

    before: list[Line] = field(default_factory=list)
    inside: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)
    blocks: list[tuple[list[Line], list[Line]]] = field(default_factory=list)
    totals: dict[tuple[str, str], Name] = field(default_factory=dict)  # of a value, by kind
    dear: bool = False  # is something evaluated inside that takes long?


class CpuPrinter(KernelPrinter):
    def __init__(self, nest: Nest) -> None:
        super().__init__(nest, [v for v, _ in nest.inner_loops])
        self.sharing = shareable(nest)
        self.rename, self.section = nest.rename, Section()

    # ---- what the loop bodies say ----

    def put(self, varies: bool, text: str) -> None:
        (self.section.inside if varies else self.section.before).append((text, note_now()))

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.nest.homes[buffer] in ("memory", "row"):
            self.put(self.part not in ("row", "last"), f"{self._cell(buffer, at)} = {value}")
        self.held[buffer, at] = value

    def op(self, name: str, *args: Name) -> Name:
        found = super().op(name, *args)
        self.section.dear |= PRIMITIVES[name].heavy and found in self.varying
        return found

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        wide = accumulator(kind, value.dtype)
        more, name, dtype = self.to_dtype(value, wide), SCANS[kind], value.dtype
        if self.part == "rowscan":
            cell = self._local_name(f"{buffer}_acc")
            self.section.before.append(_start(cell, kind, wide, note_now()))
        else:
            cell = self._total_cell(buffer, wide)
        total = self.variable(spelling.spell(name, [cell, more], wide), wide)
        self.put(True, f"{cell} = {total}")
        if dtype is not wide:
            total = self.variable(spelling.cast(total, wide, dtype), dtype)
        self.store(buffer, at, total)

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        cell = self._cell(buffer, at)
        if add:
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            text = spelling.spell(addition(value.dtype), [old, value], value.dtype)
        else:
            text = value
        self.put(self.part == "each", f"{cell} = {text}")

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        if self.part == "rowred":
            self._reduce_row(buffer, at, kind, value)
            return
        wide = self.adds_in(kind, value.dtype)
        if self.part == "fold":
            cell = old = self._local_name(f"{buffer}_acc")
        else:
            cell = self._column_cell(buffer, at, kind)
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
        if kind == SUMEXP:
            return self.rescale(self._top(buffer), Name(cell, wide), value)
        more = self.to_dtype(value, wide)
        self.put(self.part != "fold", f"{cell} = {spelling.combine(kind, old, more, wide)}")

    def adds_in(self, kind: str, dtype: dtypes.dtype) -> dtypes.dtype:
        """The type that a reduction adds up in."""
        return accumulator(kind, dtype)

    def _reduce_row(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        """The total of one value is added up once, whoever wants it."""
        section, dtype = self.section, value.dtype
        if (kind, value) not in section.totals:
            total, wide = self._local_name(f"{buffer}_acc"), accumulator(kind, dtype)
            if kind == SUMEXP:
                self._rescale_by_blocks(buffer, Name(total, wide), value)
            elif wide is not dtype and section.dear and len(self.nest.inner_loops) == 1:
                wide = self._add_in_blocks(buffer, kind, value)
            else:
                more = self.to_dtype(value, wide)
                self.put(True, f"{total} = {spelling.combine(kind, total, more, wide)}")
            self.begin_total(_start(total, kind, wide, note_now()))
            section.totals[kind, value] = Name(total, wide)
        self._finish_row(buffer, at, section.totals[kind, value], dtype)

    def begin_total(self, start: Line) -> None:
        """The total of a row begins."""
        self.section.before.append(start)

    def _add_in_blocks(self, buffer: str, kind: str, value: Name) -> dtypes.dtype:
        """The type that the total then has."""
        total, dtype = self._local_name(f"{buffer}_acc"), value.dtype
        part = total if self._one_block else self._local_name(f"{buffer}_part")
        self.put(True, f"{part} = {spelling.combine(kind, part, value, dtype)}")
        if self._one_block:
            return dtype
        wide = accumulator(kind, dtype)
        found = spelling.combine(kind, total, spelling.cast(part, dtype, wide), wide)
        start, end = _start(part, kind, dtype, note_now()), (f"{total} = {found}", note_now())
        self.section.blocks.append(([start], [end]))
        return wide

    @property
    def _one_block(self) -> bool:
        return (self.nest.columns.const or BLOCK + 1) <= BLOCK

    def _rescale_by_blocks(self, buffer: str, total: Name, value: Name) -> None:
        """The largest of a block, then its powers, in vectors both; what was added up before is
        rescaled once a block. The values wait in a strip of the kernel's own."""
        top, dtype, wide, note = self._top(buffer), value.dtype, total.dtype, note_now()
        self.section.before.append(_start_top(top, dtype, note))
        array = next((p.name for p in self.parameters.values()
                      if p.dtype is dtype and not p.number), None)
        if array is None:  # whose type the strip would have
            return self.rescale(top, total, value)
        strip, part, before = (self._local_name(f"{buffer}_{n}")
                               for n in ("strip", "part", "before"))
        self.section.before.append((f"{strip} = strip_of({array})", note))
        cell = f"{strip}[{self._place_in_block}]"
        self.put(True, f"{top} = rmax({top}, {value})")
        self.put(True, f"{cell} = {value}")
        gap, power = self._next(dtype), self._next(dtype)
        powers = [f"{gap} = {cell} - {top}", f"{power} = exp({gap})",
                  f"{part} = {spelling.combine('sum', part, power, dtype)}"]
        apart = " - ".join(spelling.cast(each, dtype, wide) for each in (before, top))
        starts: list[Line] = [(f"{before} = {top}", note)]
        ends = [_start(part, SUMEXP, dtype, note),
                *self._over_block([(text, note) for text in powers]),
                (f"{total} = {total} * exp({apart}) + {spelling.cast(part, dtype, wide)}", note)]
        if self._one_block:
            self.section.before += starts
            self.section.after += ends
        else:
            self.section.blocks.append((starts, ends))

    def _top(self, buffer: str) -> str:
        """The largest of the values whose powers are added up."""
        return self._local_name(f"{buffer}_top")

    def _next(self, dtype: dtypes.dtype) -> Name:
        self.count += 1
        return Name(f"{self.prefix}{self.count - 1}", dtype)

    # ---- where values live ----

    def _cell(self, buffer: str, at: Expr) -> str:
        """An element: of a storage, of the output row that is borrowed, or of a row of scratch."""
        if self.nest.homes.get(buffer) != "row":
            return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"
        if buffer in self.nest.lends:
            host = self.names[self.nest.storage(self.nest.lends[buffer])]
            return f"{host}[{self.spell_offset(at)}]"
        row = self._scratch(f"{buffer}_row", self.buffers[buffer].dtype)
        return f"{row}[{self.spell_offset(self.nest.column)}]"

    def _column_cell(self, buffer: str, at: Expr, kind: str) -> str:
        """Where a column adds up: in the output, or in scratch (see `Nest.adds_up_apart`)."""
        if self.nest.adds_up_apart(self.nest.group.made[buffer]):
            return self._total_cell(buffer, accumulator(kind, self.buffers[buffer].dtype))
        return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"

    def _total_cell(self, buffer: str, dtype: dtypes.dtype) -> str:
        totals = self._scratch(f"{buffer}_total", dtype)
        return f"{totals}[{self.spell_offset(self.nest.column)}]"

    def _finish_row(self, buffer: str, at: Expr, total: Name, dtype: dtypes.dtype) -> None:
        """After the inner loop: the sum in the result's type, stored if it leaves the nest."""
        done = total
        if total.dtype is not dtype:
            done = self._next(dtype)
            self.section.after.append(
                (f"{done} = {spelling.cast(total, total.dtype, dtype)}", note_now())
            )
        if self.nest.homes[buffer] == "memory":
            self.section.after.append((f"{self._cell(buffer, at)} = {done}", note_now()))
        self.finished[buffer, at] = done

    # ---- the text ----

    def print(self, name: str) -> Kernel:
        with using(self):
            passes = [line for part in self.nest.passes for line in self._pass(part)]
            columns, last = self._end_columns(), self._end_folds()
        batch = [
            *self._start_columns(),
            *self._start_scans(),
            *self._loops(self.nest.row_loops, passes),
            *columns,
        ]
        lines = [*self._start_folds(), *self._loops(self.nest.batch_loops, batch), *last]
        kernel = self.kernel(name, lines)
        source, sharing = if_worth_it(kernel.source, self.sharing)
        return replace(kernel, source=source, sharing=sharing)

    def _pass(self, part: Pass) -> list[Line]:
        self.section = section = Section()
        self.finished: dict[tuple[str, Expr], Name] = {}
        for nodes in (part.before, part.inside):
            for node in nodes:
                self.run(node)
        self.next_pass()
        self.held.update(self.finished)
        loops = self._by_blocks(section) or self._loops(self.nest.inner_loops, section.inside)
        return self._around(section, loops)

    def _around(self, section: Section, loops: list[Line]) -> list[Line]:
        """A pass: what runs before its loops, and after them."""
        return [*section.before, *loops, *section.after]

    def _by_blocks(self, section: Section) -> list[Line]:
        """The last inner loop, block by block."""
        if not section.blocks:
            return []
        *others, (_, size) = self.nest.inner_loops
        blocks = f"({self.spell_offset(size)} + {BLOCK - 1}) // {BLOCK}"
        if size.const is not None:
            blocks = str(-(-size.const // BLOCK))
        starts, ends = ([line for lines in side for line in lines]
                        for side in zip(*section.blocks))
        turns = [*starts, *self._over_block(section.inside), *ends]
        return self._loops(others, [(self.head_of_blocks(blocks), ""), *indented(turns, 1)])

    def head_of_blocks(self, count: str) -> str:
        """The first line of the loop over blocks."""
        return f"for {self._block} in range({count}):"

    def _over_block(self, body: list[Line]) -> list[Line]:
        """The turns of a block."""
        if self._one_block:
            return self._loops(self.nest.inner_loops, body)
        variable, size = self.nest.inner_loops[-1]
        end = f"{BLOCK} * {self._block} + {BLOCK}"
        if size.const is None or size.const % BLOCK:
            end = f"min({end}, {self.spell_offset(size)})"
        head = f"for {variable} in range({BLOCK} * {self._block}, {end}):"
        return [(head, ""), *indented(body, 1)]

    @property
    def _place_in_block(self) -> str:
        if self._one_block:
            return self.spell_offset(self.nest.column)
        return f"{self.nest.inner_loops[-1][0]} - {BLOCK} * {self._block}"

    @property
    def _block(self) -> str:
        """The number of a block."""
        return self._local_name("block")

    # ---- what is complete once the last row is done ----

    def _start_scans(self) -> list[Line]:
        """The totals that scans of columns begin with."""
        lines = []
        for node in self.nest.nodes:
            if self.nest.parts[node] == "colscan":
                kind = node.loops.kind
                wide = accumulator(kind, node.out.dtype)
                line = _start(self._total_cell(node.name, wide), kind, wide, note_of(node))
                lines += self._loops(self.nest.inner_loops, [line])
        return lines

    def _start_columns(self) -> list[Line]:
        lines = []
        for node, at in self.over_rows("colred"):
            kind = node.loops.kind
            cell, wide = self._column_cell(node.name, at, kind), accumulator(kind, node.out.dtype)
            lines += self._loops(
                self.nest.inner_loops, [_start(cell, kind, wide, note_of(node))])
        return lines

    def _start_folds(self) -> list[Line]:
        lines = []
        for node, _ in self.over_rows("fold"):
            kind, dtype, note = node.loops.kind, node.out.dtype, note_of(node)
            total = self._local_name(f"{node.name}_acc")
            lines.append(_start(total, kind, accumulator(kind, dtype), note))
            if kind == SUMEXP:
                lines.append(_start_top(self._top(node.name), dtype, note))
        return lines

    def _end_columns(self) -> list[Line]:
        """Columns in the result's type, stored where they leave the nest, and worked on."""
        self.section = section = Section()
        self.end("colred", "column", lambda n, at: self._column_cell(n.name, at, n.loops.kind))
        return [*section.before, *self._loops(self.nest.inner_loops, section.inside)]

    def _end_folds(self) -> list[Line]:
        self.section = section = Section()
        self.end("fold", "last", lambda n, _: self._local_name(f"{n.name}_acc"))
        return section.before


def _start(cell: str, kind: str, dtype: dtypes.dtype, note: str) -> Line:
    """A total begins."""
    return f"{cell} = {spelling.constant(identity(kind, dtype), dtype)}", note


def _start_top(top: str, dtype: dtypes.dtype, note: str) -> Line:
    return f"{top} = {spelling.constant(lowest(dtype), dtype)}", note
