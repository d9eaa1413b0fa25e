"""The driver of a card of silicon: cuda-core and cuda-bindings; nothing else imports them here.

In and out: see `driver.py`, whose `Driver` this is.
Invariant: every call's status is looked at. A kernel that stopped itself is found out by the next
call that waits; after that CUDA serves this process no more, and the error says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver as cu
from cuda.core import Device, LaunchConfig, ObjectCode, Stream, StreamOptions, launch

from .cublas import Cublas, Product
from .driver import CudaError, KernelStep, NoCard, Step
from .graphs import CudaGraph
from .status import checked


class NvidiaDriver:
    """The first card of this machine."""

    has_clock = True

    def __init__(self) -> None:
        try:
            checked(cu.cuInit(0))
            if not checked(cu.cuDeviceGetCount()):
                raise NoCard("NVIDIA's driver finds no card")
            device = Device(0)
            device.set_current()
        except (CudaError, RuntimeError) as error:
            raise NoCard(f"NVIDIA's driver says: {error}") from None
        self.device = device
        self.name = device.name
        capability = device.compute_capability
        self.cc = capability.major, capability.minor
        # one that waits for the default stream, as other libraries use that one
        self.stream: Stream = device.create_stream(options=StreamOptions(nonblocking=False))
        self.stream_id = int(self.stream.handle)
        self.handle = cu.CUstream(self.stream_id)
        self._cublas: Cublas | None = None

    # ---- memory ----

    def allocate(self, nbytes: int) -> int:
        return int(checked(cu.cuMemAlloc(nbytes)))

    def free(self, pointer: int) -> None:
        checked(cu.cuMemFree(pointer))

    def memory(self) -> tuple[int, int]:
        """Bytes that are free, and bytes that there are."""
        free, total = checked(cu.cuMemGetInfo())
        return free, total

    def to_card(self, target: int, source: int, nbytes: int) -> None:
        checked(cu.cuMemcpyHtoDAsync(target, source, nbytes, self.handle))
        self.synchronize()

    def to_host(self, target: int, source: int, nbytes: int) -> None:
        checked(cu.cuMemcpyDtoHAsync(target, source, nbytes, self.handle))
        self.synchronize()

    def copy(self, target: int, source: int, nbytes: int) -> None:
        checked(cu.cuMemcpyDtoDAsync(target, source, nbytes, self.handle))

    def fill(self, target: int, byte: int, nbytes: int) -> None:
        checked(cu.cuMemsetD8Async(target, byte, nbytes, self.handle))

    # ---- kernels ----

    def load(self, code: bytes, kernels: Sequence[str]) -> Mapping[str, Any]:
        module = ObjectCode.from_cubin(code)
        return {name: module.get_kernel(name) for name in kernels}

    def launcher(
        self, function: Any, grid: Sequence[int], block: Sequence[int]
    ) -> Callable[..., None]:
        """What launches a kernel over these threads; takes addresses and numbers."""
        config = LaunchConfig(grid=tuple(grid), block=tuple(block))
        return partial(launch, self.stream, config, function)

    def matmul(self, kind: str, product: Product, a: int, b: int, c: int) -> None:
        if self._cublas is None:
            self._cublas = Cublas(int(self.stream.handle))
        self._cublas.matmul(kind, product, a, b, c)

    # ---- order ----

    def replay(self, steps: Sequence[Step]) -> CudaGraph:
        return CudaGraph(self.handle, steps, self._again)

    def _again(self, step: KernelStep) -> None:
        self.launcher(step.function, step.grid, step.block)(*step.arguments)

    def wait_for(self, stream: int) -> None:
        """Another stream's next work waits for all that this one was given."""
        event = checked(cu.cuEventCreate(cu.CUevent_flags.CU_EVENT_DISABLE_TIMING))
        try:
            checked(cu.cuEventRecord(event, self.handle))
            checked(cu.cuStreamWaitEvent(cu.CUstream(stream), event, 0))
        finally:
            checked(cu.cuEventDestroy(event))

    def synchronize(self) -> None:
        checked(cu.cuStreamSynchronize(self.handle))

    def timed(self, work: Callable[[], None]) -> float:
        """Seconds on the card between an event before and one after, as CUDA's own clock says."""
        begin, end = [checked(cu.cuEventCreate(cu.CUevent_flags.CU_EVENT_DEFAULT))
                      for _ in range(2)]
        try:
            checked(cu.cuEventRecord(begin, self.handle))
            work()
            checked(cu.cuEventRecord(end, self.handle))
            checked(cu.cuEventSynchronize(end))
            milliseconds: float = checked(cu.cuEventElapsedTime(begin, end))
        finally:
            checked(cu.cuEventDestroy(begin))
            checked(cu.cuEventDestroy(end))
        return milliseconds / 1e3
