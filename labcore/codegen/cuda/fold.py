"""The second kernel of column results: eight threads a result, or 32, add up what blocks left.

In: a nest whose blocks each left one partial result for each column.  Out: a kernel that writes the
results. The partial results of one block lie side by side, so neighbouring threads read
neighbouring addresses. Adding up in a fixed order gives the same result every time, which atomic
additions (5 % faster on an H200) would not.
"""

from __future__ import annotations

from dataclasses import dataclass

from ... import dtypes
from ...fusion.handlers import Name
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...fusion.primitives import accumulator, identity
from .. import spelling
from ..printer import Line, Note
from .base import GridPrinter, guarded, repeated
from .device import WARP
from .form import THREADS, Form
from .kernel import GridKernel, ceil_div

TALL = THREADS // WARP
MANY = 64  # partial results of a column, for which a block has as many warps as it may


@dataclass(frozen=True)
class Partials:
    """How many partial results there are: `shares` for each column of each batch."""

    nest: Nest
    shares: int

    @property
    def results(self) -> Expr:
        return self.nest.batches * self.nest.columns

    @property
    def size(self) -> Expr:
        return self.results * self.shares


class FoldPrinter(GridPrinter):
    """A warp has 32 results side by side; the warps of a block share the partial results of each,
    and add up their sums through shared memory."""

    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form, ())
        self.partials = Partials(nest, form.shares)
        # The cells of all warps' sums are shared memory, of which a block has 48 KiB.
        few = len(self._columns()) <= 4
        self.tall = 4 * TALL if few and form.shares > MANY else TALL
        self.sums: dict[str, tuple[str, str]] = {}  # the names of a thread's sum, and of a block's

    def print(self, name: str) -> GridKernel:
        self.inside = f"result < {self.spell_offset(self.partials.results)}"
        found = self._columns()
        share = [line for each in found for line in self._share(*each)]
        results = [line for each in found for line in self._result(*each)]
        loops = [*self.nest.batch_loops, *self.nest.inner_loops]
        lines = [
            ("tx = int64(cuda.threadIdx.x)", ""),
            ("ty = int64(cuda.threadIdx.y)", ""),
            (f"result = int64(cuda.blockIdx.x) * {WARP} + tx", ""),
            *share,
            ("cuda.syncthreads()", ""),
            *guarded("ty == 0", guarded(self.inside, [*self.unflatten(loops, "result"), *results])),
        ]
        grid = ceil_div(self.partials.results, WARP)
        return self.on_grid(name, lines, (grid,), (WARP, self.tall))

    def _share(self, buffer: str, at: Expr, kind: str, note: Note) -> list[Line]:
        """What the thread adds up of a result, and where it leaves that for the first warp."""
        wide, left = self._types(buffer, kind)
        total, fold = self._local_name(f"{buffer}_acc"), self.array(
            f"{buffer}_fold", self.tall * WARP, wide, "shared")
        part = self._lent(f"{buffer}_part", left, self.partials.size)
        cell = f"{part}[s * {self._factor(self.partials.results)} + result]"
        value = f"bool({cell})" if wide is dtypes.bool else cell
        value = spelling.cast(Name(value, left), left, wide) if left is not wide else value
        self.sums[buffer] = total, fold
        add = (f"{total} = {spelling.combine(kind, total, value, wide)}", note)
        return [
            (f"{total} = {spelling.constant(identity(kind, wide), wide)}", note),
            *guarded(self.inside,
                     repeated(f"for s in range(ty, {self.partials.shares}, {self.tall}):", [add])),
            (f"{fold}[ty * {WARP} + tx] = {total}", note),
        ]

    def _result(self, buffer: str, at: Expr, kind: str, note: Note) -> list[Line]:
        (wide, _), dtype = self._types(buffer, kind), self.buffers[buffer].dtype
        total, fold = self.sums[buffer]
        other = f"{fold}[s * {WARP} + tx]"
        other = f"bool({other})" if wide is dtypes.bool else other
        done = spelling.cast(total, wide, dtype) if wide is not dtype else total
        return [
            *repeated(f"for s in range(1, {self.tall}):",
                      [(f"{total} = {spelling.combine(kind, total, other, wide)}", note)]),
            (f"{self._cell(buffer, at)} = {done}", note),
        ]

    def _types(self, buffer: str, kind: str) -> tuple[dtypes.dtype, dtypes.dtype]:
        """What results are added up in, and what the blocks left."""
        dtype = self.buffers[buffer].dtype
        return accumulator(kind, dtype), self.adds_in(kind, dtype)


def fold_kernel(nest: Nest, form: Form, name: str) -> GridKernel:
    return FoldPrinter(nest, form).print(name)

