"""The output code of a graph on CUDA: its kernels, the functions they share, and `call(args)`.

In: a `Schedule` and the launches of its nests.  Out: the text of a file that reads like the CPU's;
a launch names its grid and its block, as numba has it: `kernel[grid, block](x.array, n)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...fusion.nest import Nest
from ...fusion.scheduler import Schedule
from ..wrapper import Wrapper
from .device import FUNCTIONS, called
from .kernel import Launches


def print_program(
    schedule: Schedule, launches: list[Launches], phase: str, check_inputs: bool = False
) -> str:
    """The whole file. `check_inputs`: print an `assert_layout` for every input."""
    given: Any = launches
    return _CudaWrapper(schedule, given, phase, check_inputs).print()


class _CudaWrapper(Wrapper):
    kernels: Any
    unprinted: Any

    compiled = "labcore.codegen.cuda.program"
    memory = "labcore.tensor.on_card"

    @property
    def sources(self) -> list[str]:
        """The text of each kernel, after that of the device functions."""
        text = "\n".join(launches.source for launches in self.kernels)
        shared = [f"@device\n{FUNCTIONS[name]}" for name in called(text)]
        return [*shared, *(k.marked for each in self.kernels for k in each.kernels)]

    def _head(self, call: list[str]) -> Iterator[str]:
        yield from super()._head(call)
        if any(source.startswith("@device") for source in self.sources):
            yield "device = program.device"
        if any(k.resident > 1 for each in self.kernels for k in each.kernels):
            yield "resident = program.resident"

    def _kernel(self, nest: Nest, index: int) -> Iterator[str]:
        launches = next(self.unprinted)
        for name in nest.made:
            yield from self._memory_for(name, index)
        scratch = [p for p in launches.parameters if p.scratch is not None]
        yield from self._lend(scratch)
        for kernel in launches.kernels:
            given = ", ".join(self._given(p) for p in kernel.parameters)
            yield f"{kernel.name}{kernel.launch}({given})"
        if scratch:
            yield f"del {', '.join(self.name(p.storage) for p in scratch)}"
