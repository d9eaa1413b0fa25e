"""Making one variant: capture, then the backend, then the check and the graph put together.

In: a point of a function, the values there.  Out: a `Variant`.
Invariant: it reports what it does as events, and leaves nothing behind when it raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import trace
from ..capture import Break, Region, capture
from ..graph import GraphModule
from ..guards import RECOMPILE_LIMIT, Guard, Variant
from ..ops.random import generator
from .backends import Backend
from .counters import count_region
from .exc import BackendCompilerFailed, ConstraintViolationError, Unsupported
from .graphs import CompiledGraph, structure
from .telling import tell_region

if TYPE_CHECKING:
    from .points import Point


@dataclass(frozen=True)
class Options:
    """What `compile` was told. `backend_options` go to the backend as keywords."""

    backend: Backend
    backend_name: str
    fullgraph: bool = False
    backend_options: dict[str, Any] = field(default_factory=dict)
    dynamic: bool | None = None
    recompile_limit: int = RECOMPILE_LIMIT


def build(point: Point, slots: tuple[Any, ...], compile_id: str) -> Variant:
    """Raises Unsupported under fullgraph, or BackendCompilerFailed."""
    function, options = point.state.function, point.state.options
    start = time.perf_counter()
    if point.key:
        region = capture(function, (), slots[0], varying=point.varying)
    else:
        region = capture(function, slots, varying=point.varying)
    seconds = time.perf_counter() - start
    point.state.catches |= region.catches
    if region.stop is not None and (options.fullgraph or region.strict):
        error = Unsupported(region.stop)
        trace.emit(error.event)
        raise error
    module, graphs = region.graph_module, point.state.graphs
    key = None if module is None else structure(module)
    known = None if module is None else graphs.find(key, module)
    stop = point.state.first_time(region.stop)
    count_region(region, stop, known is not None)
    if trace.listening():
        _report(region, seconds, stop, known)
        if not region.symbolic:
            _report_guards(region)
        tell_region(point, region)
    if module is not None:
        if known is None:
            known = _compiled(module, region, point, compile_id)
            graphs.add(key, known)
        elif module.graph.env is not None:
            for text in known.assumptions(module):
                module.graph.env.assume(text)
        region.builder.scope["graph"] = known.run
    if region.numbers is not None and (violations := region.numbers.violations()):
        raise ConstraintViolationError(violations)
    if region.numbers is not None and options.dynamic is not False:  # also without its mark
        point.varying = point.varying.also(v.source_name for v in region.numbers.inputs.values())
    if region.symbolic:  # what a backend took for granted of the numbers is among the guards
        region.seal()
        if trace.listening():
            _report_guards(region)
    return Variant(
        compile_id,
        f"{point.title}, variant {compile_id}",
        region.source,
        region.builder.scope,
        region.parameters,
        region.steps,
        region.result,
        _place(region),
        region.stop is not None,
        region.raises is not None,
        region.raises,
    )


def _place(region: Region) -> Any:
    """What tells eager variants of one kind from others."""
    if region.raises is not None:
        return "raises", region.raises.origin
    return (region.stop.id, region.stop.origin) if region.stop and region.eager else None


def _report(
    region: Region, seconds: float, stop: Break | None, known: CompiledGraph | None
) -> None:
    """`stop`: a break that is to be told.  `known`: an equal graph that is compiled already."""
    trace.emit(trace.Stage("capture", seconds, region.summary))
    if stop is not None:
        trace.emit(stop.event())
    if region.graph_module is not None:
        rows = [
            [n.name, n.op, n.target_name, n.origin.line if n.origin else 0]
            for n in region.graph_module.graph.nodes
        ]
        reused = "" if known is None else known.compile_id
        trace.emit(trace.GraphCaptured(region.graph_module.code, rows, reused))


def _report_guards(region: Region) -> None:
    guards = [step.record() for step in region.steps if isinstance(step, Guard)]
    trace.emit(trace.GuardsInstalled(guards, region.source))


def _compiled(
    module: GraphModule, region: Region, point: Point, compile_id: str
) -> CompiledGraph:
    """What the backend makes of a region's graph, and takes for granted."""
    env = module.graph.env
    noting: AbstractContextManager[list[str]] = nullcontext([]) if env is None else env.noting()
    with noting as assumed:
        run = _run_backend(region, point)
    if any(node.target.kind == "random" or node.target.opaque for node in module.graph.calls):
        run = _or_drawing_nothing(run)
    return CompiledGraph(run, module, compile_id, assumed)


def _or_drawing_nothing(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`; where it raises, CPython makes the call, and is to draw the numbers that it drew."""

    def drawing(*inputs: Any) -> Any:
        before = generator.state
        try:
            return run(*inputs)
        except BaseException:
            generator.state = before
            raise

    return drawing


def _run_backend(region: Region, point: Point) -> Callable[..., Any]:
    options = point.state.options
    point.backend_works = True
    try:
        compiled = options.backend(
            region.graph_module, list(region.inputs), **options.backend_options
        )
        if not callable(compiled):
            raise TypeError(
                f"a backend returns a callable, this one returned {type(compiled).__name__}"
            )
    except Exception as error:
        raise BackendCompilerFailed(options.backend_name, error) from error
    finally:
        point.backend_works = False
    return compiled
