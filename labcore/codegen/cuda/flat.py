"""Pointwise nests: each thread computes four elements that lie a block apart; eight, where all of
them are halves (in words of two: `flat_pairs.py`).

One element a thread keeps too few loads in flight (60 to 83 % of what a copy reaches on an H200),
four of float32 reach all of it. Where loops could not be merged, a block stays within one row of
the last loop, which spares a division an element; where that is short, the index is divided.
"""

from __future__ import annotations

from ...fusion.ir import Expr, product
from ...fusion.nest import Nest
from ..printer import Line, indented
from .base import GridPrinter, Held, guarded, repeated
from .form import Form, by_rows
from .kernel import GridKernel, ceil_div

INT32 = 2**31


class FlatPrinter(GridPrinter):
    thread = "cuda.threadIdx.x"  # where a thread's first element is in its block's tile

    def __init__(self, nest: Nest, form: Form) -> None:
        self.threads = form.threads
        self.tile = form.each * form.threads
        self.all = [*nest.outer_loops, *nest.inner_loops]
        self.by_rows = by_rows(nest, form.threads)
        self.tiled = self.all[-1:] if self.by_rows else self.all
        super().__init__(nest, form, [var for var, _ in self.tiled])

    def print(self, name: str) -> GridKernel:
        with_rows = self.all[:-1] if self.by_rows else []
        count = product([size for _, size in self.tiled])
        (only,) = self.nest.passes
        held = self.held_of(only.inside, self.form.each)
        section = self.section_of(only)
        lines = [*self._start(with_rows, count), *section.before,
                 *self._tile(count, held, section.inside)]
        rows = product([size for _, size in with_rows])
        tiles = ceil_div(count, self.tile)
        grid = tiles if not with_rows else f"{_times(rows)}({tiles})"
        if count.const is not None and rows.const is not None:
            grid = str(max(1, rows.const) * int(tiles))
        return self.on_grid(name, lines, (grid,), (self.threads,))

    def _start(self, with_rows: list[tuple[str, Expr]], count: Expr) -> list[Line]:
        """Where the block's elements begin."""
        block = "int64(cuda.blockIdx.x)"
        if not with_rows:
            return [(f"first = {block} * {self.tile} + {self.thread}", "")]
        if count.const is not None and count.const <= self.tile:
            return [(f"row = {block}", ""), *self.unflatten(with_rows, "row"),
                    (f"first = int64({self.thread})", "")]
        tiles = ceil_div(count, self.tile) if count.const is not None else (
            f"(({self.spell_offset(count)} + {self.tile - 1}) // {self.tile})")
        return [
            (f"tile = {block} % {tiles}", ""),
            (f"row = {block} // {tiles}", ""),
            *self.unflatten(with_rows, "row"),
            (f"first = tile * {self.tile} + {self.thread}", ""),
        ]

    def _at(self, index: str, count: Expr) -> list[Line]:
        """The loop variables of an element, by its index."""
        wrap = "uint32" if count.const is not None and count.const < INT32 else ""
        return self.unflatten(self.tiled, index, wrap)

    def _tile(self, count: Expr, held: list[Held], body: list[Line]) -> list[Line]:
        """A whole tile without questions, and the last one, which is shorter."""
        index, loads = f"first + {self.threads} * k", [self.loaded(each) for each in held]
        at = self._at(index, count)
        bound = self.spell_offset(count)
        last = repeated(f"for k in range({self.form.each}):",
                        guarded(f"{index} < {bound}", [*at, *loads, *body]))
        if count.const is not None and count.const < self.tile:
            return last
        whole = [*repeated(f"for k in range({self.form.each}):", [*at, *loads] if loads else []),
                 *repeated(f"for k in range({self.form.each}):", [*at, *body])]
        if count.const is not None and count.const % self.tile == 0:
            return whole
        return [(f"if first + {self.tile - self.threads} < {bound}:", ""), *indented(whole, 1),
                ("else:", ""), *indented(last, 1)]


def _times(rows: Expr) -> str:
    return f"({rows}) * "
