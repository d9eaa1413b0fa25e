"""A driver without a card: memory of two faces, kernels run by the grid simulator.

An address that it hands out is one of the host's, filled with junk; what a card would have there
lies elsewhere. So whatever reads or writes through an address as if it were the host's gets junk,
and is found out by `check`. Machine code is the program's own text.
"""

from __future__ import annotations

import ast
import bisect
import ctypes
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from labcore import cuda
from labcore.codegen.build import kernel_nodes
from labcore.codegen.cuda import build
from labcore.codegen.cuda.cubin import Compiled
from labcore.codegen.cuda.eager import carry
from labcore.runtime.card import SiliconCard
from labcore.runtime.driver import CallStep, OutOfMemory
from labcore.simulator import launch
from labcore.tensor.cuda import card_in_use, install

JUNK = 0xA7


class FakeFunction:
    def __init__(self, source: str, name: str) -> None:
        (node,) = [n for n in kernel_nodes(source) if n.name == name]
        self.source, self.name = source, name
        self.types = [ast.unparse(a.annotation).strip("'\"") for a in node.args.args]


class FakeReplay:
    def __init__(self, driver: FakeDriver, steps: Sequence[Any]) -> None:
        self.driver, self.steps, self.changed = driver, list(steps), 0
        self.arguments = {k: list(s.arguments) for k, s in enumerate(steps)
                          if not isinstance(s, CallStep)}

    def set(self, step: int, arguments: Sequence[Any]) -> None:
        self.arguments[step] = list(arguments)
        self.changed += 1

    def launch(self) -> None:
        for number, step in enumerate(self.steps):
            if isinstance(step, CallStep):
                step.call()
            else:
                self.driver.run(step.function, step.grid, step.block, self.arguments[number])


class FakeDriver:
    name, cc, stream_id = "a card of paper", (9, 0), 7

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
        self.blocks: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.starts: list[int] = []
        self.log: list[str] = []
        self.replays: list[FakeReplay] = []

    # ---- memory ----

    def allocate(self, nbytes: int) -> int:
        self.log.append(f"allocate {nbytes}")
        if self.held + nbytes > self.limit:
            raise OutOfMemory("paper is out")
        face = np.full(nbytes + 256, JUNK, np.uint8)
        start = -(-face.ctypes.data // 256) * 256
        self.blocks[start] = face, np.zeros(nbytes, np.uint8)
        bisect.insort(self.starts, start)
        return start

    def free(self, pointer: int) -> None:
        self.log.append("free")
        self.starts.remove(pointer)
        del self.blocks[pointer]

    @property
    def held(self) -> int:
        return sum(real.nbytes for _, real in self.blocks.values())

    def memory(self) -> tuple[int, int]:
        return self.limit - self.held, self.limit

    def bytes(self, pointer: int, nbytes: int | None = None) -> np.ndarray:
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
        ctypes.memmove(self.bytes(target, nbytes).ctypes.data, source, nbytes)

    def to_host(self, target: int, source: int, nbytes: int) -> None:
        ctypes.memmove(target, self.bytes(source, nbytes).ctypes.data, nbytes)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        self.bytes(target, nbytes)[:] = self.bytes(source, nbytes).copy()

    def fill(self, target: int, byte: int, nbytes: int) -> None:
        self.bytes(target, nbytes)[:] = byte

    # ---- work ----

    def load(self, code: bytes, kernels: Sequence[str]) -> dict[str, Any]:
        return {name: FakeFunction(code.decode(), name) for name in kernels}

    def launcher(self, function: Any, grid: Sequence[int], block: Sequence[int]) -> Any:
        self.log.append("launcher")
        return lambda *given: self.run(function, grid, block, given)

    def run(self, function: Any, grid: Any, block: Any, given: Sequence[Any]) -> None:
        arguments = []
        for type_, value in zip(function.types, given, strict=True):
            if type_.endswith("*"):
                cells, numpy = self.bytes(value), np.dtype(type_.removeprefix("const ")[:-1])
                whole = cells.nbytes // numpy.itemsize * numpy.itemsize
                arguments.append(cells[:whole].view(numpy))
            else:
                arguments.append(np.dtype(type_).type(value))
        launch(function.source, function.name, grid, block, arguments)

    def matmul(self, kind: str, product: Any, a: int, b: int, c: int) -> None:
        self.log.append("matmul")
        p, type_ = product, np.dtype(kind)

        def matrix(pointer: int, m: Any, rows: int, columns: int) -> np.ndarray:
            cells = self.bytes(pointer)
            steps = (m.batch, 1, m.lead) if m.turned else (m.batch, m.lead, 1)
            return np.ndarray((p.batch, rows, columns), type_, cells, 0,
                              [s * type_.itemsize for s in steps])

        out = np.ndarray((p.batch, p.m, p.n), type_, self.bytes(c))
        out[...] = matrix(a, p.a, p.m, p.k) @ matrix(b, p.b, p.k, p.n)

    def replay(self, steps: Sequence[Any]) -> FakeReplay:
        self.replays.append(FakeReplay(self, steps))
        return self.replays[-1]

    def wait_for(self, stream: int) -> None:
        self.log.append(f"wait {stream}")

    def synchronize(self) -> None:
        self.log.append("synchronize")

    def timed(self, work: Callable[[], None]) -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    def check(self) -> None:
        """Nobody has written through an address."""
        assert all((face == JUNK).all() for face, _ in self.blocks.values())


def compile_text(source: str, cc: tuple[int, int]) -> dict[str, Compiled]:
    """The text itself as machine code."""
    return {n.name: Compiled(n.name, "", source.encode(), 1, 0, 0, 0)
            for n in kernel_nodes(source)}


@contextmanager
def paper_card(monkeypatch: Any, driver: FakeDriver | None = None):
    """The card in use is one of paper, its new memory full of nan."""
    monkeypatch.setattr(build, "compile_source", compile_text)
    monkeypatch.setattr(build, "made_by", lambda cc: {"card": "paper"})
    driver = driver or FakeDriver()
    card = SiliconCard(driver, build.build, poison=True)
    before = card_in_use()
    install(card, carry)
    try:
        yield card
    finally:
        cuda.simulate(False)
        install(before, carry if before else None)
        driver.check()
