"""type(value) and callable(value) of a variable."""

from __future__ import annotations

from collections import deque

from ...tensor import Tensor
from ..breaks import Break
from ..remaking import type_of_generator
from ..variables import (
    BytearrayVariable,
    Constant,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    GeneratorVariable,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from .core import Interpreter

_MADE_INSIDE: dict[type, type] = {
    TensorVariable: Tensor,
    ListVariable: list,
    BytearrayVariable: bytearray,
    DequeVariable: deque,
    SetVariable: set,
    SliceVariable: slice,
    FunctionVariable: type(lambda: 0),
}


def type_of(vm: Interpreter, variable: Variable) -> type:
    """type(value), for what can be told."""
    value = vm.look(variable)
    if isinstance(value, (ObjectVariable, TupleVariable, DictVariable)):
        return value.cls
    if isinstance(value, Constant):
        return vm.classes.of(value.value)
    if isinstance(value, GeneratorVariable):
        return type_of_generator(value)
    known = getattr(value, "value", None)
    if known is not None:
        return type(known)
    if type(value) not in _MADE_INSIDE:
        raise Break("operation", what=f"type of a {value.kind}")
    return _MADE_INSIDE[type(value)]


def is_callable(vm: Interpreter, variable: Variable) -> bool:
    """callable(value)."""
    value = vm.look(variable)
    if isinstance(value, (FunctionVariable, MethodVariable)):
        return True
    return vm.classes.has(type_of(vm, value), "__call__")
