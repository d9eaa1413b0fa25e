"""What was decided, told to whoever listens.

In: a schedule, and the graph it was made of.  Out: events.
Invariant: what is told is read off the schedule that is printed; nothing is decided here.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import trace
from ..graph import Graph
from ..shapes import Values
from .deps import Node, nodes_of
from .evaluations import evaluations
from .ir import Expr
from .ledger import ledger, separate
from .memory import MemoryPlan
from .program import Extern
from .scheduler import Schedule
from .traffic import total, traffic


def report(graph: Graph, phase: str, fused: Schedule) -> Schedule:
    """LoopIR before and after, each Fusion, Scheduled, Accesses. Returns the separate passes."""
    before, numbers = separate(graph), Values(fused.program.seen)
    trace.emit(trace.LoopIR(phase, "pre_fusion", str(before.program)))
    for v in fused.verdicts:
        saved = v.saved.value(numbers)
        trace.emit(trace.Fusion(v.first, v.second, v.ok, v.rule, v.detail, saved, v.flip, phase))
    trace.emit(trace.LoopIR(phase, "post_fusion", str(fused)))
    trace.emit(_scheduled(phase, fused, before, numbers))
    trace.emit(_accesses(phase, before, fused, numbers))
    return before


def _scheduled(
    phase: str, fused: Schedule, before: Schedule, numbers: Values
) -> trace.Scheduled:
    loops = [_loop(node, numbers) for node in nodes_of(fused.program)]
    moved = traffic(fused)
    steps = [
        trace.StepRecord(
            "call" if isinstance(step, Extern) else "kernel",
            [step.title] if isinstance(step, Extern) else [node.title for node in step.nodes],
            list(dict.fromkeys(step.used)),
            step.made,
            total([by_buffer]).value(numbers),
        )
        for step, by_buffer in zip(fused.steps, moved)
    ]
    apart = total(traffic(before)).value(numbers)
    return trace.Scheduled(phase, loops, steps, total(moved).value(numbers), apart)


def _loop(node: Node, numbers: Values) -> trace.LoopRecord:
    step, extern = node.step, isinstance(node.step, Extern)
    computed = (step.node,) if isinstance(step, Extern) else step.origin
    return trace.LoopRecord(
        node.title,
        node.name,
        "extern" if extern else "reduction" if node.is_reduction else "pointwise",
        [str(size) for size in node.sizes],
        list(node.loads),
        (node.out.span * node.out.dtype.itemsize).value(numbers),
        [one.name for one in computed],
        sorted({one.origin.line for one in computed if one.origin is not None}),
        step.reason if isinstance(step, Extern) else step.why,
    )


def _accesses(
    phase: str, before: Schedule, fused: Schedule, numbers: Values
) -> trace.Accesses:
    apart, together = ledger(before), ledger(fused)
    tables = (apart.loads, apart.stores, together.loads, together.stores)
    dear = evaluations(before), evaluations(fused)
    return trace.Accesses(
        phase,
        apart.accesses.value(numbers),
        together.accesses.value(numbers),
        apart.bytes.value(numbers),
        together.bytes.value(numbers),
        [trace.BufferAccesses(name, *row) for name, row in _rows(tables, numbers)],
        [[name, *row] for name, row in _rows(dear, numbers)],
    )


def _rows(
    tables: Sequence[Mapping[str, Expr]], numbers: Values
) -> Iterator[tuple[str, list[int]]]:
    """For each name of some tables, its numbers in them."""
    for name in dict.fromkeys(name for table in tables for name in table):
        yield name, [table.get(name, Expr()).value(numbers) for table in tables]


def report_memory(phase: str, schedule: Schedule, plan: MemoryPlan) -> None:
    trace.emit(planned(phase, schedule, plan))


def planned(phase: str, schedule: Schedule, plan: MemoryPlan) -> trace.MemoryPlanned:
    """The plan that the printed program follows, as an event."""
    numbers = Values(schedule.program.seen)
    lives: list[trace.LifeRecord] = []
    root: dict[str, str] = {}  # place -> the first of those whose memory it is
    for life in plan.lives.values():
        root[life.place] = root.get(life.reuses, life.place)
        ends = [*list(life.buffers.values())[1:], life.last]
        how = "used again" if life.reuses else "new"
        for (buffer, first), last in zip(life.buffers.items(), ends):
            nbytes = life.nbytes.value(numbers)
            lives.append(trace.LifeRecord(buffer, nbytes, first, last, root[life.place], how))
            how = "in place"  # those after the first
    live = [nbytes.value(numbers) for nbytes in plan.live]
    made = sum(life.nbytes for life in lives)
    return trace.MemoryPlanned(phase, lives, live, max(live, default=0), made)
