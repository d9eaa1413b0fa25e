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

from collections.abc import Callable

from .. import dtypes
from ..fusion.deps import Node
from ..fusion.handlers import Name
from ..fusion.ir import Expr, product, using
from ..fusion.nest import Nest, Pass
from ..fusion.primitives import SCANS, SUMEXP, accumulator, addition, identity, lowest
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
        self.before, self.inside, self.after = list[Line](), list[Line](), list[Line]()

    # ---- what the loop bodies say ----

    def put(self, varies: bool, text: str) -> None:
        (self.inside if varies else self.before).append((text, note_now()))

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.nest.homes[buffer] in ("memory", "row"):
            self.put(self.part not in ("row", "last"), f"{self._cell(buffer, at)} = {value}")
        self.held[buffer, at] = value

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        """A row's total is a variable, those of columns lie in memory."""
        wide = accumulator(kind, value.dtype)
        if self.part != "rowred":
            fold = self.part == "fold"
            cell = self._local_name(buffer) if fold else self._total_cell(buffer, at, wide)
            return self._take_in(buffer, kind, Name(cell, wide), value)
        total = Name(self._local_name(f"{buffer}_total"), wide)
        self.before += self._begin(buffer, kind, total, value.dtype, note_now())
        self._take_in(buffer, kind, total, value)
        done = total
        if wide is not value.dtype:
            done = self._next(value.dtype)
            text = spelling.cast(total, wide, value.dtype)
            self.after.append((f"{done} = {text}", note_now()))
        if self.nest.homes[buffer] == "memory":
            self.after.append((f"{self._cell(buffer, at)} = {done}", note_now()))
        self.finished[buffer, at] = done

    def _begin(
        self, buffer: str, kind: str, total: str, dtype: dtypes.dtype, note: str
    ) -> list[Line]:
        """A total of values of a type begins."""
        lines = [(f"{total} = {_start(kind, accumulator(kind, dtype))}", note)]
        if kind == SUMEXP:
            top = self._local_name(f"{buffer}_top")
            lines.insert(0, (f"{top} = {spelling.constant(lowest(dtype), dtype)}", note))
        return lines

    def _take_in(self, buffer: str, kind: str, total: Name, value: Name) -> None:
        if kind == SUMEXP:
            return self.rescale(self._local_name(f"{buffer}_top"), total, value)
        more, wide = self.to_dtype(value, total.dtype), total.dtype
        in_memory = self.part == "colred" and wide is dtypes.bool
        old = f"bool({total})" if in_memory else total
        text = spelling.combine(kind, old, more, wide, in_order=True)
        self.put(self.part != "fold", f"{total} = {text}")

    def scan(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        wide = accumulator(kind, value.dtype)
        more = self.to_dtype(value, wide)
        if self.part == "rowscan":
            total = self._local_name(f"{buffer}_total")
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
        """Where a column adds up: in the output or nearby, and where a scan down the columns is."""
        node = self.nest.group.made[buffer]
        if not node.is_scan and not self.nest.adds_up_apart(node):
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
            ends = self._end("colred", "column", self._column_total)
            last = self._end("fold", "last", lambda n, at: self._local_name(n.name))
        batch = self.nest.group.batch
        lines = [*self._starts(), *self._loops(self.outer[batch:], rows), *ends]
        starts = [line for node, _ in self.over_rows("fold") for line in self._begin(
            node.name, node.loops.kind, self._local_name(node.name), node.out.dtype, note_of(node))]
        return self.kernel(name, [*starts, *self._loops(self.outer[:batch], lines), *last])

    def _pass(self, part: Pass) -> list[Line]:
        self.before, self.inside, self.after = [], [], []
        self.finished: dict[tuple[str, Expr], Name] = {}
        for node in (*part.before, *part.inside):
            self.run(node)
        self.next_pass()
        self.held.update(self.finished)
        return [*self.before, *self._loops(self.inner, self.inside), *self.after]

    def _starts(self) -> list[Line]:
        """Totals of columns begin before the rows."""
        starts = list[Line]()
        for node, at in (*self.over_rows("colred"), *self.over_rows("colscan")):
            wide = accumulator(node.loops.kind, node.out.dtype)
            cell = self._total_cell(node.name, at, wide)
            starts += self._loops(self.inner, [(f"{cell} = {_start_of(node)}", note_of(node))])
        return starts

    def _column_total(self, node: Node, at: Expr) -> str:
        return self._total_cell(node.name, at, accumulator(node.loops.kind, node.out.dtype))

    def _end(self, made: str, part: str, total: Callable[[Node, Expr], str]) -> list[Line]:
        self.before, self.inside = [], []
        self.end(made, part, total)
        return [*self.before, *self._loops(self.inner, self.inside)]


def _start(kind: str, dtype: dtypes.dtype) -> str:
    return spelling.constant(identity(kind, dtype), dtype)


def _start_of(node: Node) -> str:
    return _start(node.loops.kind, accumulator(node.loops.kind, node.out.dtype))
