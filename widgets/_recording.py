"""Calls made for a widget: run on the compiled function, recorded, errors kept as text.

In: a function and calls.  Out: the events, and the exception of each call that raised.
Invariant: an exception belongs to its call; only what never was a call (wrong arguments) is raised.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, MethodType
from typing import Any

import labcore as torch
from labcore import trace as t
from labcore.compiler.compile import CompiledObject, state_of
from labcore.compiler.frames import numbered_apart
from labcore.compiler.state import State
from labcore.guards import RECOMPILE_LIMIT

from ._inputs import example_inputs

LARGEST = 4096  # elements of a tensor that is made for a call

Function = Callable[..., Any]
Call = tuple[Any, ...] | int | Callable[[Function], Any]
Told = tuple[list[t.Event], dict[int, str]]


def given(
    name: str,
    fn: Function | None,
    calls: Sequence[Call],
    trace: t.Recorder | Iterable[t.Event] | None,
) -> list[t.Event] | None:
    """The events of a recording, or None where calls are to be made. Raises TypeError for
    arguments of a widget that are neither the one nor the other, ValueError for a size out of
    range."""
    if isinstance(fn, type):
        raise TypeError(
            f"{name}: {fn.__name__} is a class, and compiling it compiles the calls of its "
            f"instances for good; give an instance, {name}({fn.__name__}(...), ...)"
        )
    if (fn is None) == (trace is None):
        raise TypeError(
            f"{name} shows either a function and its calls, or a recording: "
            f"{name}(fn, (x,)) or {name}(trace=recorder)"
        )
    if trace is not None:
        if calls:
            raise TypeError(f"{name}: a recording has its calls already; give no others")
        return list(trace.events if isinstance(trace, t.Recorder) else trace)
    if not calls:
        raise TypeError(f"{name}: give at least one call, as a tuple of arguments or a size")
    for call in calls:
        makes = callable(call) and not isinstance(call, torch.Tensor)
        if not (isinstance(call, tuple) or type(call) is int or makes):
            raise TypeError(
                f"{name}: a call is a tuple of arguments, as in {name}(fn, (x,)), a size, or a "
                f"function that is given fn and calls it; got {type(call).__name__}"
            )
        if isinstance(call, int) and not 0 <= call <= LARGEST:
            raise ValueError(f"{name}: a size is a number from 0 to {LARGEST}, not {call}")
    return None


def refuse_settings(name: str, plain: bool, dynamic: bool | None, limit: int) -> None:
    """Raise TypeError where a setting is given for what was compiled elsewhere."""
    if not plain and (dynamic is not False or limit != RECOMPILE_LIMIT):
        raise TypeError(
            f"{name}: dynamic and recompile_limit are for a plain function, which is compiled "
            "here; what is compiled or recorded already has its own"
        )


def record_calls(
    compiled: Function, fn: Function, calls: Iterable[Call], steps: bool = False
) -> Told:
    """Events, and texts of exceptions by the compiler's number of the call. `fn` has the
    parameters for calls that are given as a size.
    """
    errors: dict[int, str] = {}
    with t.record(steps) as recorder:
        for call in calls:
            before = len(recorder.of(t.CallBegin))
            try:
                make(compiled, fn, call)
            except Exception as error:
                begun = recorder.of(t.CallBegin)
                if len(begun) == before:  # it never was a call: wrong arguments for this function
                    if isinstance(error, TypeError) and _is_shape(call):
                        raise TypeError(f"{error}; {_HINT.format(call)}") from error
                    raise
                errors[begun[before].call] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return recorder.events, errors


_HINT = "a tuple is the arguments of one call; for tensors of that shape give torch.ones{}"


def _is_shape(call: Call) -> bool:
    """May sizes have been meant by a tuple of arguments?"""
    return isinstance(call, tuple) and bool(call) and all(type(size) is int for size in call)


def make(compiled: Function, fn: Function, call: Call) -> None:
    """One call: of these arguments, of tensors of so many elements, or as a function makes it."""
    if isinstance(call, int):
        compiled(*example_inputs(fn, call))
    elif isinstance(call, tuple):
        compiled(*call)
    else:
        call(compiled)


@contextlib.contextmanager
def rehearsal(
    fn: Function, dynamic: bool | None, limit: int, *, quiet: bool
) -> Iterator[Function]:
    """A plain function compiled for some calls alone, its variants numbered from 0/0.

    The widget itself tells of the recompile limit, so nothing warns of it. `quiet`: nothing is
    printed, as the same calls are made elsewhere too.
    """
    out = contextlib.redirect_stdout(io.StringIO()) if quiet else contextlib.nullcontext()
    with numbered_apart(), out, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*recompile limit", RuntimeWarning)
        yield torch.compile(fn, dynamic=dynamic, recompile_limit=limit)


def is_compiled(fn: Callable[..., Any]) -> bool:
    """Did `compile` make this?"""
    try:
        state_of(fn)
    except (AttributeError, KeyError, TypeError):  # an object that is called, a builtin
        return False
    return True


def compiled_anew(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled form of `fn` with no variant yet, by the backend it was compiled with before."""
    if not is_compiled(fn):
        return torch.compile(fn)
    return torch.compile(original(fn), backend=state_of(fn).options.backend)


def original(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function, method or object behind a compiled one; any other is itself."""
    if not is_compiled(fn):
        return fn
    if isinstance(fn, CompiledObject):
        return object.__getattribute__(fn, "_orig_mod")
    state: State = state_of(fn)
    if isinstance(fn, MethodType):
        return MethodType(state.function, fn.__self__)
    return state.function


def code_of(fn: Callable[..., Any]) -> CodeType | None:
    """The code object whose lines are shown."""
    inner = inspect.unwrap(fn)
    inner = getattr(inner, "__func__", inner)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None
