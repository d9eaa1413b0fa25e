"""The bytes that a schedule must move: every element of a buffer once a step, whoever asks for it.

In: a `Schedule`.  Out: bytes by step and buffer, for the roofline: no step can be faster than its
bytes over the bandwidth of memory.
Invariant: calls of operators count too, their operands and results; a broadcast counts once, and
what stays in a nest not at all. The access ledger counts how often; this, how much.
Several overlapping reads of one buffer count as their sum, or as the whole buffer if that is less.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from .deps import Access, Accesses
from .ir import Buffer, Expr
from .nest import Nest
from .program import Extern
from .scheduler import Schedule

Moved = dict[str, Expr]  # buffer -> bytes


def traffic(schedule: Schedule) -> list[Moved]:
    """What each step moves."""
    return [_nest(step) if isinstance(step, Nest) else _extern(step) for step in schedule.steps]


def total(moved: Sequence[Moved]) -> Expr:
    return sum((nbytes for step in moved for nbytes in step.values()), Expr())


def _nest(nest: Nest) -> Moved:
    accesses = [a for a in nest.group.reads if a.buffer not in nest.group.made]
    accesses += [node.writes for node in nest.nodes if nest.homes[node.name] == "memory"]
    return _footprints(accesses, nest.buffers_by_name)


def _extern(step: Extern) -> Moved:
    buffers = {b.name: b for b in (step.out, *(o.buffer for o in step.operands))}
    found = Accesses(buffers)
    return _footprints([found.whole(buffer) for buffer in buffers.values()], buffers)


def _footprints(accesses: Sequence[Access], buffers: Mapping[str, Buffer]) -> Moved:
    by_buffer: dict[str, list[Access]] = {}
    for access in sorted(accesses, key=lambda a: (a.buffer, str(a.at))):
        by_buffer.setdefault(access.buffer, []).append(access)
    return {name: _union(found, buffers[name]) for name, found in by_buffer.items()}


def _union(accesses: Sequence[Access], buffer: Buffer) -> Expr:
    whole = buffer.numel * buffer.dtype.itemsize
    added = sum((access.nbytes for access in accesses), Expr())
    over = (added - whole).const
    if len(accesses) == 1 or (over is not None and over <= 0):
        return added
    return whole
