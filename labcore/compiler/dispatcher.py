"""The function that `compile` returns: it has the user's signature, so CPython itself binds the
arguments.

In: a function and the state of its compilation.  Out: a function of the same signature, name and
docstring.
Invariant: a wrong call raises the TypeError of the user's function, because it is the same
signature that refuses it.
A warm call is this function, one variant's guards, its graph, and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from ..capture.binding import VARARGS, VARKEYWORDS, parameter_names
from ..graph import Names, define
from ..guards import EAGER, MISS, RETURN
from ..guards.variant import Mark
from ..trace import attention
from .drive import drive

STATE = "_labcore_state"  # where a compiled function's globals, which are its own, hold its state
ABSENT = Mark(
    "ABSENT"
)  # stands for a default, which is read from the function at the call, where it may have changed

TEMPLATE = """\
def {name}({signature}):
    __tracebackhide__ = True
    if {function}.__code__ is not {state}.code or {function}.__defaults__ is not {state}.defaults:
        return {state}.renewed(({slots}))
{defaults}    if {attention}.needed:
        return {state}.watched(({slots}))
    try:
        outcome = {state}.cache.first({arguments})
        if outcome is {miss}: outcome = {state}.find(({slots}))
    except Exception as error:
        outcome = {state}.failed(error)
    if outcome.__class__ is tuple:
        if outcome[0] is {returned}: return outcome[1]
        return {drive}({state}, outcome[1], outcome[0])
    if outcome is {eager}: return {function}({call})
    return {state}.settle(outcome, {function}({call}))
"""


def dispatcher(function: FunctionType, state: Any) -> Callable[..., Any]:
    """The compiled function. Its text compares with what `state` remembers of the user's."""
    code = function.__code__
    parameters = parameter_names(code)
    names = Names({*parameters, "outcome", "error"})
    assert STATE not in parameters
    given: dict[str, Any] = {STATE: state, "_function": function, "_attention": attention}
    given |= {"_absent": ABSENT, "_miss": MISS, "_eager": EAGER, "_returned": RETURN}
    given |= {"_drive": drive}
    scope: dict[str, Any] = {names.new(name): value for name, value in given.items()}
    state_, function_, attention_, absent, miss, eager, returned, drive_ = scope
    name = function.__name__ if function.__name__.isidentifier() else "compiled"
    if name in parameters:
        name = names.new(name)
    source = TEMPLATE.format(
        name=name,
        signature=_signature(function, absent),
        defaults=_defaults(function, absent, state_),
        attention=attention_,
        state=state_,
        miss=miss,
        eager=eager,
        returned=returned,
        drive=drive_,
        function=function_,
        slots="".join(f"{p}, " for p in parameters),
        arguments=", ".join(parameters),
        call=_call(code),
    )
    define(source, f"<compiled {function.__qualname__}>", scope, state)
    return functools.update_wrapper(scope[name], function)


def _signature(function: FunctionType, absent: str) -> str:
    """The parameter list, with marks for defaults."""
    code, parts = function.__code__, []
    count = code.co_argcount
    first_default = count - len(function.__defaults__ or ())
    for place, name in enumerate(code.co_varnames[:count]):
        parts.append(f"{name}={absent}" if place >= first_default else name)
        if place + 1 == code.co_posonlyargcount:
            parts.append("/")
    rest = list(parameter_names(code)[count + code.co_kwonlyargcount :])
    if code.co_flags & VARARGS:
        parts.append(f"*{rest.pop(0)}")
    elif code.co_kwonlyargcount:
        parts.append("*")
    for name in _keyword_only(code):
        parts.append(f"{name}={absent}" if name in (function.__kwdefaults__ or {}) else name)
    return ", ".join(parts + [f"**{name}" for name in rest])


def _keyword_only(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def _defaults(function: FunctionType, absent: str, state: str) -> str:
    """Lines that fetch the defaults of what the call left out."""
    code, lines = function.__code__, []
    for place in range(-len(function.__defaults__ or ()), 0):
        name = code.co_varnames[code.co_argcount + place]
        lines.append(f"    if {name} is {absent}: {name} = {state}.defaults[{place}]\n")
    for name in function.__kwdefaults__ or {}:
        value = f"{state}.function.__kwdefaults__[{name!r}]"
        lines.append(f"    if {name} is {absent}: {name} = {value}\n")
    return "".join(lines)


def _call(code: CodeType) -> str:
    """Arguments that hand every slot on to the user's function."""
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    parts = list(code.co_varnames[:count])
    rest = list(parameter_names(code)[count + keyword_only :])
    if code.co_flags & VARARGS:
        parts.append(f"*{rest.pop(0)}")
    parts += [f"{name}={name}" for name in code.co_varnames[count : count + keyword_only]]
    if code.co_flags & VARKEYWORDS:
        parts.append(f"**{rest.pop(0)}")
    return ", ".join(parts)


def call_with(function: Callable[..., Any], code: CodeType, slots: tuple[Any, ...]) -> Any:
    """Call `function` with what a call of these parameters was given, one a slot."""
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    names, more = parameter_names(code), list(slots[count + keyword_only :])
    args = [value for value in slots[: code.co_posonlyargcount] if value is not ABSENT]
    kwargs = {
        name: value
        for name, value in zip(names, slots[: count + keyword_only])
        if value is not ABSENT and name not in names[: code.co_posonlyargcount]
    }
    varargs = more.pop(0) if code.co_flags & VARARGS else ()
    if varargs:  # then every positional parameter was given by position
        args = [*slots[:count], *varargs]
        kwargs = {name: kwargs[name] for name in _keyword_only(code) if name in kwargs}
    return function(*args, **kwargs, **(more[0] if more else {}))
