"""Arrays that count: what a pass over memory costs, for programs written by hand.

Invariant: every element read is one read and every element written one write, whoever does it;
showing an array or asking its length is neither.
"""
from __future__ import annotations

import math
from collections.abc import Sequence


class Memory:
    """Hands out arrays and counts what is done to them: `reads`, `writes`, `arrays`."""

    def __init__(self) -> None:
        self.reads = self.writes = self.arrays = 0

    def array(self, values: Sequence[float]) -> CountingList:
        """An array that was there before: nobody had to write it."""
        return CountingList(self, list(values))

    def new(self, length: int) -> CountingList:
        """An empty array, counted as one that has to be written."""
        self.arrays += 1
        return self.array([math.nan] * length)

    @property
    def accesses(self) -> int:
        return self.reads + self.writes


class CountingList:
    """A fixed-length list of numbers that reports each access of an element to its `Memory`."""

    def __init__(self, memory: Memory, values: list[float]) -> None:
        self._memory, self._values = memory, values

    @property
    def values(self) -> list[float]:
        """All elements, uncounted: for looking at a result."""
        return list(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> float:
        self._memory.reads += 1
        return self._values[index]

    def __setitem__(self, index: int, value: float) -> None:
        self._memory.writes += 1
        self._values[index] = value

    def __repr__(self) -> str:
        return repr(self._values)
