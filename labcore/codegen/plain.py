"""A nest of loops as a person would write them: the form of a kernel that is for reading.

In: a `Nest`.  Out: a `Kernel` that computes the same, from the same arrays, in the same passes.
What the printer for the machine does for speed is left out: a loop for each axis of the tensors,
none made of two; one element a turn; sums add up in the order of the loops; a row that a later pass
needs has memory of its own.
Invariant: it runs, as Python and compiled (`compile(..., options={"plain_kernels": True})`), and
gives what the other gives: the same bits, but for the order of sums.
Inductor prints scalar C++ only where it cannot print vectors, and has no form for readers.
"""

from __future__ import annotations

from .. import dtypes
from ..fusion.handlers import Name
from ..fusion.ir import Expr, product, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import SCANS, accumulator, addition, identity
from . import spelling
from .printer import Kernel, KernelPrinter, Line, kernel_name, note_now, note_of

Loop = tuple[str, Expr]


def print_plain(nest: Nest, number: int = 0) -> Kernel:
    """The plain form of a nest's kernel, under the kernel's name."""
    return _PlainPrinter(nest).print(kernel_name(nest, number))


class _PlainPrinter(KernelPrinter):
    """`before`, `inside` and `after` are the statements of the present pass, about its inner loops.
    """

    def __init__(self, nest: Nest) -> None:
        axes = [(f"i{k}", size) for k, size in enumerate(nest.outer + nest.inner)]
        cut = len(nest.outer)
        self.outer, self.inner = axes[:cut], axes[cut:]
        super().__init__(nest, [var for var, _ in self.inner])
        self.part = ""
        self.before, self.inside, self.after = list[Line](), list[Line](), list[Line]()

    # ---- what the loop bodies say ----

    def put(self, varies: bool, text: str) -> None:
        (self.inside if varies else self.before).append((text, note_now()))

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.nest.homes[buffer] in ("memory", "row"):
            self.put(self.part != "row", f"{self._cell(buffer, at)} = {value}")
        self.held[buffer, at] = value

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        """A row's total is a variable, those of columns lie in memory."""
        wide = accumulator(kind, value.dtype)
        more = self.to_dtype(value, wide)
        if self.part != "rowred":
            cell = self._total_cell(buffer, at, wide)
            old = f"bool({cell})" if wide is dtypes.bool else cell
            self.put(True, f"{cell} = {spelling.combine(kind, old, more, wide, in_order=True)}")
            return
        total = Name(self._name(f"{buffer}_total"), wide)
        self.before.append((f"{total} = {_start(kind, wide)}", note_now()))
        self.put(True, f"{total} = {spelling.combine(kind, total, more, wide, in_order=True)}")
        done = total
        if wide is not value.dtype:
            done = self._next(value.dtype)
            text = spelling.cast(total, wide, value.dtype)
            self.after.append((f"{done} = {text}", note_now()))
        if self.nest.homes[buffer] == "memory":
            self.after.append((f"{self._cell(buffer, at)} = {done}", note_now()))
        self.finished[buffer, at] = done

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        wide = accumulator(kind, value.dtype)
        more = self.to_dtype(value, wide)
        if self.part == "rowscan":
            total = self._name(f"{buffer}_total")
            self.before.append((f"{total} = {_start(kind, wide)}", note_now()))
        else:
            total = self._total_cell(buffer, at, wide)
        sofar = self._inside(spelling.spell(SCANS[kind], [total, more], wide), wide)
        self.put(True, f"{total} = {sofar}")
        if wide is not value.dtype:
            sofar = self._inside(spelling.cast(sofar, wide, value.dtype), value.dtype)
        self.store(buffer, at, sofar)

    def scatter(self, buffer: str, at: Expr, value: Name, add: bool) -> None:
        cell = self._cell(buffer, at)
        text: str = value
        if add:
            old = f"bool({cell})" if value.dtype is dtypes.bool else cell
            text = spelling.spell(addition(value.dtype), [old, value], value.dtype)
        self.put(self.part == "each", f"{cell} = {text}")

    def _next(self, dtype: dtypes.dtype) -> Name:
        self.count += 1
        return Name(f"{self.prefix}{self.count - 1}", dtype)

    def _inside(self, text: str, dtype: dtypes.dtype) -> Name:
        """A new variable of the inner loop."""
        name = self._next(dtype)
        self.varying.add(name)
        self.put(True, f"{name} = {text}")
        return name

    # ---- where values live ----

    def _cell(self, buffer: str, at: Expr) -> str:
        if self.nest.homes.get(buffer) == "row":
            row = self._scratch(f"{buffer}_row", self.buffers[buffer].dtype)
            return f"{row}[{self.spell_offset(self._column())}]"
        return f"{self.names[self.nest.storage(buffer)]}[{self.spell_offset(at)}]"

    def _total_cell(self, buffer: str, at: Expr, dtype: dtypes.dtype) -> str:
        """Where a column adds up: in the output, or nearby when it does so in a wider type, and
        where a scan down the columns is."""
        if dtype is self.buffers[buffer].dtype and self.part != "colscan":
            return self._cell(buffer, at)
        totals = self._scratch(f"{buffer}_total", dtype)
        return f"{totals}[{self.spell_offset(self._column())}]"

    def _column(self) -> Expr:
        """The position in a row."""
        sizes = [size for _, size in self.inner]
        steps = [Expr.of(var) * product(sizes[k + 1 :]) for k, (var, _) in enumerate(self.inner)]
        return sum(steps, Expr())

    # ---- the text ----

    def print(self, name: str) -> Kernel:
        with using(self):
            rows = [line for part in self.nest.passes for line in self._pass(part)]
        starts, ends = self._columns()
        batch = self.nest.group.batch
        lines = [*starts, *self._loops(self.outer[batch:], rows), *ends]
        return self.kernel(name, self._loops(self.outer[:batch], lines))

    def _pass(self, part: Pass) -> list[Line]:
        self.before, self.inside, self.after = [], [], []
        self.finished: dict[tuple[str, Expr], Name] = {}
        for node in (*part.before, *part.inside):
            self.part = self.nest.parts[node]
            node.loops.run(node.loops.vars)
        self.next_pass()
        self.held.update(self.finished)
        return [*self.before, *self._loops(self.inner, self.inside), *self.after]

    def _columns(self) -> tuple[list[Line], list[Line]]:
        """What stands before and after the rows: totals of columns begin, and are complete."""
        starts, ends = list[Line](), list[Line]()
        for node in self.nest.nodes:
            self.part = self.nest.parts[node]
            if self.part not in ("colred", "colscan"):
                continue
            kind, dtype, (at,) = node.loops.kind, node.out.dtype, node.stores[node.name]
            wide = accumulator(kind, dtype)
            cell, note = self._total_cell(node.name, at, wide), note_of(node)
            starts += self._loops(self.inner, [(f"{cell} = {_start(kind, wide)}", note)])
            if self.part == "colred" and wide is not dtype:
                done = f"{self._cell(node.name, at)} = {spelling.cast(cell, wide, dtype)}"
                ends += self._loops(self.inner, [(done, note)])
        return starts, ends


def _start(kind: str, dtype: dtypes.dtype) -> str:
    return spelling.constant(identity(kind, dtype), dtype)
