"""Who touched which address last: races are seen when they happen.

In: every access, as vectors of addresses and of the threads that make them.  Out: the first two
threads that race. Two threads are ordered when they are of one block and a barrier of the block
lies between their accesses, or of one warp and a barrier of the warp does; all else is concurrent.
Of each cell it is known who wrote it last, and who read it: one thread or several, of one warp or
several, of one block or several.
Invariant: an access is compared with all that came before in the launch, so the order in which the
simulator happens to run threads decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NOBODY, SEVERAL = -1, -2
STEP = 1 << 20  # an interval counts barriers of the block, in these steps, and those of the warp


@dataclass(frozen=True)
class Who:
    """The threads of one access: vectors of thread, warp and block numbers, and of intervals."""

    thread: np.ndarray
    warp: np.ndarray
    block: np.ndarray
    interval: np.ndarray


class Tracker:
    """The last accesses of the cells of one array."""

    def __init__(self, cells: int) -> None:
        blank = lambda: np.full(cells, NOBODY, np.int64)
        self.writer, self.writer_warp, self.writer_block, self.written_in = (
            blank(), blank(), blank(), blank())
        self.constant = np.zeros(cells, bool)  # read by who was promised that nobody writes
        self.reader, self.reader_warp, self.reader_block, self.read_in = (
            blank(), blank(), blank(), blank())

    def read(self, at: np.ndarray, who: Who) -> tuple[int, int] | None:
        """Notes reads; returns (which of them, who wrote there) when one is a race."""
        found = self._written_by_another(at, who)
        if found is not None:
            return found
        beside = (self.reader_block[at] == who.block) & self._same_step(self.read_in[at], who)
        for known, own in ((self.reader, who.thread), (self.reader_warp, who.warp)):
            self._gather(known, at, own, beside & (known[at] != own))
        before = self.reader_block[at]
        self._gather(self.reader_block, at, who.block, (before != NOBODY) & (before != who.block))
        self.read_in[at] = who.interval
        return None

    @staticmethod
    def _gather(known: np.ndarray, at: np.ndarray, own: np.ndarray, several: np.ndarray) -> None:
        """One, or several; threads that meet in this very access are several, too."""
        known[at] = np.where(several, SEVERAL, own)
        known[at[known[at] != own]] = SEVERAL

    def write(self, at: np.ndarray, who: Who) -> tuple[int, int] | None:
        """Notes writes; returns (which of them, who was there before) when one is a race."""
        found = self._written_by_another(at, who) or self._read_by_another(at, who)
        if found is not None:
            return found
        self.writer[at], self.writer_warp[at] = who.thread, who.warp
        self.writer_block[at], self.written_in[at] = who.block, who.interval
        return self._first(self.writer[at] != who.thread, self.writer[at])

    def _written_by_another(self, at: np.ndarray, who: Who) -> tuple[int, int] | None:
        writer = self.writer[at]
        other = (writer != NOBODY) & (writer != who.thread)
        if not other.any():
            return None
        waited = (self.writer_warp[at] == who.warp) & (self.written_in[at] != who.interval)
        beside = self._same_step(self.written_in[at], who) & ~waited
        elsewhere = self.writer_block[at] != who.block
        return self._first(other & (elsewhere | beside), writer)

    def _read_by_another(self, at: np.ndarray, who: Who) -> tuple[int, int] | None:
        block = self.reader_block[at]
        elsewhere = (block != NOBODY) & (block != who.block)
        waited = (self.reader_warp[at] == who.warp) & (self.read_in[at] != who.interval)
        beside = (block == who.block) & self._same_step(self.read_in[at], who) & ~waited
        other = self.reader[at] != who.thread
        return self._first(elsewhere | (beside & other), self.reader[at])

    @staticmethod
    def _same_step(interval: np.ndarray, who: Who) -> np.ndarray:
        return interval // STEP == who.interval // STEP

    @staticmethod
    def _first(bad: np.ndarray, others: np.ndarray) -> tuple[int, int] | None:
        if not bad.any():
            return None
        which = int(np.argmax(bad))
        return which, int(others[which])
