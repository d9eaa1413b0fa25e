"""Items of objects of the user's classes: `o[k]`, `o[k] = v`, `del o[k]`, `k in o`.

In: an instruction on such an object, or with one for a key.  Out: the frame of the method that
Python would call.
Invariant: as in `dunders.py`.
"""

from __future__ import annotations

from ..attributes import is_class
from ..breaks import WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..polyfills import methods
from ..variables import (
    Constant,
    DictVariable,
    ListVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from . import operators
from .containers import push_item
from .continuations import call_then
from .control import on_truth
from .core import Interpreter
from .dunders import Operands, on_objects
from .enums import as_index, is_member
from .object_builtins import is_object, python_method
from .polyfilled import as_variable
from .type_of import type_of

MAPS = (DictVariable, TensorVariable)  # a key, or an index with rules of its own


def _item_method(vm: Interpreter, owner: Variable, name: str, what: str) -> Variable:
    own = python_method(vm, owner, name)
    if own is None:
        kind = type_of(vm, owner).__name__
        raise WouldRaise(TypeError(f"{kind!r} object {what}"))
    return own


def _index_method(vm: Interpreter, owner: Variable, key: Variable) -> Variable | None:
    """What tells a list or a tuple which item is meant."""
    sequence = isinstance(owner, (ListVariable, TupleVariable))
    return python_method(vm, key, "__index__") if sequence and not is_member(key) else None


def _discard(vm: Interpreter, value: Variable) -> None:
    pass


@on_objects("BINARY_SUBSCR", 2, 0, 1, methods="getitem missing index hash eq")
def binary_subscr(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    owner, key = operands
    if not is_object(vm, owner):
        index = _index_method(vm, owner, key)
        if index is None:
            place = key if isinstance(vm.look(owner), MAPS) else as_index(vm, key)
            return push_item(vm, frame, owner, place)
        push = lambda vm, value: push_item(vm, frame, owner, value)
        return call_then(vm, as_variable(methods.integer), [index], {}, push)
    if is_class(owner) and python_method(vm, owner, "__getitem__") is None:
        return push_item(vm, frame, owner, key)  # its own __class_getitem__ may answer
    own = _item_method(vm, owner, "__getitem__", "is not subscriptable")
    return call_then(vm, own, [key], {}, lambda vm, value: frame.stack.append(value))


@on_objects("BINARY_SLICE", 3, 0, methods="getitem missing")
def binary_slice(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    owner, start, stop = operands
    key = SliceVariable((start, stop, Constant(None)))
    return binary_subscr(vm, frame, ins, [owner, key])


@on_objects("STORE_SUBSCR", 3, 1, methods="setitem")
def store_subscr(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    value, owner, key = operands
    own = _item_method(vm, owner, "__setitem__", "does not support item assignment")
    return call_then(vm, own, [key, value], {}, _discard)


@on_objects("STORE_SLICE", 4, 1, methods="setitem")
def store_slice(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    value, owner, start, stop = operands
    key = SliceVariable((start, stop, Constant(None)))
    return store_subscr(vm, frame, ins, [value, owner, key])


@on_objects("DELETE_SUBSCR", 2, 0, methods="delitem")
def delete_subscr(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    owner, key = operands
    own = _item_method(vm, owner, "__delitem__", "does not support item deletion")
    return call_then(vm, own, [key], {}, _discard)


def _check_iterable(vm: Interpreter, owner: Variable) -> None:
    """Raises WouldRaise(TypeError) for an object that `in` cannot go through."""
    walks = ("__iter__", "__getitem__")
    if is_object(vm, owner) and not any(python_method(vm, owner, name) for name in walks):
        kind = type_of(vm, owner).__name__
        raise WouldRaise(TypeError(f"argument of type {kind!r} is not iterable"), exact=True)


@on_objects("CONTAINS_OP", 2, 1, methods="contains iter")
def contains_op(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    item, owner = operands
    own = python_method(vm, owner, "__contains__")
    if own is None:
        _check_iterable(vm, owner)
        operators.contained(vm, frame, owner, item, bool(ins.arg))
        return None
    push = lambda true: frame.stack.append(Constant(true != bool(ins.arg)))
    return call_then(vm, own, [item], {}, lambda vm, value: on_truth(vm, value, push))
