"""Pointwise nests with loads that lie across the stores: squares are turned in shared memory.

A block of 32 by 8 threads has a square of 32 by 32 elements, four to a thread; or one of 64 by 8
threads a square of 64 by 64, eight to a thread. Its warps load the square of each such operand
along the operand's own neighbours, and wait; then they stand along the neighbours of what is
stored, take a column where a row was put, and compute as in every pointwise nest. A row of a square
is a word longer than it need be: so a column lies in 32 different banks.
All else is loaded directly, before the block waits, so that all loads are on their way together.
The scheme is that of NVIDIA's transpose (Ruetsch, Micikevicius 2009); Triton finds it by a layout
conversion of its own.
"""

from __future__ import annotations

from ...fusion.deps import Node
from ...fusion.ir import Expr, product
from ...fusion.nest import Nest
from ..printer import Line, indented
from .across import Across, pitch
from .base import GridPrinter, guarded, repeated
from .form import EACH, Form
from .kernel import GridKernel, ceil_div


class TilesPrinter(GridPrinter):
    """`top` and `left` are where a block's square begins: in the loop that the squares are loaded
    along, and in that of the stores. `tiles` has the pitch of each square, by name. `down`: rows
    of threads in a block, and rows from one of a thread's to its next."""

    def __init__(self, nest: Nest, form: Form, found: Across) -> None:
        loops = [*nest.outer_loops, *nest.inner_loops]
        super().__init__(nest, form, [found.across, found.along])
        self.found, self.tiles = found, dict[str, int]()
        self.side, self.each = form.side, form.each or EACH
        self.down = self.side // self.each
        self.tall, self.wide = dict(loops)[found.across], dict(loops)[found.along]
        self.others = [(v, s) for v, s in loops if v not in (found.across, found.along)]

    def print(self, name: str) -> GridKernel:
        (only,) = self.nest.passes
        across = self._load_tiles(only.inside)
        direct = self.loads(only.inside, self.each)
        section = self.section_of(only)
        lines = [*self._start(), *section.before, *self._square(across, direct, section.inside)]
        return self.on_grid(name, lines, (self._blocks(),), (self.side, self.down))

    def kept(self, name: str) -> str:
        if name not in self.tiles:
            return super().kept(name)
        return f"{name}[tx * {self.tiles[name]} + ty + {self.down} * k]"

    # ---- where a block is ----

    def _blocks(self) -> str:
        """How many squares there are, as Python text."""
        tall, wide = (ceil_div(size, self.side) for size in (self.tall, self.wide))
        batches = product([size for _, size in self.others])
        if all(size.const is not None for size in (self.tall, self.wide, batches)):
            return str(int(batches) * int(tall) * int(wide))
        return f"({batches}) * ({tall}) * ({wide})"

    def _start(self) -> list[Line]:
        """Where the block's square begins, and of which turn of the other loops it is."""
        tall, wide = self._squares(self.tall), self._squares(self.wide)
        row = f"tile // {wide}"
        lines = [
            ("tx = int64(cuda.threadIdx.x)", ""),
            ("ty = int64(cuda.threadIdx.y)", ""),
            ("tile = int64(cuda.blockIdx.x)", ""),
            (f"left = tile % {wide} * {self.side}", ""),
            (f"top = {f'{row} % {tall}' if self.others else row} * {self.side}", ""),
        ]
        return [*lines, *self.unflatten(self.others, f"{row} // {tall}")]

    def _squares(self, size: Expr) -> str:
        """How many cover a size, in the kernel's names."""
        if size.const is not None:
            return ceil_div(size, self.side)
        return f"(({self.spell_offset(size)} + {self.side - 1}) // {self.side})"

    # ---- a square ----

    def _load_tiles(self, nodes: list[Node]) -> list[Line]:
        """Statements that put an element of each load across the stores into its square."""
        lines: list[Line] = []
        for (buffer, at), note in self._read_by(nodes).items():
            if (buffer, at) in self.found.loads:
                step = pitch(self.buffers[buffer].dtype, self.side)
                tile = self.register(buffer, at, f"{buffer}_tile", self.side * step, "shared")
                self.tiles[tile] = step
                cell = f"{tile}[(ty + {self.down} * k) * {step} + tx]"
                lines.append((f"{cell} = {self._cell(buffer, at)}", note))
        return lines

    def _square(self, across: list[Line], direct: list[Line], body: list[Line]) -> list[Line]:
        """A whole square without questions, and those at the edges, which ask for each element."""
        head, wait = f"for k in range({self.each}):", [("cuda.syncthreads()", "")]
        step = f"ty + {self.down} * k"
        turned, straight = self._at("tx", step), self._at(step, "tx")
        edge = [*repeated(head, self._inside(turned, across)), *wait,
                *repeated(head, self._inside(straight, [*direct, *body]))]
        sizes = {"top": self.tall, "left": self.wide}
        if any(size.const is not None and size.const < self.side for size in sizes.values()):
            return edge
        whole = [*repeated(head, [*turned, *across]),
                 *repeated(head, [*straight, *direct] if direct else []), *wait,
                 *repeated(head, [*straight, *body])]
        asked = [f"{start} + {self.side} <= {self.spell_offset(size)}"
                 for start, size in sizes.items() if self._ragged(size)]
        if not asked:
            return whole
        test = asked[0] if len(asked) == 1 else " & ".join(f"({each})" for each in asked)
        return [(f"if {test}:", ""), *indented(whole, 1), ("else:", ""), *indented(edge, 1)]

    def _at(self, across: str, along: str) -> list[Line]:
        """The loop variables of a thread's k-th element."""
        return [(f"{self.found.across} = top + {across}", ""),
                (f"{self.found.along} = left + {along}", "")]

    def _inside(self, at: list[Line], lines: list[Line]) -> list[Line]:
        """The lines, where the thread's element is one."""
        for var, size in ((self.found.along, self.wide), (self.found.across, self.tall)):
            if self._ragged(size):
                lines = guarded(f"{var} < {self.spell_offset(size)}", lines)
        return [*at, *lines]

    def _ragged(self, size: Expr) -> bool:
        return size.const is None or size.const % self.side != 0
