"""A nest of loops, printed as a CPU kernel: Python text that numba compiles and Python can run.

In: a `Nest`.  Out: a `Kernel`: its text, its parameters, its scratch.
A flat chain is one loop; rows are an outer loop with inner passes whose row stays in L1.  What does
not vary along the inner loop is printed before it. A loop that threads may share says `prange`.
Inductor prints C++ with explicit vector types and OpenMP; here LLVM vectorises.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .. import dtypes
from ..fusion.handlers import Name
from ..fusion.ir import Expr, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import SCANS, accumulator, addition, identity
from . import spelling
from .printer import (
    Kernel as Kernel,
    KernelPrinter,
    Line,
    Note,
    Parameter as Parameter,
    kernel_name,
    note_now,
    note_of,
    unique_name as unique_name,
)
from .sharing import if_worth_it, shareable


def print_kernel(nest: Nest, number: int = 0) -> Kernel:
    """The kernel of a nest, numbered within its program."""
    return CpuPrinter(nest).print(kernel_name(nest, number))


@dataclass
class Section:
    """The statements of one pass: what runs before its inner loop, inside it, and after it."""

    before: list[Line] = field(default_factory=list)
    inside: list[Line] = field(default_factory=list)
    after: list[Line] = field(default_factory=list)


class CpuPrinter(KernelPrinter):
    def __init__(self, nest: Nest) -> None:
        super().__init__(nest, [v for v, _ in nest.inner_loops])
        self.sharing = shareable(nest)
        self.section = Section()
        self.part = ""

    # ---- what the loop bodies say ----

    def put(self, varies: bool, text: str) -> None:
        (self.section.inside if varies else self.section.before).append((text, note_now()))

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.nest.homes[buffer] in ("memory", "row"):
            self.put(self.part != "row", f"{self._cell(buffer, at)} = {value}")
        self.held[buffer, at] = value

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        wide = accumulator(kind, value.dtype)
        more, name, dtype = self.to_dtype(value, wide), SCANS[kind], value.dtype
        if self.part == "rowscan":
            start, cell = self.section.before, self._name(f"{buffer}_acc")
            start.append((f"{cell} = {spelling.constant(identity(kind, wide), wide)}", note_now()))
        else:
            cell = self._total_cell(buffer, wide)
        total = self._local(spelling.spell(name, [cell, more], wide), wide)
        self.put(True, f"{cell} = {total}")
        if dtype is not wide:
            total = self._local(spelling.cast(total, wide, dtype), dtype)
        self.store(buffer, at, total)

    def _local(self, text: str, dtype: dtypes.dtype) -> Name:
        """A new variable of the inner loop."""
        name = Name(f"{self.prefix}{self.count}", dtype)
        self.count += 1
        self.varying.add(name)
        self.put(True, f"{name} = {text}")
        return name

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        cell = self._cell(buffer, at)
        if add:
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            text = spelling.spell(addition(value.dtype), [old, value], value.dtype)
        else:
            text = value
        self.put(self.part == "each", f"{cell} = {text}")

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        total_type = accumulator(kind, value.dtype)
        more = self.to_dtype(value, total_type)
        if self.part == "rowred":
            total = self._name(f"{buffer}_acc")
            start = spelling.constant(identity(kind, total_type), total_type)
            self.section.before.append((f"{total} = {start}", note_now()))
            self.put(True, f"{total} = {spelling.combine(kind, total, more, total_type)}")
            self._finish_row(buffer, at, Name(total, total_type), value.dtype)
        else:
            cell = self._column_cell(buffer, at, kind)
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            self.put(True, f"{cell} = {spelling.combine(kind, old, more, total_type)}")

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
        """Where a column adds up: in the output, or in scratch when it adds up in a wider type."""
        dtype = self.buffers[buffer].dtype
        total_type = accumulator(kind, dtype)
        if total_type is dtype:
            return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"
        return self._total_cell(buffer, total_type)

    def _total_cell(self, buffer: str, dtype: dtypes.dtype) -> str:
        totals = self._scratch(f"{buffer}_total", dtype)
        return f"{totals}[{self.spell_offset(self.nest.column)}]"

    def _finish_row(self, buffer: str, at: Expr, total: Name, dtype: dtypes.dtype) -> None:
        """After the inner loop: the sum in the result's type, stored if it leaves the nest."""
        done = total
        if total.dtype is not dtype:
            done = Name(f"{self.prefix}{self.count}", dtype)
            self.count += 1
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
        batch = [
            *self._start_columns(),
            *self._start_scans(),
            *self._loops(self.nest.row_loops, passes),
            *self._end_columns(),
        ]
        kernel = self.kernel(name, self._loops(self.nest.batch_loops, batch))
        source, sharing = if_worth_it(kernel.source, self.sharing)
        return replace(kernel, source=source, sharing=sharing)

    def _pass(self, part: Pass) -> list[Line]:
        self.section = section = Section()
        self.finished: dict[tuple[str, Expr], Name] = {}
        for nodes in (part.before, part.inside):
            for node in nodes:
                self.part = self.nest.parts[node]
                self.nest.run(node)
        self.next_pass()
        self.held.update(self.finished)
        loops = self._loops(self.nest.inner_loops, section.inside)
        return [*section.before, *loops, *section.after]

    def _columns(self) -> list[tuple[str, Expr, str, Note]]:
        """(buffer, offset, kind, note) of the reductions that end with the nest."""
        found = []
        for node in self.nest.nodes:
            if node.loops and self.nest.parts[node] == "colred":
                (at,) = node.stores[node.name]
                found.append(
                    (node.name, at.subs(self.nest.rename), node.loops.kind, note_of(node))
                )
        return found

    def _start_scans(self) -> list[Line]:
        """The totals that scans of columns begin with."""
        lines = []
        for node in self.nest.nodes:
            if self.nest.parts[node] == "colscan":
                kind = node.loops.kind
                wide = accumulator(kind, node.out.dtype)
                start = spelling.constant(identity(kind, wide), wide)
                text = f"{self._total_cell(node.name, wide)} = {start}"
                lines += self._loops(self.nest.inner_loops, [(text, note_of(node))])
        return lines

    def _start_columns(self) -> list[Line]:
        lines = []
        for buffer, at, kind, note in self._columns():
            total_type = accumulator(kind, self.buffers[buffer].dtype)
            zero = spelling.constant(identity(kind, total_type), total_type)
            lines += self._loops(
                self.nest.inner_loops, [(f"{self._column_cell(buffer, at, kind)} = {zero}", note)]
            )
        return lines

    def _end_columns(self) -> list[Line]:
        lines = []
        for buffer, at, kind, note in self._columns():
            dtype = self.buffers[buffer].dtype
            total_type = accumulator(kind, dtype)
            if total_type is not dtype:
                total = spelling.cast(self._column_cell(buffer, at, kind), total_type, dtype)
                lines += self._loops(
                    self.nest.inner_loops, [(f"{self._cell(buffer, at)} = {total}", note)]
                )
        return lines
