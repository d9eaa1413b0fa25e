"""Enums: their members are constants, and so is what the library's own methods make of them.

In: an operation on members, or a call of an enum's class.  Out: the member or the plain value.
Invariant: it is computed here only as long as each method that Python would ask belongs to the
library or to C; a method of the user's is inlined like any other.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import objects
from ..breaks import Break, WouldRaise
from ..operators import plain_number
from ..variables import Constant, Variable
from .core import Interpreter
from .fold import is_plain, python_value, wrapped


def is_member(variable: Variable) -> bool:
    return isinstance(variable, Constant) and issubclass(type(variable.value), enum.Enum)


def is_enum(value: Any) -> bool:
    return issubclass(type(value), enum.EnumMeta)


def computed(
    vm: Interpreter, names: tuple[str, ...], function: Callable[..., Any], *operands: Variable
) -> Variable | None:
    """function(*operands); None where it is not the library's methods `names` that decide."""
    if not any(map(is_member, operands)):
        return None
    for operand in operands:
        if not isinstance(operand, Constant):
            return None
        own = is_member(operand) and all(_is_librarys(vm, operand.value, name) for name in names)
        if not own and not is_plain(operand.value):
            return None
    try:
        return _variable(vm, function(*(operand.value for operand in operands)))  # type: ignore[attr-defined]
    except Exception as error:
        raise WouldRaise(error) from None


def _is_librarys(vm: Interpreter, member: enum.Enum, name: str) -> bool:
    entry = vm.classes.entry(type(member), name)
    if entry is None or type(entry.raw) in objects.METHODS_IN_C:
        return True
    if type(entry.raw) is not FunctionType or entry.raw.__globals__ is not vars(enum):
        return False
    vm.look(vm.lazy(entry.source, entry.raw))  # guarded
    return True


def _variable(vm: Interpreter, value: Any) -> Variable:
    if issubclass(type(value), enum.Enum):
        return objects.member(vm, value)
    return wrapped(value)


def members_of(vm: Interpreter, cls: Any) -> list[Variable] | None:
    """The members of an enum's class, in order; None where it is not the library that goes through
    them."""
    entry = vm.classes.entry(vm.classes.of(cls), "__iter__") if is_enum(cls) else None
    if entry is None or entry.where is not enum.EnumMeta:
        return None
    return [objects.member(vm, member) for member in cls]


def as_number(variable: Variable) -> Variable:
    """What a tensor sees of an IntEnum's member: its number."""
    return Constant(plain_number(variable.value)) if is_member(variable) else variable  # type: ignore[attr-defined]


def as_index(vm: Interpreter, variable: Variable) -> Variable:
    """What a sequence or range() sees of an IntEnum's member: its number."""
    given = vm.look(variable)
    return as_number(given) if leaves_it(vm, given, "__index__") else variable


def leaves_it(vm: Interpreter, variable: Variable, name: str) -> bool:
    """Is it a member whose class has no method `name` of the user's?"""
    return is_member(variable) and _is_librarys(vm, variable.value, name)  # type: ignore[attr-defined]


def call_enum(
    vm: Interpreter, cls: type[enum.Enum], args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """cls(value): the member of that value. Raises WouldRaise(ValueError) when there is none."""
    missing = vm.classes.entry(cls, "_missing_")
    if len(args) != 1 or kwargs or not cls.__members__:
        raise Break("unknown-call", name=f"{cls.__name__}() that makes a class")
    given = vm.look(args[0])
    if is_member(given) and type(given.value) is cls:  # type: ignore[attr-defined]
        return given
    value = python_value(vm, given)
    users = missing is None or missing.where.__module__ != "enum"
    try:
        if users and value not in cls._value2member_map_:
            raise Break("unknown-call", name=f"{cls.__name__}._missing_()")
        return objects.member(vm, cls(value))
    except (ValueError, TypeError) as error:
        raise WouldRaise(error) from None
