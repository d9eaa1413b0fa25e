"""What CPython does between two regions: one instruction, the unwinding of an exception, or the
rest of a frame.

In: frames, outermost first, and the stop they stand at.  Out: the frames, moved on.
Invariant: what the user can see is what CPython would show: operands, results, the exception being
handled, tracebacks, `__context__`.
"""

from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from .bytecode import V13, bytecode
from .frames import NULL, Frame, Stop
from .pieces import escape, raise_at, truth, window

OURS = str(Path(__file__).resolve().parents[1])
_FRAME_READERS = (
    *(getattr(builtins, name) for name in "locals globals vars dir eval exec __import__".split()),
    builtins.breakpoint,
    sys._getframe,
    sys.exc_info,
    warnings.warn,
)
# By identity: hashing or comparing may run the user's code.
READER_IDS = frozenset(map(id, _FRAME_READERS))


def step(frames: list[Frame], stop: Stop) -> bool:
    """CPython runs the instruction the innermost frame stands at; an exception unwinds as it
    would. Is the next place the one that this stop always leads to?"""
    frame, stack = frames[-1], frames[-1].stack
    if stop.name == "RERAISE":  # no raise of ours: it would overwrite __context__
        unwind(frames, stack[-1], mark=False)
        return False
    operands = stack[len(stack) - stop.operands :]
    windowless = stop.name == "FOR_ITER"  # then the traceback lacks this frame's line
    try:
        handled = frame.exc is not None or len(frames) > 1
        handled = handled and being_handled(frames) is not None
        if windowless:
            if handled:
                _handling(being_handled(frames), _next_item, frame, stop)
            else:
                _next_item(frame, stop)
            return False
        if handled:
            value = _handling(being_handled(frames), _run(stop), frame, operands, stop.results)
        elif _is_plain(stop, operands):
            windowless = True
            value = operands[not V13](*operands[2:])
        else:
            value = _run(stop)(frame, operands, stop.results)
    except BaseException as error:
        operands.clear()  # a traceback leads here: it would keep, and so be kept by, these
        del stack
        unwind(frames, _own_part(error), mark=windowless or error.__traceback__ is None)
        return False
    if stop.jump:
        jumps = (not value) == ("TRUE" in stop.name)
        frame.offset = stop.target if jumps else stop.after
        if not jumps or stop.name.startswith("POP"):  # 3.11's JUMP_IF_X_OR_POP keeps it
            stack.pop()
        return False
    del stack[len(stack) - stop.operands :]
    if stop.branch is not None and (value is True or value is False):
        frame.offset = stop.branch[value]
        return False
    if stop.results != 1:
        stack += value
    elif stop.wants_null:
        stack += (value, NULL) if V13 else (NULL, value)
    else:
        stack.append(value)
    frame.offset = stop.after
    return True


def _run(stop: Stop) -> Callable[..., Any]:
    return truth if stop.truth_only else window


def _is_plain(stop: Stop, operands: list[Any]) -> bool:
    """A C function that does not look at its caller needs no window: nobody can tell."""
    if not stop.plain or operands[V13] is not NULL:
        return False
    function = operands[not V13]
    return type(function) is BuiltinFunctionType and id(function) not in READER_IDS


def _next_item(frame: Frame, stop: Stop) -> None:
    try:
        frame.stack.append(next(frame.stack[-1]))
        frame.offset = stop.after
    except StopIteration:
        frame.stack.pop()
        frame.offset = stop.target


def being_handled(frames: list[Frame]) -> BaseException | None:
    """The exception that `sys.exc_info()` tells in the innermost frame."""
    for frame in reversed(frames):
        if frame.exc is not None:
            return frame.exc
    return None


def _handling(exc: BaseException | None, function: Callable[..., Any], *args: Any) -> Any:
    """Call with `exc` as the exception being handled, for bare raise and `__context__`."""
    assert exc is not None
    traceback, context = exc.__traceback__, exc.__context__
    try:
        raise exc
    except BaseException:
        exc.__traceback__, exc.__context__ = traceback, context  # as if never raised again
        del exc, traceback, context  # a traceback that leads here would keep them
        return function(*args)


def _own_part(error: BaseException) -> BaseException:
    """Drop the lab's entries from the front of the traceback."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(OURS):
        entry = entry.tb_next
    return error.with_traceback(entry)


def unwind(frames: list[Frame], error: BaseException, mark: bool) -> None:
    """Find the handler as CPython does, by exception tables, outwards through the frames.

    `mark`: the traceback still lacks the innermost frame's line.
    Raises the error when nobody handles it.
    """
    context = error.__context__
    while True:
        frame = frames[-1]
        if mark:
            try:
                raise_at(frame, error)
            except BaseException as again:
                error = _own_part(again)
                error.__context__ = context
        entry = bytecode(frame.code).handler(frame.offset)
        if entry is not None:
            del frame.stack[entry.depth :]
            frame.stack += [frame.offset // 2, error] if entry.lasti else [error]
            frame.offset = entry.target
            del error, context  # its traceback may lead here, and would keep them
            return
        frame.let_go()
        if len(frames) == 1:
            try:
                raise error
            finally:
                error.__context__ = context
                del error, context
        frames.pop()
        mark = True


def run_rest(frames: list[Frame]) -> tuple[Any] | None:
    """CPython runs the innermost frame to its end: (value,) of the outermost one, or None when
    its caller is to go on."""
    frame = frames[-1]
    handled = being_handled(frames)
    try:
        value = escape(frame) if handled is None else _handling(handled, escape, frame)
    except BaseException as error:
        _own_part(error)
        if len(frames) == 1:
            raise
        frames.pop()
        unwind(frames, error, mark=True)
        return None
    finally:
        del handled
    frames.pop()
    if not frames:
        return (value,)
    caller = frames[-1]
    caller.stack.append(value)
    caller.offset = bytecode(caller.code).after[caller.offset]
    return None
