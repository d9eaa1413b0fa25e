"""What capture walked through and what a call did between regions: the events that pictures of
breaks and of the interpreter are drawn from.

In: facts, from capture and from the driver.  Out: events as in `events.py`, plain data only.
Invariant: values are told by kind, shape or a short text, made without running code of the user's.
PyTorch tells the same piecemeal: TORCH_LOGS=bytecode, graph_code, trace_source, trace_call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .events import Event, GuardRecord
from .origin import Origin


@dataclass
class FrameRecord:
    """Where a frame stands, and, where values are known, its `variables` that somebody still reads
    as [name, text] and its value stack as texts.
    """

    function: str
    file: str
    first_line: int
    line: int
    offset: int
    variables: list[list[str]] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)


@dataclass
class WalkedCode:
    """The instructions of one code object that a region walked, each once, as [offset, line, text,
    n], where n counts those of all the region's code objects in the order of being met first.
    """

    function: str
    file: str
    first_line: int
    instructions: list[list[Any]]


@dataclass
class NodeRecord:
    """A node of a graph: `args` are texts, `inputs` the names of the nodes among them, `meta` its
    type and shape. `places` has a [place in the region's `walked`, line] for each frame that was
    entered when it was made, outermost first.
    """

    name: str
    op: str
    target: str
    args: list[str]
    inputs: list[str]
    meta: str
    places: list[list[int]] = field(default_factory=list)


@dataclass
class RegionCaptured(Event):
    """What one variant covers: from where its frames stand to its return, or to a `stop` (the id
    of the break at `origin`) where `ends` says how the frames stand; after it the call `goes_on` in
    one of these lines.
    """

    begins: list[FrameRecord]
    walked: list[WalkedCode]
    nodes: list[NodeRecord]
    ends: list[FrameRecord] = field(default_factory=list)
    stop: str = ""
    goes_on: list[int] = field(default_factory=list)
    origin: Origin | None = None

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        return super().revived(data) | {
            "begins": [FrameRecord(**frame) for frame in data["begins"]],
            "walked": [WalkedCode(**code) for code in data["walked"]],
            "nodes": [NodeRecord(**node) for node in data["nodes"]],
            "ends": [FrameRecord(**frame) for frame in data["ends"]],
        }


@dataclass
class Handover(Event):
    """A region stopped, and CPython went on: with one instruction, or with all the `rest` of the
    innermost frame.  `frames`: what it was handed, outermost first; `result`: what came out.
    """

    call: int
    frames: list[FrameRecord]
    instruction: str
    rest: bool
    result: str
    origin: Origin | None = None

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        frames = [FrameRecord(**frame) for frame in data["frames"]]
        return super().revived(data) | {"frames": frames}


@dataclass
class TraceStep(Event):
    """The symbolic interpreter did one instruction; told only inside of `record(steps=True)`.

    Values are [kind, text], variables [name, kind, text], as they are afterwards; `depth` counts
    the frames from 0. `stops`: it did not do it, as the instruction is CPython's to run.
    """

    step: int
    function: str
    file: str
    first_line: int
    depth: int
    offset: int
    instruction: str
    before: list[list[str]]
    after: list[list[str]]
    variables: list[list[str]]
    nodes: list[NodeRecord]
    guards: list[GuardRecord]
    stops: bool = False
    origin: Origin | None = None

    @classmethod
    def revived(cls, data: dict[str, Any]) -> dict[str, Any]:
        nodes = [NodeRecord(**node) for node in data["nodes"]]
        guards = [GuardRecord.revived(guard) for guard in data["guards"]]
        return super().revived(data) | {"nodes": nodes, "guards": guards}
