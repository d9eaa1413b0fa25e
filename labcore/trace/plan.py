"""What the loop compiler decided: which loops share a kernel, in which order, in which memory.

In: facts, from fusion and codegen.  Out: events as in `events.py`, plain data only.
Invariant: names are those of the user's graph; a step is a kernel or the call of an operator, and
is meant by its place in the program. Bytes are those of the sizes that were seen.
PyTorch tells the same as lines of TORCH_LOGS=schedule, fusion and output_code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .events import Event


@dataclass
class LoopRecord:
    """A loop before fusion, or an operator that has none: `name` is what verdicts call it, `buffer`
    what it makes, of `nbytes`, and `reads` are buffers. `kind`: "pointwise", "reduction" or
    "extern"; `sizes` of its loops; `operators`: the graph nodes that it computes, and the user's
    `lines`; `why` it is there: the reason to store its result, or to call the operator.
    """

    name: str
    buffer: str
    kind: str
    sizes: list[str]
    reads: list[str]
    nbytes: int
    operators: list[str]
    lines: list[int]
    why: str


@dataclass
class StepRecord:
    """A kernel, or a call: the loops that it runs, by name, and what it reads and leaves in memory.
    `moved` bytes are its footprint: each element that it uses once.
    """

    kind: str
    loops: list[str]
    reads: list[str]
    writes: list[str]
    moved: int


@dataclass
class Scheduled(Event):
    """What the scheduler was given, and the steps that came of it, in order. `moved` is the sum of
    theirs, `moved_apart` that of the separate passes.
    """

    phase: str
    loops: list[LoopRecord]
    steps: list[StepRecord]
    moved: int = 0
    moved_apart: int = 0

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        return super().revived(data) | {
            "loops": [LoopRecord(**loop) for loop in data["loops"]],
            "steps": [StepRecord(**step) for step in data["steps"]],
        }


@dataclass
class LifeRecord:
    """A buffer that the program makes. It is written in step `first` and read last in `last` (the
    number of steps: it is returned). `place`: the buffer that was first in its memory; `how` it got
    that: "new", "in place" or "used again".
    """

    buffer: str
    nbytes: int
    first: int
    last: int
    place: str
    how: str


@dataclass
class MemoryPlanned(Event):
    """Where the buffers lie. `live`: bytes in use in each step, scratch included; `peak`: the most
    of them; `total`: what it would be if nothing were freed or used again.
    """

    phase: str
    lives: list[LifeRecord]
    live: list[int]
    peak: int
    total: int

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        return super().revived(data) | {"lives": [LifeRecord(**life) for life in data["lives"]]}


@dataclass
class LoopShared(Event):
    """Whether threads share a loop of a kernel: its `variable`, "" if one thread works, and the
    rule."""

    kernel: str
    variable: str
    rule: str
    detail: str


@dataclass
class ShortRows(Event):
    """Rows of a kernel that are worked on in strips of some elements, because a loop over one of
    them is so short: how long a row is, and what must hold at a call, "" if it does always."""

    kernel: str
    length: str
    strip: int
    when: str


@dataclass
class RowForms(Event):
    """A kernel whose rows are of unknown length: the number that says how long they are. Calls of
    `enough` work or more, on rows up to the `longest`, get machine code for their length."""

    kernel: str
    length: str
    longest: int
    enough: int


@dataclass
class RowsCompiled(Event):
    """A call was the first to want a kernel's machine code for rows of `size` elements: compiled
    ("miss", and why it was not on disk) or found there ("hit"), in so many seconds."""

    kernel: str
    length: str
    size: int
    outcome: str
    reason: str
    seconds: float
