"""The stage as one call: graph in, schedule out, events for whoever listens.

In: a functional graph and its phase ("inference", "forward", "backward").  Out: a `Schedule` that
codegen prints.
Invariant: with nobody listening nothing is built for nobody; what is reported is what was decided.
"""
from __future__ import annotations

import time
from collections.abc import Mapping

from .. import trace
from ..graph import Graph, verify
from .ir import Buffer, Loops
from .lowering import lower
from .options import DEFAULT, FusionOptions
from .program import Extern, Program
from .report import report
from .scheduler import Schedule, schedule
from .verify import verify_program


def fuse_graph(
    graph: Graph,
    phase: str = "inference",
    options: FusionOptions = DEFAULT,
    overwritten: Mapping[str, int | None] | None = None,
) -> Schedule:
    """Lower, decide, and report. `overwritten`: inputs whose memory the outputs at these places may
    take."""
    start = time.perf_counter()
    program = verify_program(lower(verify(graph, functional=True), options=options))
    fused = schedule(
        program, options=options, new_contents=_new_contents(program, overwritten or {})
    )
    if trace.listening():
        before = report(graph, phase, fused)
        trace.emit(trace.Stage("fusion", time.perf_counter() - start, summary(before, fused)))
    return fused


def _new_contents(program: Program, overwritten: Mapping[str, int | None]) -> dict[str, str]:
    """Buffer -> the input that it is the new contents of. Not where something may still raise: its
    caller would find an input half written."""
    outputs = {name: program.outputs[k] for name, k in overwritten.items() if k is not None}
    if outputs and any(map(_may_raise, program.steps)):
        return {}
    return {out.name: name for name, out in outputs.items() if isinstance(out, Buffer)}


def _may_raise(step: Loops | Extern) -> bool:
    """An operator call may; loops do where they meet an index that does not exist."""
    if isinstance(step, Extern):
        return True
    return bool(step.reads.places)


def summary(before: Schedule, after: Schedule) -> str:
    """"3 loops become 1", and the extern calls, which stay."""
    become = "becomes" if len(before.nests) == 1 else "become"
    text = f"{_loops(len(before.nests))} {become} {len(after.nests)}"
    return text + (f", {len(after.externs)} extern" if after.externs else "")


def _loops(n: int) -> str:
    return f"{n} loop{'' if n == 1 else 's'}"
