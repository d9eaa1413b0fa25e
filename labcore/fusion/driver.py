"""The stage as one call: graph in, schedule out, events for whoever listens.

In: a functional graph and its phase ("inference", "forward", "backward").  Out: a `Schedule` that
codegen prints.
Invariant: with nobody listening nothing is built for nobody; what is reported is what was decided.
"""
from __future__ import annotations

import time

from .. import trace
from ..graph import Graph, verify
from ..shapes import Values
from .ledger import ledger, separate
from .lowering import lower
from .scheduler import Schedule, schedule
from .verify import verify_program


def fuse_graph(graph: Graph, phase: str = "inference") -> Schedule:
    """Lower, decide, and report: LoopIR before and after, Fusion, Accesses, Stage."""
    start = time.perf_counter()
    fused = schedule(verify_program(lower(verify(graph, functional=True))))
    if trace.listening():
        _report(graph, phase, fused, start)
    return fused


def _report(graph: Graph, phase: str, fused: Schedule, start: float) -> None:
    before, values = separate(graph), Values(graph.values_seen)
    trace.emit(trace.LoopIR(phase, "pre_fusion", str(before.program)))
    for v in fused.verdicts:
        saved = v.saved.value(values)
        trace.emit(trace.Fusion(v.first, v.second, v.ok, v.rule, v.detail, saved, v.flip))
    trace.emit(trace.LoopIR(phase, "post_fusion", str(fused)))
    apart, together = ledger(before), ledger(fused)
    trace.emit(
        trace.Accesses(
            phase,
            apart.accesses.value(values),
            together.accesses.value(values),
            apart.bytes.value(values),
            together.bytes.value(values),
        )
    )
    trace.emit(trace.Stage("fusion", time.perf_counter() - start, summary(before, fused)))


def summary(before: Schedule, after: Schedule) -> str:
    """"3 loops become 1", and the extern calls, which stay."""
    become = "becomes" if len(before.nests) == 1 else "become"
    text = f"{_loops(len(before.nests))} {become} {len(after.nests)}"
    return text + (f", {len(after.externs)} extern" if after.externs else "")


def _loops(n: int) -> str:
    return f"{n} loop{'' if n == 1 else 's'}"
