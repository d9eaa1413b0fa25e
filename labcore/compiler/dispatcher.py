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
import linecache
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from ..capture import Stopped
from ..capture.interpreter.core import VARARGS, VARKEYWORDS, parameter_names
from ..graph import Names
from ..guards import EAGER, MISS
from ..guards.variant import Mark
from ..trace import attention

STATE = "_labcore_state"  # where a compiled function's globals, which are its own, hold its state
ABSENT = Mark(
    "ABSENT"
)  # stands for a default, which is read from the function at the call, where it may have changed

TEMPLATE = """\
def {name}({signature}):
    __tracebackhide__ = True
{defaults}    if {function}.__code__ is not {state}.code:
        {state}.renew()
        return {function}({call})
    if {attention}.needed:
        return {state}.watched(({slots}))
    try:
        outcome = {state}.cache.first({arguments})
        if outcome is {miss}: outcome = {state}.find(({slots}))
    except Exception as error:
        outcome = {state}.failed(error)
    if outcome.__class__ is tuple: return outcome[1]
    if outcome.__class__ is {stopped}: return {state}.resume(outcome)
    if outcome is {eager}: return {function}({call})
    return {state}.settle(outcome, {function}({call}))

def {run_eagerly}({parameters}):
    return {function}({call})
"""


def dispatcher(function: FunctionType, state: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled function, and one that runs the user's on bound arguments, one a parameter
    slot."""
    code = function.__code__
    parameters = parameter_names(code)
    names = Names({*parameters, "outcome", "error"})
    assert STATE not in parameters
    given: dict[str, Any] = {STATE: state, "_function": function, "_attention": attention}
    given |= {"_absent": ABSENT, "_miss": MISS, "_eager": EAGER, "_stopped": Stopped}
    scope: dict[str, Any] = {names.new(name): value for name, value in given.items()}
    state_, function_, attention_, absent, miss, eager, stopped = scope
    name = function.__name__ if function.__name__.isidentifier() else "compiled"
    if name in parameters:
        name = names.new(name)
    run = names.new("_run_eagerly")
    source = TEMPLATE.format(
        name=name,
        signature=_signature(function, absent),
        defaults=_defaults(function, absent, function_),
        attention=attention_,
        state=state_,
        miss=miss,
        eager=eager,
        stopped=stopped,
        function=function_,
        run_eagerly=run,
        slots="".join(f"{p}, " for p in parameters),
        arguments=", ".join(parameters),
        call=_call(code),
        parameters=", ".join(parameters),
    )
    path = f"<compiled {function.__qualname__}>"
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    exec(compile(source, path, "exec"), scope)
    return functools.update_wrapper(scope[name], function), scope[run]


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
    for name in code.co_varnames[count : count + code.co_kwonlyargcount]:
        parts.append(f"{name}={absent}" if name in (function.__kwdefaults__ or {}) else name)
    return ", ".join(parts + [f"**{name}" for name in rest])


def _defaults(function: FunctionType, absent: str, function_name: str) -> str:
    """Lines that fetch the defaults which the call left out."""
    code, lines = function.__code__, []
    given = function.__defaults__ or ()
    for place in range(-len(given), 0):
        name = code.co_varnames[code.co_argcount + place]
        lines.append(f"    if {name} is {absent}: {name} = {function_name}.__defaults__[{place}]\n")
    for name in function.__kwdefaults__ or {}:
        lines.append(
            f"    if {name} is {absent}: {name} = {function_name}.__kwdefaults__[{name!r}]\n"
        )
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
