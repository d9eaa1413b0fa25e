"""Builtins on objects of the user's classes: `len`, `str`, `int` and their like call a method.

In: a builtin and its arguments, the first of which is such an object.  Out: the call to go on in.
Invariant: the method is the class's, and its result is of the type that CPython insists on;
anything else is a Break, and CPython says what is wrong.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from .. import objects
from ..bases import base_of
from ..breaks import Break
from ..polyfills import methods
from ..variables import (
    Call,
    Constant,
    FunctionVariable,
    MethodVariable,
    ObjectVariable,
    Variable,
)
from .core import Interpreter
from .enums import computed
from .polyfilled import as_variable

Args = list[Variable]


# The methods that are asked, in this order, and what is done with the answer.
SPECIAL: dict[Any, tuple[tuple[str, ...], Any]] = {
    len: (("__len__",), methods.length),
    abs: (("__abs__",), None),
    round: (("__round__",), None),
    int: (("__int__", "__index__"), methods.integer),
    float: (("__float__",), methods.real),
    str: (("__str__", "__repr__"), methods.text),
    repr: (("__repr__",), methods.text),
    format: (("__format__", "__str__", "__repr__"), methods.text),
    hash: (("__hash__",), methods.hashed),
    operator.index: (("__index__",), methods.integer),
    math.floor: (("__floor__",), None),
    math.ceil: (("__ceil__",), None),
    math.trunc: (("__trunc__",), None),
}


def is_object(vm: Interpreter, variable: Variable) -> bool:
    return objects.asked(vm, vm.look(variable)) is not None


def on_object(vm: Interpreter, function: Any, args: Args) -> Variable | Call:
    """function(*args). Raises Break for a builtin that asks no method in Python."""
    first, *rest = args
    if function is bool:
        return Call(as_variable(methods.truth), args)
    names, check = SPECIAL.get(function, ((), None))
    members = computed(vm, names, function, *map(vm.look, args)) if names else None
    if members is not None:
        return members
    for name in names:
        method = python_method(vm, first, name)
        if method is None:
            continue
        if function is format and name != "__format__":  # object.__format__ is str() of it
            if not all(isinstance(v, Constant) and v.value == "" for v in map(vm.look, rest)):
                break
            rest = []
        own = isinstance(method, MethodVariable) and isinstance(method.function, FunctionVariable)
        if check is None or not own:
            return Call(method, rest)
        return Call(as_variable(check), [method, *rest])
    raise Break("operation", what=f"{function.__name__}() of a {vm.look(first).kind}")


def of_base(known: objects.Instance, function: Variable | None) -> bool:
    """Is it a method of the builtin class that the object's is derived from?"""
    where = getattr(getattr(function, "value", None), "__objclass__", None)
    derived = isinstance(known.variable, ObjectVariable)
    return derived and where is not None and where is base_of(known.cls)


def python_method(vm: Interpreter, variable: Variable, name: str) -> Variable | None:
    """The method of the object's class; None when there is none but `object`'s. Raises Break for
    one in C, unless it is about what the object holds as a list, dict ..."""
    known = objects.asked(vm, vm.look(variable))
    if known is None:
        return None
    # What is an int is its own index: Python does not ask a method that its class has for that.
    cls = int if name == "__index__" and issubclass(known.cls, int) else known.cls
    entry = vm.classes.entry(cls, name)
    if entry is None or entry.where in (object, type):
        return None
    found = objects.method_of(vm, known, name, entry)
    inner = found.function if isinstance(found, MethodVariable) else found
    if not isinstance(inner, FunctionVariable) and not of_base(known, inner):
        raise Break("operation", what=f"{name} of a {known.cls.__name__} object")
    return found
