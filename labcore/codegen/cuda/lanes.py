"""Nests whose threads have nothing to do with each other: the CPU's text, with fewer loops.

    thread a row      running sums along a row, and rows too short for a warp
    thread a column   running sums down the columns
    one thread        what depends on the order of all elements

In: a `Nest` and its `Form`.  Out: a kernel. Right for every nest, and slow: neighbouring threads
read addresses a row apart, or there is one thread. A parallel scan (PyTorch's, by blocks) and
atomic additions are what a faster printer would use.
"""

from __future__ import annotations

from ... import dtypes
from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ...fusion.nest import Nest, Pass
from ...fusion.primitives import accumulator, identity
from .. import spelling
from ..printer import Line, note_now
from .base import GridPrinter, guarded
from .device import WARP
from .form import Form
from .kernel import GridKernel, ceil_div


class LanePrinter(GridPrinter):
    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form, [var for var, _ in nest.inner_loops])
        self.down = form.name == "thread a column"

    def print(self, name: str) -> GridKernel:
        nest = self.nest
        if self.form.name == "one thread":
            body = self._all_loops()
            lines = [("row = int64(0)", ""),
                     *guarded("cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x == 0", body)]
            return self.on_grid(name, lines, ("1",), (WARP,))
        inside = [line for part in nest.passes for line in self._turn(part)]
        loops = [*nest.batch_loops, *nest.inner_loops] if self.down else nest.outer_loops
        count = nest.batches * nest.columns if self.down else nest.rows
        body = [*self.unflatten(loops, "row"), *(self._down(inside) if self.down else inside)]
        threads = self.form.threads
        first = f"row = int64(cuda.blockIdx.x) * {threads} + cuda.threadIdx.x"
        lines = [(first, ""), *guarded(f"row < {self.spell_offset(count)}", body)]
        return self.on_grid(name, lines, (ceil_div(count, threads),), (threads,))

    def _turn(self, part: Pass) -> list[Line]:
        section = self.section_of(part)
        inside = section.inside
        if not self.down:
            inside = self._loops(self.nest.inner_loops, inside)
        return [*section.before, *inside, *section.after]

    def _down(self, inside: list[Line]) -> list[Line]:
        """A column's rows, one after the other; its running sums are the thread's own."""
        starts = []
        for node in self.nest.nodes:
            if self.nest.parts[node] == "colscan":
                kind = node.loops.kind
                wide = accumulator(kind, node.out.dtype)
                start = spelling.constant(identity(kind, wide), wide)
                starts.append((f"{self._total_cell(node.name, wide)} = {start}", ""))
        return [*starts, *self._loops(self.nest.row_loops, inside)]

    def _all_loops(self) -> list[Line]:
        """All that the CPU's kernel does."""
        inside = [line for part in self.nest.passes for line in self._turn(part)]
        batch = [*self._start_columns(), *self._start_scans(),
                 *self._loops(self.nest.row_loops, inside), *self._end_columns()]
        return self._loops(self.nest.batch_loops, batch)

    # ---- a thread has no one to wait for ----

    def joined(self, buffer: str, total: Name, dtype: dtypes.dtype) -> list[Line]:
        return []

    def by_one(self, text: str, buffer: str) -> list[Line]:
        return [(text, note_now())]

    def _total_cell(self, buffer: str, dtype: dtypes.dtype) -> str:
        if self.down:
            return self._local_name(f"{buffer}_total")
        return super()._total_cell(buffer, dtype)

    def _cell(self, buffer: str, at: Expr) -> str:
        if self.nest.homes.get(buffer) == "row" and buffer not in self.nest.lends:
            return self._scratch_cell(buffer, at)
        return super()._cell(buffer, at)
