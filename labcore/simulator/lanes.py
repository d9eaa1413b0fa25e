"""Threads in lockstep: which are active, where each one is, and what they do together.

In: the shape of a launch, and which of its blocks are run at once.  Out: vectors over threads:
thread, warp, block, and the mask of those that take part in the statement that is run.
Invariant: a warp's 32 threads lie side by side; threads that only fill up a last warp are never
active.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .errors import DivergentBarrier
from .memory import WARP, Access
from .tracker import STEP, Who


class Lanes:
    """The threads of some blocks. `active` are the places of those that take part."""

    def __init__(self, first: int, blocks: int, grid: tuple[int, int],
                 block: tuple[int, int], kernel: str, lines: list[str]) -> None:
        self.kernel, self.lines, self.line = kernel, lines, 0
        self.grid, self.size = grid, block
        self.threads = block[0] * block[1]
        padded = -(-self.threads // WARP) * WARP
        self.shape = (blocks * padded,)
        place = np.arange(blocks * padded, dtype=np.int64)
        inside = place % padded
        self.block_row = place // padded
        self.block = self.block_row + first
        self.thread = self.block * self.threads + np.minimum(inside, self.threads - 1)
        self.lane = inside % WARP
        self.warp = (self.block * padded + inside) // WARP
        self.indices = {
            "threadIdx.x": inside % block[0], "threadIdx.y": inside // block[0],
            "blockIdx.x": self.block % grid[0], "blockIdx.y": self.block // grid[0],
        }
        self.interval = np.zeros(self.shape, np.int64)
        self.real = inside < self.threads
        self.mask = self.real.copy()
        self.active = np.flatnonzero(self.mask)
        self.accesses: list[Access] | None = None
        self.watched = -1
        self.barriers = 0

    # ---- masks ----

    @contextmanager
    def only(self, mask: np.ndarray) -> Iterator[None]:
        """Inside, only these threads take part."""
        before = self.mask, self.active
        self.mask = mask
        self.active = np.flatnonzero(mask)
        try:
            yield
        finally:
            self.mask, self.active = before

    def spread(self, values: np.ndarray) -> np.ndarray:
        """The values of the active threads, at their places."""
        if len(values) == self.shape[0]:
            return values
        out = np.zeros(self.shape, values.dtype)
        out[self.active] = values
        return out

    def pick(self, value: Any) -> Any:
        """The active threads' values."""
        if isinstance(value, np.ndarray) and value.shape == self.shape:
            return value[self.active]
        return value

    def whole(self, value: Any) -> np.ndarray:
        return np.broadcast_to(np.asarray(value), self.shape)

    def who(self) -> Who:
        """The active threads, for whoever looks for races."""
        at = self.active
        return Who(self.thread[at], self.warp[at], self.block[at], self.interval[at])

    # ---- together ----

    def barrier(self) -> None:
        """All threads of a block wait for each other. Raises DivergentBarrier."""
        self._together(self.block_row, "cuda.syncthreads()", "block")
        self.interval[self.active] += STEP
        self.barriers += 1

    def warp_barrier(self) -> None:
        """All threads of a warp wait; it does not order what other warps do."""
        self._together(self.warp, "cuda.syncwarp()", "warp")
        self.interval[self.active] += 1

    def shuffled(self, value: Any, distance: int) -> np.ndarray:
        """What the thread whose number in the warp differs in these bits has."""
        self._together(self.warp, "a shuffle", "warp")
        return self.whole(value)[np.arange(self.shape[0]) ^ distance]

    def _together(self, group: np.ndarray, what: str, name: str) -> None:
        if len(self.active) == int(self.real.sum()):
            return
        there = np.unique(group[self.active])
        missing = np.isin(group, there) & self.real & ~self.mask
        if missing.any():
            absent = self.person(int(np.argmax(missing)))
            raise DivergentBarrier(self.tell(
                f"{self.person(self.active[0])} is at {what}, where {absent} never comes: all "
                f"threads of the {name} must, so take it out of the condition"))

    # ---- telling ----

    def person(self, place: Any) -> str:
        return self.person_of(int(self.thread[place]))

    def person_of(self, thread: int) -> str:
        """"thread 3 of block 2"."""
        inside, block = thread % self.threads, thread // self.threads
        wide, across = self.size[0], self.grid[0]
        who = f"({inside % wide}, {inside // wide})" if self.size[1] > 1 else str(inside)
        where = f"({block % across}, {block // across})" if self.grid[1] > 1 else str(block)
        return f"thread {who} of block {where}"

    def tell(self, what: str) -> str:
        text = self.lines[self.line - 1].strip() if 0 < self.line <= len(self.lines) else ""
        return f"{self.kernel}, line {self.line}: {what}\n    {text}"

    def record(
        self, array: Any, kind: str, active: np.ndarray, address: np.ndarray, width: int
    ) -> None:
        """Keep the requests of the block that is watched."""
        if self.accesses is None:
            return
        mine = self.block[active] == self.watched
        warps, lane = self.warp[active][mine], self.lane[active][mine]
        for warp in np.unique(warps):
            its = warps == warp
            self.accesses.append(Access(
                self.line, array.name, kind, array.space, int(warp), lane[its].tolist(),
                address[mine][its].tolist(), width))
