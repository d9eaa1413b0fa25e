"""The stage as one call: graph in, schedule out, events for whoever listens.

In: a functional graph and its phase ("inference", "forward", "backward").  Out: a `Schedule` that
codegen prints.
Invariant: with nobody listening nothing is built for nobody; what is reported is what was decided.
"""
from __future__ import annotations

import time

from .. import trace
from ..graph import Graph, verify
from .lowering import lower
from .options import DEFAULT, FusionOptions
from .report import report
from .scheduler import Schedule, schedule
from .verify import verify_program


def fuse_graph(
    graph: Graph, phase: str = "inference", options: FusionOptions = DEFAULT
) -> Schedule:
    """Lower, decide, and report."""
    start = time.perf_counter()
    program = verify_program(lower(verify(graph, functional=True), options=options))
    fused = schedule(program, options=options)
    if trace.listening():
        before = report(graph, phase, fused)
        trace.emit(trace.Stage("fusion", time.perf_counter() - start, summary(before, fused)))
    return fused


def summary(before: Schedule, after: Schedule) -> str:
    """"3 loops become 1", and the extern calls, which stay."""
    become = "becomes" if len(before.nests) == 1 else "become"
    text = f"{_loops(len(before.nests))} {become} {len(after.nests)}"
    return text + (f", {len(after.externs)} extern" if after.externs else "")


def _loops(n: int) -> str:
    return f"{n} loop{'' if n == 1 else 's'}"
