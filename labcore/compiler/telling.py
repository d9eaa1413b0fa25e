"""What the trace says of regions and of what lies between them.

In: a point and the region captured there; the frames of a watched call at a stop.  Out: events.
Invariant: with nobody listening none of this runs, and a watched call does what an unwatched one
does.
"""

from __future__ import annotations

from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

from .. import trace
from ..capture import Frame, Region, Stop, run_rest, step
from ..capture.bytecode import bytecode
from ..capture.describe import describe_value
from ..capture.frames import NULL, UNBOUND
from ..capture.watch import spelled

if TYPE_CHECKING:
    from .points import Point

Standing = tuple[CodeType, int]  # a code object and an offset


def tell_region(point: Point, region: Region) -> None:
    """RegionCaptured, after the steps that led there if somebody asked for them."""
    watch = region.watch
    if watch is None:
        return
    for told in watch.steps or ():
        trace.emit(told)
    if region.eager:
        return
    offsets = [offset for _, offset in point.key] or [0]
    codes = point.codes or (point.state.function.__code__,)
    module, stop = region.graph_module, region.stop
    event = trace.RegionCaptured(
        [_standing(where) for where in zip(codes, offsets)],
        watch.listing(),
        [watch.record(node) for node in module.graph.nodes] if module is not None else [],
    )
    if stop is not None:
        event.ends = [_standing(where) for where in region.ends]
        event.stop, event.origin = stop.id, stop.origin
        event.goes_on = _goes_on(*region.ends[-1])
    trace.emit(event)


def _standing(where: Standing) -> trace.FrameRecord:
    code, offset = where
    line = bytecode(code).origin(offset).line
    first = code.co_firstlineno
    return trace.FrameRecord(code.co_qualname, code.co_filename, first, line, offset)


def _goes_on(code: CodeType, offset: int) -> list[int]:
    """The lines that may come after the instruction, unless it raises."""
    stop, table = Stop(code, offset), bytecode(code)
    if stop.rest or stop.name == "RERAISE":
        return []
    ways = [stop.after]
    if stop.jump or stop.name == "FOR_ITER":
        ways.append(stop.target)
    elif stop.branch is not None:
        ways += stop.branch
    return sorted({table.origin(way).line for way in ways if way in table.at})


# ---- between two regions ------------------------------------------------------------------------


def step_watched(frames: list[Frame], stop: Stop, call: int) -> bool:
    """`step`, told."""
    frame, event = frames[-1], _handover(frames, call, rest=False)
    try:
        moved = step(frames, stop)
    except BaseException as error:
        event.result = f"raised {type(error).__name__}"
        raise
    else:
        event.result = _came_out(frame, stop, moved)
        return moved
    finally:
        trace.emit(event)


def run_rest_watched(frames: list[Frame], call: int) -> tuple[Any] | None:
    """`run_rest`, told."""
    event = _handover(frames, call, rest=True)
    try:
        return run_rest(frames)
    except BaseException as error:
        event.result = f"raised {type(error).__name__}"
        raise
    finally:
        trace.emit(event)


def _handover(frames: list[Frame], call: int, rest: bool) -> trace.Handover:
    frame = frames[-1]
    table, told = bytecode(frame.code), [_handed(each) for each in frames]
    instruction, origin = spelled(table, frame.offset), table.origin(frame.offset)
    return trace.Handover(call, told, instruction, rest, "", origin=origin)


def _came_out(frame: Frame, stop: Stop, moved: bool) -> str:
    """What CPython's instruction left: a value, which way a branch goes, or a caught exception."""
    if stop.jump:
        return str((frame.offset == stop.target) == ("TRUE" in stop.name))
    if stop.branch is not None and not moved and frame.offset in stop.branch:
        return str(frame.offset == stop.branch[True])
    if stop.name == "FOR_ITER" and frame.offset in (stop.after, stop.target):
        exhausted = frame.offset == stop.target
        return "no further item" if exhausted else describe_value(frame.stack[-1])
    if not moved:
        return "" if stop.name == "RERAISE" else "raised, and caught"
    if stop.results != 1:
        return ""
    return describe_value([value for value in frame.stack[-2:] if value is not NULL][-1])


def _handed(frame: Frame) -> trace.FrameRecord:
    """A frame with what somebody still reads of its variables, and its value stack."""
    told, table = _standing((frame.code, frame.offset)), bytecode(frame.code)
    live = table.live[frame.offset]
    for slot, (name, value) in enumerate(zip(table.slots, frame.fast)):
        if slot in live and name.isidentifier() and not _is_empty(value):
            told.variables.append([name, describe_value(value)])
    told.stack = [describe_value(value) for value in frame.stack if value is not NULL]
    return told


def _is_empty(value: Any) -> bool:
    if type(value) is CellType:
        try:
            return value.cell_contents is UNBOUND
        except ValueError:
            return True
    return value is UNBOUND
