"""Keys of dicts and elements of sets: what stands for one while capturing.

In: a variable.  Out: its key, to be used in a real dict or set of the variable's: the constant
itself where hashing and comparing it is CPython's or goes by identity; the `Variable` where the
object is only known by its guards (a tensor, a user's object), for one object is one variable.
One that hashes or compares by code of the user's is a `KeyVariable`.
Invariant: no `__hash__` or `__eq__` of the user's runs; a `Question` is raised for what it says.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..guards import GuardBuilder, kinds
from .breaks import Break, WouldRaise
from .numbers import as_constant
from .variables import (
    BytearrayVariable,
    Constant,
    DictVariable,
    FunctionVariable,
    IdVariable,
    KeyVariable,
    ListVariable,
    Mutable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

PRINTED = (int, str, bool, bytes, type(None))
BY_IDENTITY = (BuiltinFunctionType, FunctionType, ModuleType)
# Hashing and comparing of these classes' own.
OWN_HASHES = (object.__hash__, int.__hash__, str.__hash__, float.__hash__, enum.Enum.__hash__)
OWN_EQUALS = (object.__eq__, int.__eq__, str.__eq__, float.__eq__)


class Question(Exception):
    """What is hash(left), or left == right? The instruction is to be begun anew with the answer."""

    def __init__(self, left: Variable, right: Variable | None, key: tuple[Any, ...]) -> None:
        self.left, self.right, self.key = left, right, key
        super().__init__(left.kind)


def key_of(vm: Interpreter, variable: Variable) -> Any:
    """The key that stands for a variable. Raises WouldRaise for what CPython cannot hash, Question
    for what hashes itself by code of the user's."""
    value = as_constant(vm.looker.numbers, vm.look(variable))
    if isinstance(value, Constant) and is_constant_key(value.value):
        return value.value
    if isinstance(value, TupleVariable) and value.cls is tuple:
        parts = tuple(key_of(vm, item) for item in value.items)
        if any(isinstance(part, IdVariable) for part in parts):
            raise Break("operation", what="a tuple with an id as a key")
        if not any(isinstance(part, Variable) for part in parts):
            return parts
        return KeyVariable(value, hash(parts), partial(_equals, vm), parts, _state_of(parts))
    if isinstance(value, FunctionVariable):
        return _function_key(vm, value)
    if isinstance(value, (ListVariable, DictVariable, SetVariable, BytearrayVariable)):
        raise WouldRaise(TypeError(f"unhashable type: {value.kind!r}"), exact=True)
    if isinstance(value, TensorVariable):
        vm.looker.distinct[value] = None
        return value
    if isinstance(value, ObjectVariable):
        return _object_key(vm, value)
    if isinstance(value, IdVariable):
        return _id_key(vm, value)
    raise Break("operation", what=f"a {value.kind} as a key")


def _id_key(vm: Interpreter, value: IdVariable) -> IdVariable:
    """One object, one key. Raises Break for what was made inside: when that dies, another object
    may get its number."""
    of = vm.look(value.of)
    if not isinstance(of, (Mutable, TensorVariable)) or of.value is None or not of.home:
        raise Break("operation", what=f"the id of a {of.kind} as a key")
    vm.looker.distinct[of] = None
    return vm.looker.ids.setdefault(of, IdVariable(of, home=f"id({of.home})"))


def _object_key(vm: Interpreter, value: ObjectVariable) -> Variable:
    vm.looker.distinct[value] = None
    hashes, equals = (vm.classes.entry(value.cls, name) for name in ("__hash__", "__eq__"))
    assert hashes is not None and equals is not None
    if hashes.raw is None:
        raise WouldRaise(TypeError(f"unhashable type: {value.cls.__name__!r}"), exact=True)
    if hashes.where is object and equals.where is object:
        return value
    number = _answer(vm, ("hash", value), value)
    return KeyVariable(
        value, number, partial(_equals, vm), state=[(value, dict(value.attributes))]
    )


def _equals(vm: Interpreter, left: Variable, other: Any) -> bool:
    right = key_variable(vm.builder, other)
    known = other.of if isinstance(other, KeyVariable) else other
    answer: bool = _answer(vm, ("==", left, type(known), known), left, right)
    return answer


def _answer(
    vm: Interpreter, key: tuple[Any, ...], left: Variable, right: Variable | None = None
) -> Any:
    if key not in vm.answers:
        raise Question(left, right, key)
    return vm.answers[key]


def ask_all(keys: Collection[Any], known: Collection[Any] = ()) -> None:
    """Keys are about to join the `known` ones: what has to be asked is asked before anything
    changes."""
    if any(isinstance(key, KeyVariable) for key in (*keys, *known)):
        _ = {*known, *keys}


def _state_of(parts: tuple[Any, ...]) -> list[Any]:
    return [each for part in parts if isinstance(part, KeyVariable) for each in part.state]


def _function_key(vm: Interpreter, function: FunctionVariable) -> Any:
    """A function is known by its code only; as a key it is this very one."""
    if function.value is None:
        return function
    name, origin = function.code.co_name, vm.builder.origin
    constant = vm.builder.constant(function.value, name)
    vm.builder.add(kinds.id_match(name, function.home, function.value, constant, origin))
    return function.value


def is_constant_key(value: Any) -> bool:
    """Can the object itself be the key, as long as a guard says that it is this one?"""
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return all(map(is_constant_key, value))
    if kind is float:
        return math.isfinite(value)
    if kind is complex:
        return math.isfinite(value.real) and math.isfinite(value.imag)
    if kind in kinds.ATOMS:
        return not kinds.is_too_long(value)
    if issubclass(kind, type):
        return _by_identity(kind, type)
    if issubclass(kind, enum.Enum):
        return kind.__hash__ in OWN_HASHES and kind.__eq__ in OWN_EQUALS
    return kind in BY_IDENTITY


def _by_identity(kind: type, base: type = object) -> bool:
    hashes: tuple[Any, ...] = (object.__hash__, base.__hash__)
    equals: tuple[Any, ...] = (object.__eq__, base.__eq__)
    return kind.__hash__ in hashes and kind.__eq__ in equals


def key_variable(builder: GuardBuilder, key: Any) -> Variable:
    """The variable of a key."""
    if isinstance(key, KeyVariable):
        return key.of
    if isinstance(key, Variable):
        return key
    home = "" if _is_printed(key) else key_text(builder, key)
    return Constant(key, home=home)


def key_text(builder: GuardBuilder, key: Any) -> str:
    """Python for a key of an object from outside."""
    if isinstance(key, Variable):
        assert key.home, "a key that was made inside is in nothing from outside"
        return key.home
    if _is_printed(key):
        return repr(key)
    return builder.constant(key, getattr(key, "__name__", None) or "key")


def _is_printed(key: Any) -> bool:
    """Does its text mean the key?"""
    if type(key) is tuple:
        return all(map(_is_printed, key))
    return type(key) in (*PRINTED, float)


def held(key: Any) -> Any:
    """What an object from outside has for this key."""
    if isinstance(key, IdVariable):
        return id(held(key.of))
    if isinstance(key, Variable):
        value = getattr(key, "value", None)
        return key if value is None else value
    return key
