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
from .frames import NULL, UNBOUND, Frame, Stop
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
    frame = frames[-1]
    stack = frame.stack
    handled = frame.exc if len(frames) == 1 else being_handled(frames)
    if stop.plain and handled is None and _is_plain(stop, stack):
        del stack  # as below: a traceback may lead here
        return _plain_call(frames, stop)
    if stop.moves is not None:
        del stack, handled
        _move(frame, stop)
        return True
    if stop.name == "RERAISE":  # no raise of ours: it would overwrite __context__
        del stack, handled
        unwind(frames, frame.stack.pop(), mark=False)
        return False
    operands = stack[len(stack) - stop.operands :]
    windowless = stop.name == "FOR_ITER"  # then the traceback lacks this frame's line
    try:
        if windowless:
            if handled is None:
                _next_item(frame, stop)
            else:
                _handling(handled, _next_item, frame, stop)
            return False
        if handled is None:
            value = _run(stop)(frame, operands, stop.results)
        else:
            value = _handling(handled, _run(stop), frame, operands, stop.results)
    except BaseException as error:
        operands.clear()  # a traceback leads here: it would keep, and so be kept by, these
        del stack, handled
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


def _is_plain(stop: Stop, stack: list[Any]) -> bool:
    """A C function that does not look at its caller needs no window: nobody can tell."""
    callee = stack[stop.callee]
    return (
        callee.__class__ is BuiltinFunctionType
        and stack[stop.null] is NULL
        and id(callee) not in READER_IDS
    )


def _plain_call(frames: list[Frame], stop: Stop) -> bool:
    """The step at such a call: `step` on its shortest way."""
    frame = frames[-1]
    stack = frame.stack
    operands = stack[-stop.operands :]
    try:
        value = operands[stop.callee](*operands[2:])
    except BaseException as error:
        operands.clear()
        del stack
        unwind(frames, _own_part(error), mark=True)
        return False
    del stack[-stop.operands :]
    if stop.branch is not None and value.__class__ is bool:
        frame.offset = stop.branch[value]
        return False
    stack.append(value)
    frame.offset = stop.after
    return True


def _move(frame: Frame, stop: Stop) -> None:
    """Variables change, and whoever was held by them alone is told."""
    fast, stack = frame.fast, frame.stack
    match stop.name:
        case "DELETE_FAST":
            fast[stop.moves] = UNBOUND
        case "STORE_FAST_LOAD_FAST":
            stored, loaded = stop.moves
            fast[stored] = stack.pop()
            stack.append(fast[loaded])
        case _:
            for slot in stop.moves if isinstance(stop.moves, tuple) else (stop.moves,):
                fast[slot] = stack.pop()
    frame.offset = stop.after


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
