"""The second kernel of column results: eight threads a result, or 32, add up what blocks left.

In: a nest whose blocks each left one partial result for each column.  Out: a kernel that writes the
results. The partial results of one block lie side by side, so neighbouring threads read
neighbouring addresses. Adding up in a fixed order gives the same result every time, which atomic
additions (5 % faster on an H200) would not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

WARPS = THREADS // WARP
SHARED = 48 * 1024  # bytes that a block has without asking
AGAIN = "the cells are used again"
MANY = 64  # partial results of a column, for which a block has as many warps as it may


Reduction = tuple[str, Expr, str, Note]  # (buffer, offset, kind, note)


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


class Cells:
    """Shared memory for the sums of several threads: as much as a block has. What does not find
    room beside the others takes its turn after them, in the same cells."""

    def __init__(self, printer: GridPrinter, each: int, types: Iterable[dtypes.dtype]) -> None:
        sizes = {t: t.itemsize for t in types}
        self.printer, self.each = printer, each
        self.most = max(1, SHARED // max(1, len(sizes)) // (each * max(sizes.values(), default=1)))
        self.names: dict[tuple[int, dtypes.dtype], str] = {}

    def turns(self, found: Sequence[Reduction]) -> list[Sequence[Reduction]]:
        return [found[k:k + self.most] for k in range(0, len(found), self.most)]

    def name(self, place: int, buffer: str, dtype: dtypes.dtype) -> str:
        """The array at a place in a turn."""
        if (place, dtype) not in self.names:
            self.names[place, dtype] = self.printer.array(
                f"{buffer}_fold", self.each, dtype, "shared")
        return self.names[place, dtype]


class FoldPrinter(GridPrinter):
    """A warp has 32 results side by side; the warps of a block share the partial results of each,
    and add up their sums through shared memory."""

    def __init__(self, nest: Nest, form: Form) -> None:
        super().__init__(nest, form, ())
        self.partials = Partials(nest, form.shares)
        few = len(self._columns()) <= 4  # of which all find room at once
        self.tall = 4 * WARPS if few and form.shares > MANY else WARPS
        self.sums: dict[str, tuple[str, str]] = {}  # the names of a thread's sum, and of a block's

    def print(self, name: str) -> GridKernel:
        self.inside = f"result < {self.spell_offset(self.partials.results)}"
        found = self._columns()
        types = [self._types(buffer, kind)[0] for buffer, _, kind, _ in found]
        self.cells = Cells(self, self.tall * WARP, types)
        lines: list[Line] = [
            ("tx = int64(cuda.threadIdx.x)", ""),
            ("ty = int64(cuda.threadIdx.y)", ""),
            (f"result = int64(cuda.blockIdx.x) * {WARP} + tx", ""),
        ]
        for number, turn in enumerate(self.cells.turns(found)):
            lines += [("cuda.syncthreads()", AGAIN)] * (number > 0)
            lines += self._turn(turn)
        grid = ceil_div(self.partials.results, WARP)
        return self.on_grid(name, lines, (grid,), (WARP, self.tall))

    def _turn(self, found: Sequence[Reduction]) -> list[Line]:
        share = [line for k, each in enumerate(found) for line in self._share(k, *each)]
        results = [line for each in found for line in self._result(*each)]
        at = self.unflatten([*self.nest.batch_loops, *self.nest.inner_loops], "result")
        return [*share, ("cuda.syncthreads()", ""),
                *guarded("ty == 0", guarded(self.inside, [*at, *results]))]

    def _share(self, place: int, buffer: str, at: Expr, kind: str, note: Note) -> list[Line]:
        """What the thread adds up of a result, and where it leaves that for the first warp."""
        wide, left = self._types(buffer, kind)
        total, fold = self._local_name(f"{buffer}_acc"), self.cells.name(place, buffer, wide)
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
