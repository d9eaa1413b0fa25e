"""Which loads of a pointwise nest lie across what it stores.

In: a `Nest`.  Out: an `Across`; None where every load is as well made directly.
The threads of a warp stand along the loop in whose turns the stores are neighbours in memory. A
load such as `y.t()`, whose neighbours are those of another loop, then takes a sector for each of
the threads, of which the rest is carried in vain. In a square of both loops all of these sectors
are wanted, each by several rows, so a square can be loaded along the one loop and used along the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

from ... import dtypes
from ...fusion.handlers import Reads
from ...fusion.ir import Expr, is_place, using
from ...fusion.nest import Nest

SIDE = 32  # of a square
LARGE = 64  # the same, where there is enough to do for all
WORD = 4  # bytes of a bank of shared memory
LEAST = SIDE // 2  # turns of a loop, below which most of a square would be empty
ROOM = 24 * 1024  # bytes for the squares of a block: eight blocks find room on a multiprocessor
MOST = 48 * 1024  # bytes that a block has without asking

Access = tuple[str, Expr]  # of a buffer, at an offset


@dataclass(frozen=True)
class Across:
    """The stores are neighbours along the loop `along`; these `loads` along the loop `across`."""

    along: str
    across: str
    loads: tuple[Access, ...]

    @property
    def buffers(self) -> list[str]:
        return list(dict.fromkeys(buffer for buffer, _ in self.loads))


def loads_across(nest: Nest, side: int = SIDE) -> Across | None:
    """The loads of a pointwise nest that squares pay for. Where they lie along several loops, those
    of the loop that has the most."""
    long = [var for var, size, _ in nest.loops if size.const is None or size.const >= LEAST]
    if len(long) < 2:
        return None
    with using(Reads()) as reads:
        for node in nest.nodes:
            nest.run(node)
    stores = [at for buffer, at in reads.stores if nest.homes[buffer] == "memory"]
    along = next((v for v in reversed(long) if all(_beside(at, v) for at in stores)), None)
    if along is None:
        return None
    apart = [
        (buffer, at) for buffer, at in dict.fromkeys(reads.loads)
        if (buffer, at) not in reads.stores and not any(map(is_place, at.symbols))
        and at.coeff(along).const != 0 and not _beside(at, along)
    ]
    by_loop = {v: [a for a in apart if _beside(a[1], v)] for v in long if v != along}
    across = max(by_loop, key=lambda v: len(by_loop[v]))
    loads = _that_fit(nest, by_loop[across], side)
    return Across(along, across, loads) if loads else None


def pitch(dtype: dtypes.dtype, side: int) -> int:
    """Elements from row to row of a square: a word more than its side, so that the elements of a
    column lie in different banks."""
    return side + max(1, WORD // dtype.itemsize)


def _beside(at: Expr, var: str) -> bool:
    """Do turns of the loop follow each other in memory, one way or the other?"""
    return at.coeff(var).const in (1, -1)


def _that_fit(nest: Nest, loads: list[Access], side: int) -> tuple[Access, ...]:
    """As many as have room in shared memory; the others are made directly."""
    found, left = [], ROOM if side == SIDE else MOST
    for buffer, at in loads:
        dtype = nest.buffers_by_name[buffer].dtype
        left -= side * pitch(dtype, side) * dtype.itemsize
        if left >= 0:
            found.append((buffer, at))
    return tuple(found)
