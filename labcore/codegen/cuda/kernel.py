"""A printed CUDA kernel: the text of one function, and over how many threads it is launched.

In: what the printers of this room made.  Out: `GridKernel`s, in the order in which a nest's kernels
run.
Invariant: `grid` is Python text of the program's own numbers; every block has `block` threads, all
of a whole number of warps.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from ...fusion.ir import Expr
from ..printer import Kernel, Parameter


@dataclass(frozen=True)
class GridKernel(Kernel):
    """`form` is how the nest lies on the grid, `reason` why so; `scratch` of a nest's kernels is
    one and the same memory where it has one name. `resident`: as many blocks at a time are to find
    registers on a multiprocessor, so each thread gets so many fewer."""

    grid: tuple[str, ...] = field(kw_only=True)
    block: tuple[int, ...] = field(kw_only=True)
    form: str = field(kw_only=True)
    reason: str = field(kw_only=True)
    resident: int = field(kw_only=True, default=1)

    @property
    def marked(self) -> str:
        """The text with its decorator."""
        mark = "kernel" if self.resident == 1 else f"resident({self.resident})"
        return f"@{mark}\n{self.source}"

    def without_const(self) -> GridKernel:
        """The same for operands that may lie where results are written."""
        parameters = tuple(replace(p, constant=False) for p in self.parameters)
        return replace(self, source=self.source.replace('"const ', '"'), parameters=parameters)

    @property
    def threads(self) -> int:
        return prod(self.block)

    @property
    def launch(self) -> str:
        """What stands in the brackets of a launch: `[(n + 1023) // 1024, 256]`."""
        return f"[{_tuple(self.grid)}, {_tuple(tuple(map(str, self.block)))}]"


@dataclass(frozen=True)
class Launches:
    """The kernels of one nest, in order; they are lent one piece of scratch for each name."""

    kernels: tuple[GridKernel, ...]

    @property
    def name(self) -> str:
        return self.kernels[0].name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the nest takes, each once."""
        every = [p for kernel in self.kernels for p in kernel.parameters]
        return tuple({p.storage: p for p in every}.values())

    @property
    def source(self) -> str:
        return "\n\n".join(kernel.source for kernel in self.kernels)


def _tuple(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def ceil_div(size: Expr, by: int) -> str:
    """How many pieces of length `by` cover a size, at least one, as Python text."""
    if size.const is not None:
        return str(max(1, -(-size.const // by)))
    return f"({size} + {by - 1}) // {by}" if by > 1 else str(size)
