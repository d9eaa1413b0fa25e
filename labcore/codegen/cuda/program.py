"""A program's text to a program that runs on a card: what `compiled(__file__)` gives it.

In: the file's path, or its text.  Out: `program.kernel`, which makes of a kernel's text something
to launch: `kernel[grid, block](x.array, n)`; and `program.device`, for functions that only kernels
call.
Invariant: what runs is the very text that the file shows, on the card in use.
"""

from __future__ import annotations

import linecache
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import trace
from ...fusion import Schedule
from ...fusion.report import report_memory
from ...tensor.cuda import Functions, card
from .. import Kernel, cache
from ..build import show_without_file
from ..plain import print_plain
from ..program import Program, handed_over, handing_over, random_tensor
from ..wrapper import memory_plan
from . import print_launches
from .form import Form, choose
from .wrapper import print_program


@dataclass
class GridProgram(Program):
    """A program whose kernels run on a card."""

    launchers: dict[str, Any] = field(default_factory=dict)

    def device(self, function: Callable) -> Callable:
        """Decorator: a function that kernels call; it is read in their text."""
        return function

    def resident(self, blocks: int) -> Callable[[Callable], Any]:
        """Decorator: a kernel, compiled so that a multiprocessor has registers for so many blocks.
        """
        return self.kernel

    def random(self, *layout: Any) -> Any:
        return random_tensor(*layout).to("cuda")


def compiled(path: str) -> Program:
    """The program of an output code file."""
    known = handed_over(path)
    return known or GridProgram(launchers=dict(card().functions(Path(path).read_text()).by_name))


def compile_schedule(schedule: Schedule, constants: dict[str, Any], phase: str,
                     check_inputs: bool = False, told: bool = True, in_place: bool = False) -> Any:
    """Print the kernels of a schedule and the program around them; `call.source` is its text,
    `call.launches` its kernels by nest, `call.functions` what launches them. `told`: those who
    listen hear of it. `in_place`: see `print_launches`."""
    start = time.perf_counter()
    launches = [print_launches(nest, k, in_place, form)
                for k, (nest, form) in enumerate(zip(schedule.nests, _forms(schedule)))]
    source = print_program(schedule, launches, phase, check_inputs)
    functions = card().functions(source)
    path = f"<output code {cache.key_of(source)}>"
    show_without_file(path, source)
    scope: dict[str, Any] = {"__name__": "output_code", "__file__": path}
    with handing_over(path, GridProgram(dict(functions.by_name), constants)):
        exec(compile(source, path, "exec", dont_inherit=True), scope)
    call = scope.pop("call")
    weakref.finalize(call, linecache.cache.pop, path, None)
    call.source, call.schedule, call.launches = source, schedule, launches
    call.functions = functions.by_name
    call.kernels = [Kernel(k.name, path, k.source) for each in launches for k in each.kernels]
    if told and trace.listening():
        report_memory(phase, schedule, memory_plan(schedule, launches))
        _report(phase, call, path, functions, time.perf_counter() - start)
    return call


def _forms(schedule: Schedule) -> list[Form]:
    """How each nest lies on the grid: as its sizes say, or as was measured."""
    if not schedule.options.max_autotune:
        return [choose(nest, schedule.program.seen) for nest in schedule.nests]
    from .tune import tuned

    return tuned(schedule, card())


def _report(phase: str, call: Any, path: str, functions: Functions, seconds: float) -> None:
    if functions.key and call.kernels:
        outcome = "hit" if functions.cached else "miss"
        trace.emit(trace.DiskCache(functions.key, outcome, functions.reason))
    for number, (launches, nest) in enumerate(zip(call.launches, call.schedule.nests)):
        plain = print_plain(nest, number).source
        for kernel in launches.kernels:
            trace.emit(trace.KernelReady(kernel.name, path, kernel.source, functions.cached, plain))
            trace.emit(trace.KernelForm(kernel.name, kernel.form, kernel.reason,
                                        list(kernel.grid), list(kernel.block)))
    trace.emit(trace.OutputCode(phase, path, call.source))
    count = len(call.kernels)
    note = f"{count} kernel{'' if count == 1 else 's'} {functions.note}"
    trace.emit(trace.Stage("codegen", seconds, note))
