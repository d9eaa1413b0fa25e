"""Calls that ask what something is (`type isinstance getattr` ...).

Invariant: only exact answers: a class that decides by its own code, or a metaclass, is a Break.
"""

from __future__ import annotations

import abc
import operator
import sys

from ...guards import kinds
from ..attributes import find, has_attribute, set_attribute
from ..breaks import Break
from ..classes import is_fixed, static_entry
from ..objects import PLAIN_LOOKUPS, instance
from ..polyfills import copies, methods
from ..variables import (
    Call,
    Constant,
    FunctionVariable,
    IdVariable,
    SliceVariable,
    TupleVariable,
    Variable,
)
from .builtin_calls import Args, rule
from .core import Interpreter
from .fold import python_value
from .identity import same
from .polyfilled import inlined
from .type_of import is_callable, type_of as type_of

STDLIB = sys.stdlib_module_names


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
    checks = vm.classes.entry(vm.classes.of(value.value), "__instancecheck__")
    if (checks is None or checks.where is not type) and not _is_abstract(value.value):
        raise Break(
            "operation",
            what=f"isinstance with {value.value.__name__}, which decides by its own code",
        )
    return (value.value,)


@rule(isinstance)
def _isinstance(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    cls = type_of(vm, args[0])
    hit = _is_subclass(vm, cls, _classes(vm, args[1]))
    if hit or is_fixed(cls) and static_entry(cls, "__class__")[0] is object:
        return Constant(hit)
    lookup, told = vm.classes.entry(cls, "__getattribute__"), vm.classes.entry(cls, "__class__")
    if lookup is None or not any(lookup.raw is plain for plain in PLAIN_LOOKUPS):
        raise Break("operation", what=f"isinstance of a {cls.__name__} object")
    if told is None or told.where is object:
        return Constant(hit)
    return inlined(methods.is_as_it_says, args, kwargs)  # a proxy, which tells another's class


def _is_abstract(cls: type) -> bool:
    """An abstract base class that leaves the decision to the standard library."""
    hook = static_entry(cls, "__subclasshook__")[0]
    known = hook is object or str(getattr(hook, "__module__", "")).split(".")[0] in STDLIB
    return type(cls) is abc.ABCMeta and known


def _is_subclass(vm: Interpreter, cls: type, others: tuple[type, ...]) -> bool:
    """issubclass(cls, others), guarded where it can change: somebody may register a class."""
    vm.classes.same_line(cls)
    for other in others:
        hit = issubclass(cls, other)
        if type(other) is abc.ABCMeta:
            names = [vm.builder.constant(kind, kind.__name__) for kind in (cls, other)]
            code = f"{'' if hit else 'not '}issubclass({', '.join(names)})"
            words = f"{cls.__name__} is {'no longer' if hit else 'now'} a {other.__name__}"
            name, origin = cls.__name__, vm.builder.origin
            vm.builder.add(
                kinds.condition("SUBCLASS", name, code, names[0], code, words, origin)
            )
        if hit:
            return True
    return False


@rule(issubclass)
def _issubclass(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    (cls,) = _classes(vm, args[0])
    return Constant(_is_subclass(vm, cls, _classes(vm, args[1])))


@rule(callable)
def _callable(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(is_callable(vm, args[0]))


def _name(vm: Interpreter, variable: Variable) -> str:
    """An attribute's name."""
    name = python_value(vm, variable)
    if not isinstance(name, str):
        raise Break("operation", what="an attribute's name that is no text")
    return name


@rule(getattr)
def _getattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    name = _name(vm, args[1])
    if len(args) == 3 and not has_attribute(vm, args[0], name):
        return args[2]
    return find(vm, args[0], name)


@rule(operator.is_)
def _is(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(same(vm, *args))


@rule(operator.is_not)
def _is_not(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(not same(vm, *args))


@rule(vars)
def _vars(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    if len(args) != 1 or instance(vm, vm.look(args[0])) is None:
        raise Break("caller-frame", name="vars()")
    return find(vm, args[0], "__dict__")


@rule(setattr)
def _setattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return set_attribute(vm, args[0], _name(vm, args[1]), args[2]) or Constant(None)


@rule(delattr)
def _delattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return set_attribute(vm, args[0], _name(vm, args[1]), None) or Constant(None)


@rule(hasattr)
def _hasattr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return Constant(has_attribute(vm, args[0], _name(vm, args[1])))


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
