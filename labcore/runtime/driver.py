"""NVIDIA's driver, as far as the lab needs it: memory, machine code, launches, graphs, matrices.

In: addresses, bytes, machine code.  Out: things done on a card, in one stream.
`Driver` is all that the rest of the lab knows of a card of silicon; `open_driver` gives the one
that talks to NVIDIA's through cuda-core and cuda-bindings, which come with the extra `cuda`. Tests
have another one, made of the grid simulator.
Invariant: everything is done in one stream, in the order in which it was asked for; nothing waits
for the card but copies to the host, `synchronize` and what says so. The stream waits for CUDA's
default stream and the other way round, so that memory can be shared with other libraries.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

from .cublas import Product

Argument = int | float  # an address, or a number that a kernel takes as int64 or float64
Launcher = Callable[..., None]


class CudaError(RuntimeError):
    """The driver, or a kernel, refused."""


class OutOfMemory(CudaError):
    """The card has not so much memory left."""


class NoCard(Exception):
    """Why there is no card of silicon."""


@dataclass
class KernelStep:
    """One launch of a recording: which kernel, over how many threads, on what."""

    function: Any
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: list[Argument]


@dataclass
class CallStep:
    """What a library did on the card: `call` does it once more, at addresses that stay. `writes`
    and `reads` are (address, bytes), `work` counts multiplications and additions."""

    call: Callable[[], None]
    reads: list[tuple[int, int]]
    writes: tuple[int, int]
    work: int


Step = KernelStep | CallStep


class Replay(Protocol):
    """Steps that one call makes again."""

    def set(self, step: int, arguments: Sequence[Argument]) -> None:
        """From now on a kernel's step has these arguments."""
        ...

    def launch(self) -> None: ...


class Driver(Protocol):
    """What there is to do on a card; addresses are its own, sizes in bytes. `has_clock`: do the
    times that it takes mean anything?"""

    name: str
    cc: tuple[int, int]
    stream_id: int
    has_clock: bool

    def allocate(self, nbytes: int) -> int: ...
    def free(self, pointer: int) -> None: ...
    def memory(self) -> tuple[int, int]: ...
    def to_card(self, target: int, source: int, nbytes: int) -> None: ...
    def to_host(self, target: int, source: int, nbytes: int) -> None: ...
    def copy(self, target: int, source: int, nbytes: int) -> None: ...
    def fill(self, target: int, byte: int, nbytes: int) -> None: ...
    def load(self, code: bytes, kernels: Sequence[str]) -> Mapping[str, Any]: ...
    def launcher(self, function: Any, grid: Sequence[int], block: Sequence[int]) -> Launcher: ...
    def matmul(self, kind: str, product: Product, a: int, b: int, c: int) -> None: ...
    def replay(self, steps: Sequence[Step]) -> Replay: ...
    def wait_for(self, stream: int) -> None: ...
    def synchronize(self) -> None: ...

    def timed(self, work: Callable[[], None]) -> float:
        """Seconds that the card takes for what `work` asks of it; waits for that."""
        ...


def why_not() -> str:
    """Why this process cannot use a card, in words; empty if nothing is known to be missing."""
    if find_spec("cuda") is None or find_spec("cuda.core") is None:
        return "the extra `cuda` is not installed"
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "NVIDIA's driver is not installed (there is no libcuda.so.1)"
    return ""


def open_driver() -> Driver:
    """The first card of this machine. Raises NoCard with the reason."""
    reason = why_not()
    if reason:
        raise NoCard(reason)
    from .nvidia import NvidiaDriver

    return NvidiaDriver()
