"""Kernels, and the program that calls them: the last stage of compiling a graph.

In: a functional graph, and which part it plays.  Out: `call(args: list[Tensor]) -> tuple[Tensor,
...]`. `call.source` is the program's text, `call.kernels` its kernels, `call.schedule` what they
were printed from.
Invariant: `call` must be given what the graph's placeholders say: that shape, those strides, that
dtype and device. Kernels run on bare addresses; guards are what makes it safe.
"""

from __future__ import annotations

import linecache
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import devices, trace
from ..fusion import FusionOptions, Schedule, fuse_graph
from ..fusion.options import DEFAULT
from ..fusion.report import report_memory
from ..graph import Graph, GraphModule, Node, TensorMeta
from . import cache as cache
from .build import (
    Built,
    build,
    python_kernels as python_kernels,
    rows_in_strips,
    rows_of_any_length,
    show_without_file,
)
from .lengths import ENOUGH, LONGEST
from .parts import print_kernel as print_kernel
from .plain import print_plain as print_plain
from .printer import Kernel as Printed
from .program import Program, handing_over
from .ranges import STRIP
from .wrapper import memory_plan as memory_plan, print_program as print_program

Call = Callable[[list[Any]], tuple[Any, ...]]


@dataclass(frozen=True)
class Kernel:
    """A kernel that can be called: its name, the file it stands in, its text."""

    name: str
    path: str
    source: str


def compile_graph(gm: GraphModule, phase: str, options: FusionOptions = DEFAULT) -> Call:
    """Compile a graph for the device of its inputs. `phase` is "inference", "forward" or
    "backward". Raises RuntimeError when they lie on several."""
    schedule = fuse_graph(gm.graph, phase, options_for(gm.graph, options), gm.overwritten)
    on_card = is_on_card(gm.graph)
    if options.max_autotune and not on_card:
        why = "kernels of the host have one form: there is nothing to choose from"
        trace.emit(trace.Autotuned(f"the {phase} graph", "skipped", why))
    if on_card:
        from .cuda.program import compile_schedule as compile_for_card

        call = compile_for_card(schedule, gm.attrs, phase, _checks_inputs(phase))
    else:
        call = compile_schedule(schedule, gm.attrs, phase)
    call = _replayed(call, phase, on_card) if options.cudagraphs else call
    return _brought_home(call, gm.graph) if on_card else call


def _replayed(call: Any, phase: str, on_card: bool) -> Call:
    """The call by way of a recorded graph, or as it is where there cannot be one; says which."""

    def tell(outcome: str, reason: str, steps: int) -> None:
        trace.emit(trace.CudaGraph(phase, outcome, reason, steps))

    why = "its tensors are on the host"
    if on_card:
        from ..runtime.card import SiliconCard
        from ..tensor.cuda import card

        why = _symbols(call.schedule.program.numbers)
        found = card()
        if not isinstance(found, SiliconCard):
            why = ("the simulated card has no driver to record: "
                   "labcore.cuda.simulate(driver=True) has one")
        if not why:
            from ..runtime.replay import Replaying

            return _told_as(Replaying(found, call, tell), call)  # type: ignore[arg-type]
    tell("skipped", why, 0)
    return call


def _brought_home(call: Any, graph: Graph) -> Call:
    """The call of a card's graph; a number that the user made on the host is one there again."""
    homes = [k for k, out in enumerate(graph.outputs)
             if isinstance(out, Node) and out.kwargs.get("device") == str(devices.cpu)]
    if not homes:
        return call

    def bringing(args: list[Any]) -> tuple[Any, ...]:
        results = call(args)
        return tuple([t.cpu() if k in homes else t for k, t in enumerate(results)])

    return _told_as(bringing, call)


def _symbols(numbers: list[str]) -> str:
    """Why a graph with these numbers among its inputs is not recorded; "" without any."""
    if any(name.startswith("s") for name in numbers):
        return "sizes are symbols"
    return "it takes a number that changes from call to call" if numbers else ""


def _told_as(calling: Call, call: Any) -> Call:
    """What calls it, with the texts of what was compiled."""

    def told(args: list[Any]) -> tuple[Any, ...]:
        return calling(args)

    made: Any = told
    made.source, made.schedule, made.kernels = call.source, call.schedule, call.kernels
    return told


def options_for(graph: Graph, options: FusionOptions = DEFAULT) -> FusionOptions:
    """What the loop compiler is told for the device of a graph. Raises RuntimeError for several."""
    if not is_on_card(graph):
        return options
    from .cuda.options import for_card

    return for_card(options)


def is_on_card(graph: Graph) -> bool:
    """Is the graph's work a card's? Its inputs say so, or what it makes on a card."""
    given = [node.meta for node in graph.nodes if node.op in ("placeholder", "get_attr")]
    made = [node.meta for node in graph.nodes if node.kwargs.get("device") == str(devices.cuda)]
    metas = [meta for meta in (*given, *made) if isinstance(meta, TensorMeta)]
    found = {meta.device for meta in metas if meta.shape}
    if not found:  # numbers in tensors go along with one of a card
        return any(meta.device is devices.cuda for meta in metas)
    if len(found) > 1:
        raise RuntimeError(devices.APART)
    return devices.cuda in found


def compile_schedule(schedule: Schedule, constants: dict[str, Any], phase: str) -> Call:
    """Print the kernels of a schedule and the program around them; compile or find; load."""
    start = time.perf_counter()
    printer = print_plain if schedule.options.plain_kernels else print_kernel
    printed = [printer(nest, number) for number, nest in enumerate(schedule.nests)]
    source = print_program(schedule, printed, phase, _checks_inputs(phase))
    built = build(source)
    call: Any = _execute(source, built, constants)
    call.source, call.schedule = source, schedule
    call.kernels = [Kernel(k.name, built.path, k.source) for k in printed]
    if trace.listening():
        report_memory(phase, schedule, memory_plan(schedule, printed))
        _report(phase, call, printed, built, time.perf_counter() - start)
    return call


def _checks_inputs(phase: str) -> bool:
    """No guard has seen what `backward()` is called with; LAB_CHECK_INPUTS=1 checks everywhere."""
    return phase == "backward" or os.environ.get("LAB_CHECK_INPUTS") == "1"


def _execute(source: str, built: Built, constants: dict[str, Any]) -> Call:
    """Run the program's text, which defines `call`; tracebacks and debuggers show its file."""
    scope: dict[str, Any] = {"__name__": "output_code", "__file__": built.path}
    with handing_over(built.path, Program(built.launchers, constants)):
        exec(compile(source, built.path, "exec", dont_inherit=True), scope)
    call: Any = scope.pop("call")  # not to be kept alive by what it keeps alive
    if not os.path.exists(built.path):
        show_without_file(built.path, source)
        weakref.finalize(call, linecache.cache.pop, built.path, None)
    return call


def _report(
    phase: str, call: Any, printed: list[Printed], built: Built, seconds: float
) -> None:
    for made in printed:
        trace.emit(trace.LoopShared(made.name, **vars(made.sharing)))
    for name, length, when in rows_in_strips(call.source):
        trace.emit(trace.ShortRows(name, length, STRIP, when))
    for name, length in rows_of_any_length(call.source):
        trace.emit(trace.RowForms(name, length, LONGEST, ENOUGH))
    outcome = "hit" if built.cached else "miss"
    if call.kernels:
        effort = built.effort
        trace.emit(trace.DiskCache(
            built.key, outcome, built.reason, effort.units, effort.numba, effort.llvm))
        for key in built.evicted:
            trace.emit(trace.DiskCache(key, "evicted", f"LAB_CACHE_LIMIT={cache.limit()} bytes"))
    for number, (kernel, nest) in enumerate(zip(call.kernels, call.schedule.nests)):
        plain = print_plain(nest, number).source
        ready = trace.KernelReady(kernel.name, kernel.path, kernel.source, built.cached, plain)
        trace.emit(ready)
    trace.emit(trace.OutputCode(phase, built.path, call.source))
    trace.emit(trace.Stage("codegen", seconds, _note(call, built)))


def _note(call: Any, built: Built) -> str:
    """"1 kernel, compiled", and the operators that stay calls of libraries."""
    kernels, externs = len(call.kernels), len(call.schedule.externs)
    parts = [f"{kernels} kernel{'' if kernels == 1 else 's'}"]
    if externs:
        parts.append(f"{externs} operator call{'' if externs == 1 else 's'}")
    if kernels:
        parts.append("from disk" if built.cached else "compiled")
    return ", ".join(parts)
