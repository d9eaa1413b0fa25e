"""`==` between containers, and looking for an item in one.

Invariant: as in CPython an object equals itself without being asked. A tensor's answer is data, and
what code of the user's would answer is not asked for: Break.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ...tensor.size import Size
from ..bases import plain
from ..breaks import Break
from ..variables import (
    Constant,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    ListVariable,
    MethodVariable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from .core import Interpreter
from .fold import folded, is_plain
from .identity import same

CONTAINERS = (TupleVariable, ListVariable, DequeVariable, DictVariable, SetVariable)


def equal(vm: Interpreter, a: Variable, b: Variable) -> bool:
    """`a is b or a == b`, as containers ask it of their items."""
    try:
        return _equal(vm, a, b)
    except RecursionError:
        raise Break("operation", what="== of containers that contain themselves") from None


def _equal(vm: Interpreter, a: Variable, b: Variable) -> bool:
    first, second = (spelled_out(plain(vm, side, "__eq__")) for side in (a, b))
    if first is second:
        return True
    if isinstance(first, TensorVariable) or isinstance(second, TensorVariable):
        raise Break("data-dependent-branch")
    if isinstance(first, Constant) and isinstance(second, Constant):
        return _constants(vm, first, second)
    if isinstance(first, NumberVariable) or isinstance(second, NumberVariable):
        return _numbers(vm, first, second)
    if isinstance(first, CONTAINERS) and type(first) is type(second):
        return _containers(vm, first, second)
    if isinstance(first, MethodVariable) and isinstance(second, MethodVariable):
        return _methods(vm, first, second)
    if isinstance(first, SetVariable) or isinstance(second, SetVariable):
        return _keys(vm, first) == _keys(vm, second)
    if _by_identity(vm, first) and _by_identity(vm, second):
        return not isinstance(first, CONTAINERS + (Constant,)) and same(vm, a, b)
    raise Break("operation", what=f"== of a {first.kind} and a {second.kind}")


def spelled_out(value: Variable) -> Variable:
    """A tuple among the code's constants, as one built inside."""
    if isinstance(value, Constant) and type(value.value) in (tuple, Size):
        return TupleVariable([Constant(item) for item in value.value])
    return value


def _constants(vm: Interpreter, a: Constant, b: Constant) -> bool:
    if is_plain(a.value) and is_plain(b.value):
        result = folded(vm, "==", lambda x, y: x is y or x == y, a, b)
        assert isinstance(result, Constant)
        return bool(result.value)
    if _by_identity(vm, a) and _by_identity(vm, b):
        return a.value is b.value
    raise Break("operation", what=f"== of a {a.kind} and a {b.kind}")


def _numbers(vm: Interpreter, a: Variable, b: Variable) -> bool:
    """Of two numbers one varies: the answer is a guard."""
    plain = (Constant, NumberVariable)
    if not isinstance(a, plain) or not isinstance(b, plain):
        raise Break("operation", what=f"== of a {a.kind} and a {b.kind}")
    result = folded(vm, "==", operator.eq, a, b)
    assert isinstance(result, Constant)
    return bool(result.value)


def _methods(vm: Interpreter, a: MethodVariable, b: MethodVariable) -> bool:
    """Of one object, and the same: each access makes another method."""
    if a.function is None or b.function is None:
        raise Break("operation", what=f"== of a {a.kind} and a {b.kind}")
    return same(vm, a.owner, b.owner) and same(vm, a.function, b.function)


def _by_identity(vm: Interpreter, value: Variable) -> bool:
    """Does it, beside a thing of another kind, leave the answer to whether they are one?"""
    if isinstance(value, ObjectVariable):
        entry = vm.classes.entry(value.cls, "__eq__")
        return entry is not None and entry.where is object
    if isinstance(value, Constant):
        known: tuple[Any, ...] = (object.__eq__, type.__eq__)
        return is_plain(value.value) or type(value.value).__eq__ in known
    return isinstance(value, (FunctionVariable, *CONTAINERS))


def _containers(vm: Interpreter, a: Variable, b: Variable) -> bool:
    if isinstance(a, TupleVariable) and isinstance(b, TupleVariable):
        return _sequences(vm, a.items, b.items)
    if isinstance(a, ListVariable) and isinstance(b, ListVariable):
        first, second = vm.looker.items(a), vm.looker.items(b)
        return len(first) == len(second) and _sequences(vm, first, second)
    if isinstance(a, DequeVariable) and isinstance(b, DequeVariable):
        one_queue, other_queue = vm.looker.queue(a), vm.looker.queue(b)
        return len(one_queue) == len(other_queue) and _sequences(vm, one_queue, other_queue)
    if isinstance(a, DictVariable) and isinstance(b, DictVariable):
        one, other = vm.looker.dict_items(a), vm.looker.dict_items(b)
        if len(one) != len(other):
            return False
        if a.cls is b.cls is OrderedDict and list(one) != list(other):
            return False
        return all(key in other and _equal(vm, value, other[key]) for key, value in one.items())
    return _keys(vm, a) == _keys(vm, b)


def _sequences(vm: Interpreter, a: Sequence[Variable], b: Sequence[Variable]) -> bool:
    return all(_equal(vm, x, y) for x, y in zip(a, b)) and len(a) == len(b)


def _keys(vm: Interpreter, value: Variable) -> object:
    """A set's keys, or something that equals no set."""
    if isinstance(value, SetVariable):
        return vm.looker.elements(value)
    if isinstance(value, Constant) and type(value.value) is frozenset:
        return value.value
    if not _by_identity(vm, value):
        raise Break("operation", what=f"== of a set and a {value.kind}")
    return None


def position(vm: Interpreter, items: Sequence[Variable], wanted: Variable) -> int | None:
    """Where the first item is that equals `wanted`."""
    return next((n for n, item in enumerate(items) if equal(vm, item, wanted)), None)
