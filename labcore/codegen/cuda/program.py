"""A program's text to a program that runs on a grid: what `compiled(__file__)` gives it.

In: the file's path, or its text.  Out: `program.kernel`, which makes of a kernel's text something
to launch: `kernel[grid, block](x.array, n)`; and `program.device`, for functions that only kernels
call.
Invariant: what runs is the very text that the file shows. Here that is always the grid simulator.
"""

from __future__ import annotations

import linecache
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import trace
from ...fusion import Schedule
from ...fusion.report import report_memory
from ...runtime import cards
from ...simulator import launch
from ...tensor.cuda import to_host
from ...tensor.storage import flat
from .. import Kernel, cache
from ..build import show_without_file
from ..plain import print_plain
from ..program import Program, handed_over, handing_over
from ..wrapper import memory_plan
from . import print_launches
from .wrapper import print_program

Sizes = int | Sequence[int]


@dataclass(frozen=True)
class GridFunction:
    """A kernel of a text. `kernel[grid, block]` is a launch, waiting for its arguments."""

    source: str
    name: str

    def __getitem__(self, shape: tuple[Sizes, Sizes]) -> Callable[..., None]:
        grid, block = (tuple(s) if isinstance(s, Sequence) else (s,) for s in shape)

        def run(*arguments: Any) -> None:
            given = [flat(to_host(a)) if isinstance(a, np.ndarray) else a for a in arguments]
            cards.note(launch(self.source, self.name, grid, block, given, cards.watched()))

        return run


@dataclass
class GridProgram(Program):
    """A program whose kernels are run by the simulator."""

    source: str = ""
    launchers: dict[str, Any] = field(default_factory=dict)

    def kernel(self, function: Callable) -> Any:
        return GridFunction(self.source, function.__name__)

    def device(self, function: Callable) -> Callable:
        """Decorator: a function that kernels call; it is read in their text."""
        return function


def compiled(path: str) -> Program:
    """The program of an output code file."""
    return handed_over(path) or GridProgram(source=Path(path).read_text())


def compile_schedule(schedule: Schedule, constants: dict[str, Any], phase: str,
                     check_inputs: bool = False, told: bool = True) -> Any:
    """Print the kernels of a schedule and the program around them; `call.source` is its text,
    `call.launches` its kernels by nest. `told`: those who listen hear of it."""
    start = time.perf_counter()
    launches = [print_launches(nest, number) for number, nest in enumerate(schedule.nests)]
    source = print_program(schedule, launches, phase, check_inputs)
    path = f"<output code {cache.key_of(source)}>"
    show_without_file(path, source)
    scope: dict[str, Any] = {"__name__": "output_code", "__file__": path}
    with handing_over(path, GridProgram(constants=constants, source=source)):
        exec(compile(source, path, "exec", dont_inherit=True), scope)
    call = scope.pop("call")
    weakref.finalize(call, linecache.cache.pop, path, None)
    call.source, call.schedule, call.launches = source, schedule, launches
    call.kernels = [Kernel(k.name, path, k.source) for each in launches for k in each.kernels]
    if told and trace.listening():
        report_memory(phase, schedule, memory_plan(schedule, launches))
        _report(phase, call, path, time.perf_counter() - start)
    return call


def _report(phase: str, call: Any, path: str, seconds: float) -> None:
    for number, (launches, nest) in enumerate(zip(call.launches, call.schedule.nests)):
        plain = print_plain(nest, number).source
        for kernel in launches.kernels:
            trace.emit(trace.KernelReady(kernel.name, path, kernel.source, False, plain))
            trace.emit(trace.KernelForm(kernel.name, kernel.form, kernel.reason,
                                        list(kernel.grid), list(kernel.block)))
    trace.emit(trace.OutputCode(phase, path, call.source))
    count = len(call.kernels)
    note = f"{count} kernel{'' if count == 1 else 's'} for the grid simulator"
    trace.emit(trace.Stage("codegen", seconds, note))
