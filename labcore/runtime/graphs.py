"""CUDA graphs: launches that were recorded, made again by one call of the driver.

In: the steps of a recording, in order.  Out: a `CudaGraph`, which runs all of them; the arguments
of a kernel can be changed in between.
The steps are made once more while the stream is captured, which does not run them. A kernel becomes
a node whose arguments we know; what a library launches stays as it is.
Changing a node's addresses takes 0.6 to 1 us on an H200, copying an input to where a graph expects
it 7; PyTorch copies, because most of its kernels' arguments are unknown to it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings import driver as cu

from .driver import Argument, CallStep, KernelStep, Step
from .status import checked

THREAD_LOCAL = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
SUCCESS = cu.CUresult.CUDA_SUCCESS

Launch = Callable[[KernelStep], None]


class CudaGraph:
    """`nodes`: of each kernel, by the number of its step, the node and its parameters."""

    def __init__(self, stream: Any, steps: Sequence[Step], launch: Launch) -> None:
        self.stream = stream
        self.nodes: dict[int, tuple[Any, Any, Packed]] = {}
        captured: dict[int, Any] = {}
        checked(cu.cuStreamBeginCapture(stream, THREAD_LOCAL))
        try:
            for number, step in enumerate(steps):
                if isinstance(step, CallStep):
                    step.call()
                else:
                    launch(step)
                    captured[number] = self._last_node()
        finally:
            self.graph = checked(cu.cuStreamEndCapture(stream))
        for number, node in captured.items():
            step = steps[number]
            assert isinstance(step, KernelStep)
            packed = Packed(step.arguments)
            given = checked(cu.cuGraphKernelNodeGetParams(node))
            given.kernelParams = packed.address
            self.nodes[number] = node, given, packed
        self.ready = checked(cu.cuGraphInstantiate(self.graph, 0))

    def _last_node(self) -> Any:
        """The node that the next one would wait for."""
        _, _, _, waited_for, *_ = checked(cu.cuStreamGetCaptureInfo(self.stream))
        return waited_for[0]

    def set(self, step: int, arguments: Sequence[Argument]) -> None:
        node, given, packed = self.nodes[step]
        packed.fill(arguments)
        checked(cu.cuGraphExecKernelNodeSetParams(self.ready, node, given))

    def launch(self) -> None:
        result = cu.cuGraphLaunch(self.ready, self.stream)
        if result[0] is not SUCCESS:  # asked here, for this is what a replay's time goes into
            checked(result)

    def __del__(self) -> None:
        if hasattr(self, "ready"):
            cu.cuGraphExecDestroy(self.ready)
        if hasattr(self, "graph"):
            cu.cuGraphDestroy(self.graph)


class Packed:
    """Arguments as a launch of the driver's wants them: an array of addresses of 8 bytes each."""

    def __init__(self, arguments: Sequence[Argument]) -> None:
        self.cells = (ctypes.c_int64 * len(arguments))()
        self.addresses = (ctypes.c_void_p * len(arguments))()
        for k in range(len(arguments)):
            self.addresses[k] = ctypes.addressof(self.cells) + 8 * k
        self.address = ctypes.addressof(self.addresses)
        self.floats = [k for k, value in enumerate(arguments) if isinstance(value, float)]
        self.fill(arguments)

    def fill(self, arguments: Sequence[Argument]) -> None:
        if not self.floats:
            self.cells[:] = arguments  # type: ignore[call-overload]  # any sequence will do
            return
        for k, value in enumerate(arguments):
            if k in self.floats:
                ctypes.c_double.from_buffer(self.cells, 8 * k).value = value
            else:
                self.cells[k] = int(value)
