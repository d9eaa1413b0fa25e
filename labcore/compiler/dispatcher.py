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

from ..capture.binding import VARARGS, VARKEYWORDS, keyword_only_names, parameter_names
from ..graph import Names, define
from ..guards import EAGER, MISS, End
from ..guards.variant import Mark
from ..trace import attention
from .drive import drive

STATE = "_labcore_state"  # where a compiled function's globals, which are its own, hold its state
# Stands for a default, which is read from the function at the call, where it may have changed.
ABSENT = Mark("ABSENT")

TEMPLATE = """\
def {name}({signature}):
    __tracebackhide__ = True
    if {function}.__code__ is not {code}:
        return {state}.renewed(({slots}))
{defaults}    if {attention}.needed:
        return {state}.watched(({slots}))
    try:
        {outcome} = {cache}.first
        {outcome} = {outcome}({arguments})
        if {type}({outcome}) is not {end}: return {outcome}
        if {outcome} is {miss}:
            {variants} = {cache}.variants
            for {place} in {range}(1, {len}({variants})):
                {outcome} = {variants}[{place}].run
                {outcome} = {outcome}({arguments})
                if {outcome} is not {miss}:
                    {cache}.promote({variants}, {place})
                    break
            else: {outcome} = {state}.missed(({slots}))
    except Exception as {error}:
        {outcome} = {state}.failed({error})
    if {type}({outcome}) is not {end}: return {outcome}
    if {outcome}.frames is not None: return {drive}({state}, {outcome}.frames, {outcome}.how)
    if {outcome} is {eager}: return {function}({call})
    return {state}.settle({outcome}, {function}({call}))
"""


def dispatcher(function: FunctionType, state: Any) -> Callable[..., Any]:
    """The compiled function. Its text compares with what `state` remembers of the user's."""
    code = function.__code__
    parameters = parameter_names(code)
    names = Names(parameters)
    local = {name: names.new(name) for name in ("outcome", "error", "variants", "place")}
    assert STATE not in parameters
    given: dict[str, Any] = {STATE: state, "_function": function, "_attention": attention}
    given |= {"_code": code, "_defaults": function.__defaults__, "_cache": state.cache}
    given |= {"_end": End, "_absent": ABSENT, "_miss": MISS, "_eager": EAGER, "_drive": drive}
    given |= {"_type": type, "_range": range, "_len": len}
    scope: dict[str, Any] = {names.new(name): value for name, value in given.items()}
    own = dict(zip(given, scope))
    name = function.__name__ if function.__name__.isidentifier() else "compiled"
    if name in parameters:
        name = names.new(name)
    absent = own["_absent"]
    source = TEMPLATE.format(
        name=name,
        signature=_signature(function, absent),
        defaults=_defaults(function, own),
        state=own[STATE],
        slots=_slots(code),
        **local,
        arguments=", ".join(parameters),
        call=_call(code),
        **{name[1:]: text for name, text in own.items() if name not in (STATE, "_defaults")},
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
    for name in keyword_only_names(code):
        parts.append(f"{name}={absent}" if name in (function.__kwdefaults__ or {}) else name)
    return ", ".join(parts + [f"**{name}" for name in rest])


def _defaults(function: FunctionType, own: dict[str, str]) -> str:
    """Lines that fetch the defaults of what the call left out; where there are others by now, the
    call is made again."""
    code, lines = function.__code__, []
    fetched: list[tuple[str, str, str]] = []
    for place in range(-len(function.__defaults__ or ()), 0):
        name, values = code.co_varnames[code.co_argcount + place], own["_defaults"]
        stays = f"{own['_function']}.__defaults__ is {values}"
        fetched.append((name, stays, f"{values}[{place}]"))
    for name in function.__kwdefaults__ or {}:
        values = f"{own['_function']}.__kwdefaults__"
        fetched.append((name, f"{name!r} in ({values} or ())", f"{values}[{name!r}]"))
    again = f"return {own[STATE]}.renewed(({_slots(code)}))"
    for name, stays, value in fetched:
        lines.append(f"    if {name} is {own['_absent']}:\n")
        lines.append(f"        if not ({stays}): {again}\n        {name} = {value}\n")
    return "".join(lines)


def _slots(code: CodeType) -> str:
    """What was passed, as the inside of a tuple."""
    return "".join(f"{name}, " for name in parameter_names(code))


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
        kwargs = {name: kwargs[name] for name in keyword_only_names(code) if name in kwargs}
    return function(*args, **kwargs, **(more[0] if more else {}))
