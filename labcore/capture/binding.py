"""Binding a call's arguments to parameters, as CPython does, with variables.

In: an inlined function, positional and keyword arguments.  Out: one variable a parameter.
Invariant: the same calls succeed as in CPython; the others raise WouldRaise, and CPython then
words the error itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..guards import Source, kinds
from .breaks import WouldRaise
from .variables import DictVariable, FunctionVariable, TupleVariable, Variable

if TYPE_CHECKING:
    from .interpreter.core import Interpreter


VARARGS, VARKEYWORDS = 0x04, 0x08


def bind(
    vm: Interpreter, function: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]
) -> dict[str, Variable]:
    """The variable of every parameter."""
    code = function.code
    positional = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    bound = dict(zip(positional, args))
    rest = args[len(positional) :]
    extra: dict[Any, Variable] = {}
    for name, value in kwargs.items():
        if name in bound and name in named:
            raise _wrong(f"{code.co_name}() got multiple values for argument {name!r}")
        (bound if name in named else extra)[name] = value
    _packs(code, bound, rest, extra)
    missing = [
        name
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if name not in bound
    ]
    for name in missing:
        bound[name] = _default(vm, function, name)
    return bound


def _packs(
    code: Any, bound: dict[str, Variable], rest: list[Variable], extra: dict[Any, Variable]
) -> None:
    """What is left over goes into *args and **kwargs, if there are any."""
    name = varargs_name(code)
    if name is not None:
        bound[name] = TupleVariable(rest)
    elif rest:
        raise _wrong(f"{code.co_name}() takes {code.co_argcount} positional arguments")
    name = varkeywords_name(code)
    if name is not None:
        bound[name] = DictVariable(extra)
    elif extra:
        raise _wrong(f"{code.co_name}() got an unexpected keyword argument {next(iter(extra))!r}")


def _default(vm: Interpreter, function: FunctionVariable, name: str) -> Variable:
    code = function.code
    if name in code.co_varnames[code.co_argcount :]:
        found = _keyword_default(vm, function, name)
    else:
        found = _positional_default(vm, function, code.co_varnames.index(name) - code.co_argcount)
    if found is None:
        raise _wrong(f"{code.co_name}() missing required argument {name!r}")
    return vm.looker.presence.asked_for(found)


def _positional_default(vm: Interpreter, function: FunctionVariable, place: int) -> Variable | None:
    """`place` counts from the end: -1 is the last positional parameter."""
    if function.value is None:
        return function.defaults[place] if -place <= len(function.defaults) else None
    given = function.value.__defaults__ or ()
    assert function.source is not None
    if -place > len(given):
        code = f"len({{}}.__defaults__ or ()) < {-place}"
        _guard_missing(vm, function.source, code)
        return None
    # From the end: the parameters are the code's, so only how many defaults there are could move
    # them.
    return vm.lazy(function.source.attribute("__defaults__").item(place), given[place])


def _keyword_default(vm: Interpreter, function: FunctionVariable, name: str) -> Variable | None:
    if function.value is None:
        return function.keyword_defaults.get(name)
    given = function.value.__kwdefaults__ or {}
    assert function.source is not None
    if name not in given:
        _guard_missing(vm, function.source, f"{name!r} not in ({{}}.__kwdefaults__ or ())")
        return None
    return vm.lazy(function.source.attribute("__kwdefaults__").item(name), given[name])


def _guard_missing(vm: Interpreter, source: Source, template: str) -> None:
    """A function has no default where one was looked for."""
    home, origin = vm.builder.load(source), vm.builder.origin
    expected, words = "no such default", f"{source.name!r} has another default now"
    code = template.format(home)
    vm.builder.add(
        kinds.condition("CLOSURE_MATCH", source.name, code, home, expected, words, origin)
    )


def _wrong(text: str) -> WouldRaise:
    return WouldRaise(TypeError(text))


def parameter_names(code: Any) -> tuple[str, ...]:
    """Names of the slots a call fills: positional, keyword-only, *args, **kwargs."""
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[
        : count + bool(code.co_flags & VARARGS) + bool(code.co_flags & VARKEYWORDS)
    ]


def keyword_only_names(code: Any) -> tuple[str, ...]:
    return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


def varargs_name(code: Any) -> str | None:
    return (
        code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & VARARGS
        else None
    )


def varkeywords_name(code: Any) -> str | None:
    return parameter_names(code)[-1] if code.co_flags & VARKEYWORDS else None
