"""Calls made for a widget: run on the compiled function, recorded, errors kept as text.

In: a function and calls.  Out: the events, and the exception of each call that raised.
Invariant: an exception belongs to its call; only what never was a call (wrong arguments) is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any

import labcore as torch
from labcore import trace as t
from labcore.compiler.compile import CompiledObject, state_of
from labcore.compiler.state import State

from ._inputs import example_inputs

Call = tuple[Any, ...] | int


def record_calls(
    compiled: Callable[..., Any], fn: Callable[..., Any], calls: Iterable[Call], steps: bool = False
) -> tuple[list[t.Event], dict[int, str]]:
    """Events, and texts of exceptions by the compiler's number of the call. `fn` has the
    parameters for calls that are given as a size.
    """
    errors: dict[int, str] = {}
    with t.record(steps) as recorder:
        for call in calls:
            arguments = example_inputs(fn, call) if isinstance(call, int) else call
            before = len(recorder.of(t.CallBegin))
            try:
                compiled(*arguments)
            except Exception as error:
                begun = recorder.of(t.CallBegin)
                if len(begun) == before:
                    raise  # it never was a call: wrong arguments for this function
                errors[begun[before].call] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return recorder.events, errors


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
        return object.__getattribute__(fn, "_original")
    state: State = state_of(fn)
    if isinstance(fn, MethodType):
        return MethodType(state.function, fn.__self__)
    return state.function
