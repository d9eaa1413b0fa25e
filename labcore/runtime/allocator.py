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
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import addressof, c_char
from functools import cache
from typing import Any
from weakref import WeakSet

from ..tensor.pool import size_class
from .driver import Driver, OutOfMemory

LEAST = 512  # bytes: addresses are multiples of 256, as vector loads and matrix libraries like them


class Block:
    """Memory of a card, held by the arrays that look into it: numpy takes it for a buffer at its
    address. Each size has a class, so that a block is made in a third of a microsecond."""

    __slots__ = ()
    pool: Pool
    size: int

    @property
    def pointer(self) -> int:
        return addressof(self)  # type: ignore[arg-type]  # see `kind`

    @property
    def driver(self) -> Driver:
        return self.pool.allocator.driver

    def __del__(self, addressof: Any = addressof) -> None:  # at exit, globals go before blocks do
        self.pool.free[self.size].append(addressof(self))


@cache
def kind(size: int) -> Any:
    """The class of blocks of so many bytes."""
    return type("Block", (Block, c_char * size), {"__slots__": ("pool",), "size": size})


class Pool:
    """Free memory by size class. Dies with the last block that came from it, and then gives what it
    has to `heir`."""

    def __init__(self, allocator: Allocator, heir: Pool | None = None) -> None:
        self.allocator, self.heir = allocator, heir
        self.free: defaultdict[int, list[int]] = defaultdict(list)
        with allocator.lock:
            allocator.pools.add(self)

    def pointer(self, size: int) -> int:
        """Memory of a size that `rounded` gave, for a block of this pool's."""
        try:
            return self.free[size].pop()
        except IndexError:
            return self.allocator.fresh(size)

    def block(self, size: int) -> Any:
        """A block of a size that `rounded` gave."""
        made = kind(size).from_address(self.pointer(size))
        made.pool = self
        return made

    def drain(self) -> list[tuple[int, int]]:
        """(pointer, size) of all that is free, which the pool no longer has."""
        found = []
        for size, pointers in list(self.free.items()):
            while pointers:
                found.append((pointers.pop(), size))
        return found

    def __del__(self) -> None:
        if self.heir is not None:
            for pointer, size in self.drain():
                self.heir.free[size].append(pointer)


class Here(threading.local):
    """Where this thread's blocks come from, if not from the common pool."""

    pool: Pool | None = None


class Allocator:
    """`reserved` bytes were asked of the driver altogether."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.reserved = 0
        self.lock = threading.Lock()  # of `pools`
        self.pools: WeakSet[Pool] = WeakSet()
        self.common = Pool(self)
        self.here = Here()

    @property
    def used(self) -> int:
        """Bytes in arrays."""
        with self.lock:
            pools = list(self.pools)
        idle = [size * len(free) for pool in pools for size, free in list(pool.free.items())]
        return self.reserved - sum(idle)

    def block(self, nbytes: int) -> Any:
        """Uninitialised memory. Raises OutOfMemory when all that is free is not enough."""
        return (self.here.pool or self.common).block(rounded(nbytes))

    @contextmanager
    def using(self, pool: Pool) -> Iterator[None]:
        """Blocks that this thread asks for inside come from this pool."""
        before = self.here.pool
        self.here.pool = pool
        try:
            yield
        finally:
            self.here.pool = before

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
