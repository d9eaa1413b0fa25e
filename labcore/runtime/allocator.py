"""A caching allocator for a card's memory: what was freed is handed out again, by size.

In: how many bytes.  Out: a `Block`, whose memory goes back when nothing looks at it any more.
Asking a driver for memory takes 40 to 200 us on an H200 and waits for the card; taking it from a
list, a fraction of one. All work is in one stream, so memory may be used again as soon as the
host has let go of it: whatever still reads it comes earlier on the card.
Invariant: a block is handed out to one owner at a time, and returns to the pool that it came from.
A recorded replay has a pool of its own, because its kernels write there again and again.
PyTorch's splits large blocks into smaller ones; here sizes are rounded up by at most an eighth, and
whole blocks are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..tensor.pool import size_class
from .driver import Driver, OutOfMemory

LEAST = 512  # bytes: addresses are multiples of 256, as vector loads and matrix libraries like them


class Block:
    """Memory of a card, held by the arrays that look into it; numpy makes those by the interface.
    """

    __slots__ = ("__array_interface__", "__weakref__", "pointer", "pool", "size")

    def __init__(self, pool: Pool, pointer: int, size: int) -> None:
        self.pool, self.pointer, self.size = pool, pointer, size
        self.__array_interface__: dict[str, Any] = {}

    @property
    def driver(self) -> Driver:
        return self.pool.allocator.driver

    def __del__(self) -> None:
        self.pool.take_back(self.pointer, self.size)


class Pool:
    """Free memory by size class. Dies with the last block that came from it, and then gives what it
    has to `heir`."""

    def __init__(self, allocator: Allocator, heir: Pool | None = None) -> None:
        self.allocator, self.heir = allocator, heir
        self.free: dict[int, list[int]] = {}

    def block(self, nbytes: int) -> Block:
        size = rounded(nbytes)
        free = self.free.get(size)
        if free:
            try:
                pointer = free.pop()
            except IndexError:  # another thread was faster
                pointer = self.allocator.fresh(size)
        else:
            pointer = self.allocator.fresh(size)
        self.allocator.used += size
        return Block(self, pointer, size)

    def take_back(self, pointer: int, size: int) -> None:
        self.allocator.used -= size
        known = self.free.get(size)
        if known is None:
            known = self.free.setdefault(size, [])
        known.append(pointer)

    def drain(self) -> list[tuple[int, int]]:
        """(pointer, size) of all that is free, which the pool no longer has."""
        found = [(p, size) for size, pointers in self.free.items() for p in pointers]
        self.free.clear()
        return found

    def __del__(self) -> None:
        if self.heir is not None:
            for pointer, size in self.drain():
                self.heir.free.setdefault(size, []).append(pointer)


class _Current(threading.local):
    pool: Pool | None = None


class Allocator:
    """`used` and `reserved` bytes: in arrays, and asked of the driver altogether."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.used = self.reserved = 0
        self.common = Pool(self)
        self._current = _Current()

    def block(self, nbytes: int) -> Block:
        """Uninitialised memory. Raises OutOfMemory when all that is free is not enough."""
        return (self._current.pool or self.common).block(nbytes)

    @contextmanager
    def using(self, pool: Pool) -> Iterator[None]:
        """Blocks that this thread asks for inside come from this pool."""
        before = self._current.pool
        self._current.pool = pool
        try:
            yield
        finally:
            self._current.pool = before

    def fresh(self, size: int) -> int:
        """New memory of the driver's; once it has none, after all that is idle went back to it."""
        try:
            pointer = self.driver.allocate(size)
        except OutOfMemory:
            self.empty_cache()
            try:
                pointer = self.driver.allocate(size)
            except OutOfMemory:
                raise OutOfMemory(self._told(size)) from None
        self.reserved += size
        return pointer

    def empty_cache(self) -> None:
        """Give idle memory back to the driver."""
        self.driver.synchronize()
        for pointer, size in self.common.drain():
            self.driver.free(pointer)
            self.reserved -= size

    def _told(self, size: int) -> str:
        free, total = self.driver.memory()
        return (
            f"CUDA out of memory: {_mib(size)} were asked for; the card has {_mib(total)}, of "
            f"which {_mib(free)} are free and {_mib(self.used)} are in tensors of this process. "
            "Let go of tensors (del), work in smaller batches, or save less for the backward: "
            'compile(..., options={"activation_memory_budget": 0.5})'
        )


def rounded(nbytes: int) -> int:
    """How large the block for so many bytes is: at least 512, at most an eighth more."""
    return LEAST if nbytes <= LEAST else -(-size_class(nbytes) // LEAST) * LEAST


def _mib(nbytes: int) -> str:
    return f"{nbytes / (1 << 20):,.1f} MiB"
