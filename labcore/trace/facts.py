"""What a trace amounts to, in numbers: the facts that lessons check.

In: events.  Out: `Facts`. Every number is counted from an event, none is computed a second way.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .events import (
    Accesses,
    AotGraph,
    CallEnd,
    DiskCache,
    Event,
    GraphBreak,
    GraphCaptured,
    KernelReady,
    VariantAdded,
)


@dataclass(frozen=True)
class Facts:
    """Counts over a trace.

    captures: different graphs captured.  variants: entries made, eager ones too.
    hits, compiled, eager: calls by result.  places: distinct places in the source where capture
    stopped.  kernels: kernels made ready.  separate, fused: logical array accesses of one run of
    every graph.  saved_bytes: kept for backward.  disk_hits: graphs whose machine code came from
    disk.
    """

    captures: int = 0
    variants: int = 0
    hits: int = 0
    compiled: int = 0
    eager: int = 0
    places: int = 0
    kernels: int = 0
    separate: int = 0
    fused: int = 0
    saved_bytes: int = 0
    disk_hits: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in vars(self).items() if value)


def facts(events: Iterable[Event]) -> Facts:
    """Count a trace's events: `facts(recorder)`, or any of its events."""
    events = list(events)

    def count(cls: type[Event], **wanted: object) -> int:
        return sum(
            isinstance(e, cls) and all(getattr(e, k) == v for k, v in wanted.items())
            for e in events
        )

    ledgers = [e for e in events if isinstance(e, Accesses)]
    return Facts(
        captures=count(GraphCaptured, reused=""),
        variants=count(VariantAdded),
        hits=count(CallEnd, result="hit"),
        compiled=count(CallEnd, result="compiled"),
        eager=count(CallEnd, result="eager"),
        places=len({(e.break_id, e.origin) for e in events if isinstance(e, GraphBreak)}),
        kernels=count(KernelReady),
        separate=sum(e.separate for e in ledgers),
        fused=sum(e.fused for e in ledgers),
        saved_bytes=sum(
            e.saved_bytes for e in events if isinstance(e, AotGraph) and e.phase == "forward"
        ),
        disk_hits=count(DiskCache, outcome="hit"),
    )
