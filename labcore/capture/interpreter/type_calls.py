"""Calls that ask what something is (`type isinstance getattr` ...).

Invariant: only exact answers: a class that decides by its own code, or a metaclass, is a Break.
"""

from __future__ import annotations

from ..attributes import find, has_attribute, set_attribute
from ..breaks import Break
from ..polyfills import copies, methods
from ..variables import (
    Call,
    Constant,
    FunctionVariable,
    IdVariable,
    MethodVariable,
    SliceVariable,
    TupleVariable,
    Variable,
)
from .builtin_calls import Args, rule
from .core import Interpreter
from .fold import python_value
from .type_of import type_of as type_of


@rule(type)
def _type(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    if len(args) != 1 or kwargs:
        raise Break("unknown-call", name="type() that makes a class")
    return Constant(type_of(vm, args[0]))


def _classes(vm: Interpreter, variable: Variable) -> tuple[type, ...]:
    value = vm.look(variable)
    if isinstance(value, TupleVariable):
        return tuple(cls for item in value.items for cls in _classes(vm, item))
    if not isinstance(value, Constant) or not isinstance(value.value, type):
        raise Break("operation", what=f"isinstance with a {value.kind}")
    if type(value.value).__instancecheck__ is not type.__instancecheck__:
        raise Break(
            "operation",
            what=f"isinstance with {value.value.__name__}, which decides by its own code",
        )
    return (value.value,)


@rule(isinstance)
def _isinstance(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(issubclass(type_of(vm, args[0]), _classes(vm, args[1])))


@rule(issubclass)
def _issubclass(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    (cls,) = _classes(vm, args[0])
    return Constant(issubclass(cls, _classes(vm, args[1])))


@rule(callable)
def _callable(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    value = vm.look(args[0])
    if isinstance(value, (FunctionVariable, MethodVariable)):
        return Constant(True)
    return Constant(vm.classes.entry(type_of(vm, value), "__call__") is not None)


@rule(getattr)
def _getattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    name = python_value(vm, args[1])
    if len(args) == 3 and not has_attribute(vm, args[0], name):
        return args[2]
    return find(vm, args[0], name)


@rule(setattr)
def _setattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return set_attribute(vm, args[0], python_value(vm, args[1]), args[2]) or Constant(None)


@rule(delattr)
def _delattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return set_attribute(vm, args[0], python_value(vm, args[1]), None) or Constant(None)


@rule(hasattr)
def _hasattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(has_attribute(vm, args[0], python_value(vm, args[1])))


@rule(copies.is_atom)
def _is_atom(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    value = vm.look(args[0])
    kinds = (FunctionVariable, SliceVariable)
    return Constant(isinstance(value, kinds) or type_of(vm, value) in copies.ATOMS)


@rule(methods.refuse)
def _refuse(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    raise Break("operation", what="a method's result of the wrong type")


@rule(id)
def _id(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    if len(args) != 1 or kwargs:
        raise Break("unknown-call", name="id() with such arguments")
    return IdVariable(args[0])
