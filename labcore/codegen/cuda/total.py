"""One long row: all blocks share it, pass by pass, one kernel a pass.

Each block leaves one partial result of each reduction. The next kernel begins by adding them up,
in every block, which is cheap and spares a kernel; the last one, of one block, writes what is one
number for the whole row. What a pass leaves for a later one goes to memory.
"""

from __future__ import annotations

from ... import dtypes
from ...fusion.deps import Node
from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...fusion.primitives import SUMEXP
from .. import spelling
from ..cpu import Section
from ..printer import Line
from .base import GridPrinter, guarded, repeated
from .form import DEEP, EACH, THREADS, Form
from .kernel import GridKernel

FEW = 2  # arrays of which a thread has many elements in registers


class TotalPrinter(GridPrinter):
    """The kernel of pass `turn`; one number past the last is the kernel that writes results.
    `each`: elements that a thread has in flight."""

    def __init__(self, nest: Nest, form: Form, turn: int) -> None:
        super().__init__(nest, form, [var for var, _ in nest.inner_loops])
        self.turn = turn

    @property
    def last(self) -> bool:
        return self.turn == len(self.nest.passes)

    def print(self, name: str) -> GridKernel:
        lines: list[Line] = [("tid = int64(cuda.threadIdx.x)", "")]
        for number, part in enumerate(self.nest.passes):
            if number <= self.turn:
                lines += self._row_statements(part.before)
            if number < self.turn:
                lines += self._totals(part.inside)
            elif number == self.turn:
                lines += self._share(part.inside)
        blocks = 1 if self.last else self.form.shares
        return self.on_grid(name, lines, (str(blocks),), (THREADS,))

    def _row_statements(self, nodes: list[Node]) -> list[Line]:
        """Every block computes them; the last kernel stores."""
        self.section = Section()
        self.state(nodes)
        return self.section.before

    def store(self, buffer: str, at: Expr, value: Name) -> None:
        if self.part == "row" and not self.last:
            self.held[buffer, at] = value
        else:
            super().store(buffer, at, value)

    # ---- what earlier kernels left ----

    def _totals(self, nodes: list[Node]) -> list[Line]:
        lines: list[Line] = []
        self.finished = {}
        for node in nodes:
            if self.nest.parts[node] == "rowred":
                lines += self._total(node)
        self.held.update(self.finished)
        return lines

    def _total(self, node: Node) -> list[Line]:
        """The partial results of one reduction, added up by the block."""
        kind, dtype = node.loops.kind, node.out.dtype
        wide = self.adds_in(kind, dtype)
        total = Name(self._local_name(f"{node.name}_acc"), wide)
        part = self._lent(f"{node.name}_part", wide, Expr.of(self.form.shares))
        value = f"bool({part}[s])" if wide is dtypes.bool else f"{part}[s]"
        if kind == SUMEXP:
            texts = self._rescaled(node.name, total, value, dtype)
        else:
            texts = [f"{total} = {spelling.combine(kind, total, value, wide)}"]
        (at,) = node.stores[node.name]
        self.section = Section()
        self._finish_row(node.name, at.subs(self.nest.rename), total, dtype)
        return [
            *self.begin(node.name, kind, total, dtype),
            *repeated(f"for s in range(tid, {self.form.shares}, {THREADS}):",
                      [(text, "") for text in texts]),
            *self.after_loop(),
        ]

    def _rescaled(self, buffer: str, total: Name, part: str, dtype: dtypes.dtype) -> list[str]:
        """A block's sum of powers is taken in, both below the larger of their tops."""
        top, best = self._top(buffer), self._local_name(f"{buffer}_best")
        other = f"{self._tops(buffer, dtype)}[s]"
        mine, theirs = (self.power(f"{each} - {best}", dtype, total.dtype)
                        for each in (top, other))
        return [f"{best} = rmax({top}, {other})", f"{total} = {total} * {mine} + {part} * {theirs}",
                f"{top} = {best}"]

    def _tops(self, buffer: str, dtype: dtypes.dtype) -> str:
        """What each block's sum of powers is below of."""
        return self._lent(f"{buffer}_tops", dtype, Expr.of(self.form.shares))

    def by_one(self, text: str, buffer: str) -> list[Line]:
        return super().by_one(text, buffer) if self.last else []

    # ---- this kernel's share ----

    def _share(self, nodes: list[Node]) -> list[Line]:
        few = len(self._read_by(nodes)) <= FEW
        self.each = self.form.each or (DEEP if few else EACH)
        loads = self.loads(nodes, self.each)
        self.section = Section()
        self.finished = {}
        self.state(nodes)
        section = self.section
        walk = self._walk(loads, section.inside)
        return [*section.before, *walk, *self.after_loop()]

    def _walk(self, loads: list[Line], body: list[Line]) -> list[Line]:
        """Whole tiles, of which no element has to be asked for; then what is left of the row, an
        element a thread."""
        block, shares, columns = "int64(cuda.blockIdx.x)", self.form.shares, self.nest.columns
        at = self.unflatten(self.nest.inner_loops, f"first + {THREADS} * k")
        whole = [
            *repeated(f"for k in range({self.each}):", [*at, *loads] if loads else []),
            *repeated(f"for k in range({self.each}):", [*at, *body]),
        ]
        rest = [("k = 0", ""), *self.unflatten(self.nest.inner_loops, "first"), *loads, *body]
        end, tiled = self.spell_offset(columns), self._tiled
        start, step = f"{block} * {self.stretch} + tid", shares * self.stretch
        lines = repeated(f"for first in range({start}, {tiled}, {step}):", whole)
        if tiled == "0":
            lines = []
        if tiled != end:
            start = f"{block} * {THREADS} + tid" + (f" + {tiled}" if tiled != "0" else "")
            lines += repeated(f"for first in range({start}, {end}, {shares * THREADS}):", rest)
        return lines

    @property
    def _tiled(self) -> str:
        """How many elements are in whole tiles."""
        columns = self.nest.columns
        if columns.const is not None:
            return str(columns.const // self.stretch * self.stretch)
        return f"{self._factor(columns)} // {self.stretch} * {self.stretch}"

    @property
    def stretch(self) -> int:
        """Elements of a block's tile."""
        return THREADS * self.each

    def reduce(self, buffer: str, at: Expr, kind: str, value: Name) -> None:
        """The block's part of it goes where the next kernel looks."""
        self.leaving = True
        super().reduce(buffer, at, kind, value)
        self.leaving = False

    leaving = False

    def _finish_row(self, buffer: str, at: Expr, total: Name, dtype: dtypes.dtype) -> None:
        if not self.leaving:
            return super()._finish_row(buffer, at, total, dtype)
        part = self._lent(f"{buffer}_part", total.dtype, Expr.of(self.form.shares))
        left = [f"{part}[int64(cuda.blockIdx.x)] = {total}"]
        if self.nest.group.made[buffer].loops.kind == SUMEXP:
            best = self._local_name(f"{buffer}_best")
            left.append(f"{self._tops(buffer, dtype)}[int64(cuda.blockIdx.x)] = {best}")
        self.section.after += self.joined(buffer, total, dtype)
        self.section.after += guarded("tid == 0", [(text, "") for text in left])

    def _cell(self, buffer: str, at: Expr) -> str:
        if self.nest.homes.get(buffer) == "row" and buffer not in self.nest.lends:
            return self._scratch_cell(buffer, at)
        return super()._cell(buffer, at)


def total_kernels(nest: Nest, form: Form, name: str) -> list[GridKernel]:
    """One kernel a pass; and one more where a number remains to be written."""
    passes = len(nest.passes)
    numbers = [n for n in nest.nodes if nest.parts[n] in ("row", "rowred")]
    finishing = any(nest.homes[n.name] == "memory" for n in numbers)
    count = passes + finishing
    kernels: list[GridKernel] = []
    for number in range(count):
        if number < passes and not nest.passes[number].inside:
            continue
        ending = "" if not kernels else f"_then_{number}"
        kernels.append(TotalPrinter(nest, form, number).print(f"{name}{ending}"))
    return kernels
