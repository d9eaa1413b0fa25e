"""Making one variant: capture, then the backend, then the check and the graph put together.

In: a function, one call's arguments, the options of `compile`.  Out: a `Variant`.
Invariant: it reports what it does as events, and leaves nothing behind when it raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from .. import trace
from ..capture import Region, capture
from ..guards import Variant
from .backends import Backend
from .exc import BackendCompilerFailed, Unsupported


@dataclass(frozen=True)
class Options:
    """What `compile` was told. `backend_options` go to the backend as keywords."""

    backend: Backend
    backend_name: str
    fullgraph: bool = False
    backend_options: dict[str, Any] = field(default_factory=dict)


def build(
    function: FunctionType, slots: tuple[Any, ...], options: Options, compile_id: str
) -> Variant:
    """Raises Unsupported under fullgraph, BackendCompilerFailed, or WouldRaise for what CPython
    would raise."""
    start = time.perf_counter()
    region = capture(function, slots)
    seconds = time.perf_counter() - start
    if region.stop is not None and options.fullgraph:
        trace.emit(region.stop.event())
        raise Unsupported(region.stop)
    if trace.listening():
        _report(region, seconds)
    if region.graph_module is not None:
        region.builder.scope["graph"] = _run_backend(region, options)
    title = f"{function.__name__}, variant {compile_id}"
    return Variant(
        compile_id,
        title,
        region.source,
        region.builder.scope,
        region.parameters,
        region.builder.steps,
        region.result,
        (region.stop.id, region.stop.origin) if region.stop else None,
    )


def _report(region: Region, seconds: float) -> None:
    trace.emit(trace.Stage("capture", seconds, region.summary))
    if region.stop is not None:
        trace.emit(region.stop.event())
    if region.graph_module is not None:
        rows = [
            [n.name, n.op, n.target_name, n.origin.line if n.origin else 0]
            for n in region.graph_module.graph.nodes
        ]
        trace.emit(trace.GraphCaptured(region.graph_module.code, rows))
    trace.emit(trace.GuardsInstalled([g.record() for g in region.builder.guards], region.source))


def _run_backend(region: Region, options: Options) -> Callable[..., Any]:
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
    return compiled
