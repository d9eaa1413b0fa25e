"""A launch: a kernel's text, run by every block of a grid.

In: the text of a kernel and of the device functions it calls, the shape of the launch, arguments.
Out: the arrays, written; and a `Launch` that says what was counted.
Blocks are run some at a time, in order; none may wait for another, so which run together decides
nothing. The machine is deterministic: the same launch gives the same bits.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from .interpret import Threads
from .lanes import Lanes
from .memory import Access, Global, Local, Shared, Traffic
from .tracker import Tracker

TOGETHER = 1 << 14  # threads that are run in one go
LARGEST = 1024  # threads of a block, on every card
SHARED = 48 * 1024  # bytes of a block


@dataclass
class Launch:
    """What a launch did. `shared` has (requests, extra turns for bank conflicts) of each shared
    array; `shared_bytes` and `local_bytes` are what a block and a thread reserve."""

    source: str = field(repr=False)
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    traffic: dict[str, Traffic] = field(default_factory=dict)
    shared: dict[str, tuple[int, int]] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    barriers: int = 0
    accesses: list[Access] = field(default_factory=list)

    @property
    def reads(self) -> int:
        return sum(t.reads for t in self.traffic.values())

    @property
    def writes(self) -> int:
        return sum(t.writes for t in self.traffic.values())

    def __str__(self) -> str:
        lines = [f"{self.kernel}[{_sizes(self.grid)}, {_sizes(self.block)}]"]
        for name, t in self.traffic.items():
            lines.append(
                f"  {name}: {t.reads} read, {t.writes} written, {t.sectors} "
                f"sector{'' if t.sectors == 1 else 's'} ({t.coalesced:.0%} coalesced)")
        for name, (requests, extra) in self.shared.items():
            lines.append(f"  {name} (shared): {requests} requests, {extra} turns lost to banks")
        return "\n".join(lines)


class Memory:
    """The allocations that the arrays of a launch lie in; each begins at a multiple of 256 bytes.
    Two arrays over one allocation share what is known of its cells."""

    def __init__(self) -> None:
        self.trackers: dict[tuple[int, int], Tracker] = {}

    def array(self, name: str, cells: np.ndarray, constant: bool = False) -> Global:
        """A flat numpy array as an argument; `constant`, where it is declared so. Halves are words
        of 16 bits to a kernel."""
        base = _allocation(cells)
        start = _address(cells) - _address(base)
        key = (_address(base), cells.itemsize)
        if key not in self.trackers:
            self.trackers[key] = Tracker(base.nbytes // cells.itemsize)
        held = cells.view(np.uint16) if cells.itemsize == 2 else cells
        return Global(name, held, start, self.trackers[key], constant)


def launch(
    source: str,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    arguments: Sequence[Any],
    watch: int | None = None,
) -> Launch:
    """Run a kernel of a text. Arguments are flat numpy arrays, or numbers; `watch` is the block of
    which every request of a warp is kept.

    Raises GridError: OutOfBounds, Misaligned, Race, NotConstant, DivergentBarrier, Uninitialised,
    Unsupported; ValueError for a launch that no card takes.
    """
    functions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
    _check_shape(grid, block)
    function = functions.pop(kernel)
    memory = Memory()
    given = {
        p.arg: memory.array(p.arg, a, _is_constant(p)) if isinstance(a, np.ndarray) else a
        for p, a in zip(function.args.args, arguments, strict=True)
    }
    found = Launch(source, kernel, tuple(grid), tuple(block))
    size, across = _plane(block), _plane(grid)
    blocks = prod(across)
    at_once = max(1, TOGETHER // prod(size))
    lines = source.splitlines()
    with np.errstate(all="ignore"):
        for first in range(0, blocks, at_once):
            count = min(at_once, blocks - first)
            lanes = Lanes(first, count, across, size, kernel, lines)
            if watch is not None and first <= watch < first + count:
                lanes.accesses, lanes.watched = found.accesses, watch
            threads = Threads(lanes, functions, count)
            threads.run(function, given)
            _add_up(found, threads)
    found.traffic = {n: a.traffic for n, a in given.items() if isinstance(a, Global)}
    return found


def _is_constant(parameter: ast.arg) -> bool:
    return str(getattr(parameter.annotation, "value", "")).startswith("const ")


def _add_up(found: Launch, threads: Threads) -> None:
    found.shared_bytes = found.local_bytes = 0
    for name, array in threads.memory.items():
        nbytes = array.size * array.cells.itemsize
        if isinstance(array, Shared):
            requests, extra = found.shared.get(name, (0, 0))
            found.shared[name] = (requests + array.requests, extra + array.conflicts)
            found.shared_bytes += nbytes
        elif isinstance(array, Local):
            found.local_bytes += nbytes
    found.barriers = max(found.barriers, threads.lanes.barriers)
    if found.shared_bytes > SHARED:
        raise ValueError(f"a block has {SHARED} bytes of shared memory, not {found.shared_bytes}")


def _check_shape(grid: Sequence[int], block: Sequence[int]) -> None:
    if not 1 <= prod(block) <= LARGEST or min(block) < 1 or len(block) > 2:
        raise ValueError(f"a block has 1 to {LARGEST} threads in up to two axes, not {block}")
    if min(grid) < 1 or len(grid) > 2:
        raise ValueError(f"a grid has at least one block, in up to two axes, not {grid}")


def _plane(sizes: Sequence[int]) -> tuple[int, int]:
    return (sizes[0], sizes[1]) if len(sizes) == 2 else (sizes[0], 1)


def _sizes(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))


def _allocation(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
