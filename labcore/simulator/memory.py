"""The memories of a grid: global, shared, and each thread's own.

In: loads and stores of many threads at once, as vectors of indices and of active threads.  Out:
values; and what the accesses cost.

    global   arrays of the launch: each access of a warp is one request, carried out in sectors of
             32 bytes; the fewest that could hold what it wants are those of neighbouring addresses
    shared   one copy a block, in 32 banks of 4 bytes; threads of a warp that want different words
             of one bank wait for each other
    local    one copy a thread

Invariant: an access outside of an array, of a cell that nobody wrote, or beside another thread's is
an error, never a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import Misaligned, NotConstant, OutOfBounds, Race, Uninitialised
from .tracker import Tracker

if TYPE_CHECKING:
    from .lanes import Lanes

WARP, SECTOR, BANKS, WORD = 32, 32, 32, 4


@dataclass
class Traffic:
    """What was asked of one array: elements, requests of warps, sectors that carried them out, and
    the fewest sectors that could have."""

    reads: int = 0
    writes: int = 0
    requests: int = 0
    sectors: int = 0
    fewest: int = 0
    atomics: int = 0

    @property
    def coalesced(self) -> float:
        """1.0 when every warp touched neighbouring addresses only."""
        return self.fewest / self.sectors if self.sectors else 1.0


@dataclass
class Access:
    """One request of one warp: the line of the text, each active thread's address in bytes, and
    how many bytes (`width`) each wants."""

    line: int
    array: str
    kind: str
    space: str
    warp: int
    lanes: list[int]
    addresses: list[int]
    width: int


class Cells:
    """An array that many threads index at once."""

    space = "local"

    def __init__(self, name: str, cells: np.ndarray) -> None:
        self.name, self.cells = name, cells
        self.size = cells.shape[-1]

    def _where(self, lanes: Lanes, index: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
        """The active threads and their indices. Raises OutOfBounds."""
        active = lanes.active
        at = np.broadcast_to(np.asarray(index), lanes.shape)[active]
        outside = (at < 0) | (at >= self.size)
        if outside.any():
            which = int(np.argmax(outside))
            raise OutOfBounds(lanes.tell(
                f"{lanes.person(active[which])} {what} {self.name}[{at[which]}], but {self.name} "
                f"has {self.size} elements: test the index before the access"))
        return active, at

    def _unwritten(self, lanes: Lanes, thread: int, at: int) -> Uninitialised:
        return Uninitialised(lanes.tell(
            f"{lanes.person(thread)} reads {self.name}[{at}], which nobody has written: fill it "
            "first, and wait at a barrier when another thread does"))


class Local(Cells):
    """Registers: one row of cells a thread."""

    def __init__(self, name: str, lanes: int, size: int, dtype: np.dtype) -> None:
        super().__init__(name, np.zeros((lanes, size), dtype))
        self.written = np.zeros((lanes, size), bool)

    def load(self, lanes: Lanes, index: Any) -> np.ndarray:
        active, at = self._where(lanes, index, "reads")
        missing = ~self.written[active, at]
        if missing.any():
            which = int(np.argmax(missing))
            raise self._unwritten(lanes, int(active[which]), int(at[which]))
        return lanes.spread(self.cells[active, at])

    def store(self, lanes: Lanes, index: Any, value: Any) -> None:
        active, at = self._where(lanes, index, "writes")
        self.cells[active, at] = lanes.pick(value)
        self.written[active, at] = True


class Shared(Cells):
    """One row of cells a block; counts the extra turns that bank conflicts cost."""

    space = "shared"

    def __init__(self, name: str, blocks: int, size: int, dtype: np.dtype) -> None:
        super().__init__(name, np.zeros((blocks, size), dtype))
        self.written = np.zeros((blocks, size), bool)
        self.tracker = Tracker(blocks * size)
        self.conflicts = self.requests = 0

    def load(self, lanes: Lanes, index: Any) -> np.ndarray:
        active, at = self._where(lanes, index, "reads")
        row = lanes.block_row[active]
        missing = ~self.written[row, at]
        if missing.any():
            which = int(np.argmax(missing))
            raise self._unwritten(lanes, int(active[which]), int(at[which]))
        self._note(lanes, active, at, "read")
        return lanes.spread(self.cells[row, at])

    def store(self, lanes: Lanes, index: Any, value: Any) -> None:
        active, at = self._where(lanes, index, "writes")
        self._note(lanes, active, at, "write")
        row = lanes.block_row[active]
        self.cells[row, at] = lanes.pick(value)
        self.written[row, at] = True

    def _note(self, lanes: Lanes, active: np.ndarray, at: np.ndarray, kind: str) -> None:
        check_race(self, lanes, active, lanes.block_row[active] * self.size + at, at, kind)
        width = self.cells.itemsize
        lanes.record(self, kind, active, at * width, width)
        group = lanes.warp[active]
        if width > WORD:  # eight bytes a thread: half a warp at a time
            group = group * 2 + (lanes.lane[active] >= WARP // 2)
        word = at * width // WORD
        pairs = np.unique(group * (1 << 40) + word)  # threads that want one word share it
        banks = (pairs >> 40) * BANKS + pairs % (1 << 40) % BANKS
        keys, turns = np.unique(banks, return_counts=True)
        requests = np.unique(keys // BANKS)
        most = np.zeros(len(requests), np.int64)
        np.maximum.at(most, np.searchsorted(requests, keys // BANKS), turns)
        self.requests += len(requests)
        self.conflicts += int((most - 1).sum())


class Global(Cells):
    """An array of the launch, from its first element on; `start` is that element's address in its
    allocation, which begins at a multiple of 256 bytes. `constant`: nobody writes there."""

    space = "global"

    def __init__(
        self, name: str, cells: np.ndarray, start: int, tracker: Tracker, constant: bool = False
    ) -> None:
        super().__init__(name, cells)
        self.start, self.tracker, self.constant = start, tracker, constant
        self.traffic = Traffic()

    def load(self, lanes: Lanes, index: Any) -> np.ndarray:
        active, at = self._where(lanes, index, "reads")
        self._note(lanes, active, at, "read")
        self._read(lanes, active, at)
        return lanes.spread(self.cells[at])

    def store(self, lanes: Lanes, index: Any, value: Any) -> None:
        active, at = self._where(lanes, index, "writes")
        self._note(lanes, active, at, "write")
        self._write(lanes, active, at, value)

    def load_word(self, lanes: Lanes, index: Any, count: int) -> list[np.ndarray]:
        """So many elements that lie side by side, at once."""
        active, at = self._word(lanes, index, count, "reads")
        self._note(lanes, active, at, "read", count)
        for each in range(count):
            self._read(lanes, active, at + each)
        return [lanes.spread(self.cells[at + each]) for each in range(count)]

    def store_word(self, lanes: Lanes, index: Any, values: Sequence[Any]) -> None:
        active, at = self._word(lanes, index, len(values), "writes")
        self._note(lanes, active, at, "write", len(values))
        for each, value in enumerate(values):
            self._write(lanes, active, at + each, value)

    def aligned(self, size: int) -> bool:
        """Does the array begin at a multiple of so many bytes?"""
        return self.start % size == 0

    def _word(
        self, lanes: Lanes, index: Any, count: int, what: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """The active threads, and the indices of their first elements. Raises OutOfBounds, and
        Misaligned where so many elements from there on are not one word."""
        self._where(lanes, index + (count - 1), what)
        active, at = self._where(lanes, index, what)
        size = count * self.cells.itemsize
        astray = (self.start + at * self.cells.itemsize) % size != 0
        if astray.any():
            which = int(np.argmax(astray))
            raise Misaligned(lanes.tell(
                f"{lanes.person(active[which])} {what} {count} elements of {self.name} at once "
                f"from index {at[which]} on, but the address is no multiple of {size} bytes: ask "
                f"aligned({self.name}, {size}) first, and begin at a multiple of {count}"))
        return active, at

    def _read(self, lanes: Lanes, active: np.ndarray, at: np.ndarray) -> None:
        if self.constant:
            cell = self._cell(at)
            self._keep_promise(lanes, active, at, self.tracker.writer[cell] >= 0, "was written")
            self.tracker.constant[cell] = True
        self.traffic.reads += len(at)

    def _write(self, lanes: Lanes, active: np.ndarray, at: np.ndarray, value: Any) -> None:
        broken = self.tracker.constant[self._cell(at)] | self.constant
        self._keep_promise(lanes, active, at, broken, "is written")
        self.traffic.writes += len(at)
        self.cells[at] = lanes.pick(value)

    def atomic_add(self, lanes: Lanes, index: Any, value: Any) -> None:
        """Thread after thread, in their order; on a card the order is open."""
        active, at = self._where(lanes, index, "adds to")
        self.traffic.atomics += len(at)
        np.add.at(self.cells, at, lanes.pick(value))

    def _cell(self, at: np.ndarray) -> np.ndarray:
        """Where that is in the allocation."""
        return self.start // self.cells.itemsize + at

    def _keep_promise(
        self, lanes: Lanes, active: np.ndarray, at: np.ndarray, broken: np.ndarray, what: str
    ) -> None:
        """Raises NotConstant: on a card a load from const memory may be made at any other time."""
        if broken.any():
            which = int(np.argmax(broken))
            raise NotConstant(lanes.tell(
                f"{self.name}[{at[which]}] {what} by {lanes.person(active[which])}, and is read "
                "through a pointer to const: leave out the const, or write elsewhere"))

    def _note(
        self, lanes: Lanes, active: np.ndarray, at: np.ndarray, kind: str, count: int = 1
    ) -> None:
        """Of an access of `count` elements from there on, all of one sector."""
        width = self.cells.itemsize * count
        for each in range(count):
            check_race(self, lanes, active, self._cell(at + each), at + each, kind)
        address = self.start + at * self.cells.itemsize
        lanes.record(self, kind, active, address, width)
        warps, sizes = np.unique(lanes.warp[active], return_counts=True)
        distinct = np.unique(lanes.warp[active] * (1 << 40) + address // SECTOR)
        self.traffic.requests += len(warps)
        self.traffic.sectors += len(distinct)
        same = np.unique(lanes.warp[active] * (1 << 40) + address)  # one address asked for by many
        per_warp = np.unique(same >> 40, return_counts=True)[1]
        self.traffic.fewest += int((-(-per_warp * width // SECTOR)).sum())


def check_race(
    array: Any, lanes: Lanes, active: np.ndarray, cell: np.ndarray, at: np.ndarray, kind: str
) -> None:
    """Raises Race when these accesses and earlier ones are not ordered."""
    note = array.tracker.write if kind == "write" else array.tracker.read
    found = note(cell, lanes.who())
    if found is None:
        return
    which, other = found
    verb = {"write": "writes", "read": "reads"}[kind]
    who = "several threads" if other < 0 else lanes.person_of(other)
    raise Race(lanes.tell(
        f"{lanes.person(active[which])} {verb} {array.name}[{at[which]}], which {who} "
        f"{'used or wrote' if kind == 'write' else 'wrote'} with nothing in between: threads of "
        "one block wait for each other at cuda.syncthreads(), blocks in different launches"))
