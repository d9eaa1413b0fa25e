"""A card of paper: a driver without a card, so that what a driver is told can be tried anywhere.

In: addresses, a program's text in place of machine code.  Out: a `Driver`, as `runtime/driver.py`
has it, whose kernels are run by the grid simulator; launches can be recorded and replayed.
Memory has two faces. An address that is handed out is one of the host's, filled with junk; what a
card would have there lies elsewhere. So whatever reads or writes through an address as if it were
the host's gets junk, and is found out by `check`.
Left out: time. What takes long here says nothing of a card.
"""

from __future__ import annotations

import ast
import bisect
import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import dtypes
from ...runtime.card import SiliconCard
from ...runtime.driver import Argument, CallStep, KernelStep, OutOfMemory, Step
from ...simulator import Launch, launch
from ..build import kernel_nodes
from ..printer import pointee
from .build import Built

JUNK = 0xA7


def paper_card() -> SiliconCard:
    """A card of its own, whose new memory is full of nan."""
    return SiliconCard(PaperDriver(), build, poison=True)


def build(source: str, card: SiliconCard) -> Built:
    """The kernels of a text, as they stand there."""
    names = [node.name for node in kernel_nodes(source)]
    kernels = card.kernels(source.encode(), names) if names else {}
    return Built(kernels, f"for {card.name}", False, "", "")


class PaperFunction:
    """A kernel of a text, and the types of its arguments."""

    def __init__(self, source: str, name: str) -> None:
        (node,) = [n for n in kernel_nodes(source) if n.name == name]
        self.source, self.name = source, name
        self.types = [ast.unparse(a.annotation).strip("'\"") for a in node.args.args
                      if a.annotation]


class PaperReplay:
    """`made`: how often it was launched; `changed`: how often a step got other arguments."""

    def __init__(self, driver: PaperDriver, steps: Sequence[Step]) -> None:
        self.driver, self.steps = driver, list(steps)
        self.changed = self.made = 0
        self.arguments = {k: list(s.arguments) for k, s in enumerate(steps)
                          if isinstance(s, KernelStep)}

    def set(self, step: int, arguments: Sequence[Argument]) -> None:
        self.arguments[step] = list(arguments)
        self.changed += 1

    def launch(self) -> None:
        self.made += 1
        for number, step in enumerate(self.steps):
            if isinstance(step, CallStep):
                step.call()
            else:
                self.driver.run(step.function, step.grid, step.block, self.arguments[number])


class PaperDriver:
    """`limit`: bytes it has. `replays` are those that were made; `launches`, the caller's own list,
    gets what the simulator counted of each launch."""

    name, cc, stream_id, has_clock = "a card of paper", (9, 0), 7, False

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
        self.blocks: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.starts: list[int] = []
        self.replays: list[PaperReplay] = []
        self.launches: list[Launch] | None = None

    # ---- memory ----

    def allocate(self, nbytes: int) -> int:
        if self.held + nbytes > self.limit:
            raise OutOfMemory("paper is out")
        face = np.full(nbytes + 256, JUNK, np.uint8)
        start = -(-face.ctypes.data // 256) * 256
        self.blocks[start] = face, np.zeros(nbytes, np.uint8)
        bisect.insort(self.starts, start)
        return start

    def free(self, pointer: int) -> None:
        self.starts.remove(pointer)
        del self.blocks[pointer]

    @property
    def held(self) -> int:
        return sum(real.nbytes for _, real in self.blocks.values())

    def memory(self) -> tuple[int, int]:
        return self.limit - self.held, self.limit

    def memory_at(self, pointer: int, nbytes: int | None = None) -> np.ndarray:
        """What a card has at an address, to the end of its block."""
        place = bisect.bisect_right(self.starts, pointer) - 1
        assert place >= 0, "an address that nobody handed out"
        start = self.starts[place]
        real = self.blocks[start][1]
        assert pointer - start <= real.nbytes, "an address that nobody handed out"
        found = real[pointer - start:]
        if nbytes is None:
            return found
        assert nbytes <= found.nbytes, "beyond the end of a block"
        return found[:nbytes]

    def to_card(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(self.memory_at(target, nbytes).ctypes.data, source, nbytes)

    def to_host(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(target, self.memory_at(source, nbytes).ctypes.data, nbytes)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self.memory_at(target, nbytes)[:] = self.memory_at(source, nbytes).copy()

    def fill(self, target: int, byte: int, nbytes: int) -> None:
        self.memory_at(target, nbytes)[:] = byte

    # ---- work ----

    def load(self, code: bytes, kernels: Sequence[str]) -> dict[str, Any]:
        return {name: PaperFunction(code.decode(), name) for name in kernels}

    def launcher(self, function: Any, grid: Sequence[int], block: Sequence[int]) -> Any:
        return lambda *given: self.run(function, grid, block, given)

    def run(self, function: Any, grid: Any, block: Any, given: Sequence[Any]) -> None:
        arguments = []
        for type_, value in zip(function.types, given, strict=True):
            if element := pointee(type_):
                cells, numpy = self.memory_at(value), dtypes.BY_NAME[element].numpy
                whole = cells.nbytes // numpy.itemsize * numpy.itemsize
                arguments.append(cells[:whole].view(numpy))
            else:
                arguments.append(np.dtype(type_).type(value))
        found = launch(function.source, function.name, grid, block, arguments)
        if self.launches is not None:
            self.launches.append(found)

    def matmul(self, kind: str, product: Any, a: int, b: int, c: int) -> None:
        p, dtype = product, dtypes.BY_NAME[kind]
        type_, wide = dtype.numpy, dtypes.computed_in(dtype).numpy

        def matrix(pointer: int, m: Any, rows: int, columns: int) -> np.ndarray:
            cells = self.memory_at(pointer)
            steps = (m.batch, 1, m.lead) if m.turned else (m.batch, m.lead, 1)
            return np.ndarray((p.batch, rows, columns), type_, cells, 0,
                              [s * type_.itemsize for s in steps])

        out = np.ndarray((p.batch, p.m, p.n), type_, self.memory_at(c))
        left, right = matrix(a, p.a, p.m, p.k), matrix(b, p.b, p.k, p.n)
        out[...] = left.astype(wide, copy=False) @ right.astype(wide, copy=False)

    def replay(self, steps: Sequence[Any]) -> PaperReplay:
        self.replays.append(PaperReplay(self, steps))
        return self.replays[-1]

    def wait_for(self, stream: int) -> None:
        """All is done when it is asked for."""

    def synchronize(self) -> None:
        """It is never behind."""

    def timed(self, work: Callable[[], None]) -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    def check(self) -> None:
        """Raise AssertionError where somebody has written through an address."""
        assert all((face == JUNK).all() for face, _ in self.blocks.values())
