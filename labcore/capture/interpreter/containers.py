"""Tuples, lists, dicts and slices: building, indexing, unpacking."""

from __future__ import annotations

from typing import Any, TypeVar

from ...tensor.size import Size
from ..attributes import special_method
from ..bases import plain
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..keys import is_constant_key, key_of
from ..numbers import size_of
from ..polyfills import iterators
from ..variables import (
    Constant,
    DequeVariable,
    DictVariable,
    ListVariable,
    ObjectVariable,
    SliceVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from . import deques, lists
from .continuations import call_polyfill
from .control import iterate
from .core import Interpreter
from .fold import folded, python_value
from .iteration import all_items
from .table import opcode

Made = TypeVar("Made", ListVariable, DictVariable)


@opcode("BUILD_TUPLE")
def build_tuple(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(TupleVariable(frame.pop(ins.arg)))


@opcode("BUILD_LIST")
def build_list(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(ListVariable(frame.pop(ins.arg)))


def _filled(vm: Interpreter, variable: Variable, kind: type[Made]) -> Made:
    """The list or dict that is being filled. After a break in the middle it is a real one."""
    made = vm.look(variable)
    if not isinstance(made, kind):
        raise Break("mutation", what=f"a {made.kind}")
    return made


@opcode("BUILD_MAP")
def build_map(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    flat = frame.pop(2 * ins.arg)
    keys = [key_of(vm, key) for key in flat[::2]]
    frame.stack.append(DictVariable(dict(zip(keys, flat[1::2]))))


@opcode("BUILD_CONST_KEY_MAP")
def build_const_key_map(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    keys = python_value(vm, frame.stack.pop())
    if not is_constant_key(keys):
        raise Break("operation", what="a dict with such keys")
    frame.stack.append(DictVariable(dict(zip(keys, frame.pop(ins.arg)))))


@opcode("MAP_ADD")
def map_add(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    key, value = frame.pop(2)
    made = _filled(vm, frame.stack[-ins.arg], DictVariable)
    vm.looker.set_item(made, key_of(vm, key), value)


@opcode("DICT_UPDATE", "DICT_MERGE")
def dict_update(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    given = plain(vm, frame.stack.pop(), "__iter__")
    made = _filled(vm, frame.stack[-ins.arg], DictVariable)
    own = isinstance(given, ObjectVariable) and special_method(vm, given, "keys") is not None
    if own and (ins.op == "DICT_UPDATE" or made.complete and not made.items):
        call_polyfill(vm, iterators.merge, [made, given], lambda vm, value: None)
        return
    if not isinstance(given, DictVariable):
        raise Break("operation", what=f"** of a {given.kind}")
    items = vm.looker.dict_items(given)
    if ins.op == "DICT_MERGE" and any(vm.looker.has_key(made, key) for key in items):
        raise WouldRaise(TypeError("got multiple values for a keyword argument"))
    for key, value in list(items.items()):
        vm.looker.set_item(made, key, value)


@opcode("BUILD_SLICE")
def build_slice(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    parts = frame.pop(ins.arg)
    start, stop, step = parts if ins.arg == 3 else (*parts, Constant(None))
    frame.stack.append(SliceVariable((start, stop, step)))


@opcode("LIST_APPEND")
def list_append(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value = frame.stack.pop()
    vm.looker.append(_filled(vm, frame.stack[-ins.arg], ListVariable), value)


@opcode("LIST_EXTEND")
def list_extend(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    given = frame.stack.pop()
    made = _filled(vm, frame.stack[-ins.arg], ListVariable)

    def then(items: list[Variable]) -> None:
        lists.extend(vm, made, TupleVariable(items))

    return all_items(vm, given, then, room=True)


@opcode("UNPACK_SEQUENCE")
def unpack_sequence(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    def then(items: list[Variable]) -> None:
        if len(items) != ins.arg:
            raise WouldRaise(ValueError(f"{len(items)} values to unpack into {ins.arg}"))
        frame.stack += reversed(items)

    return all_items(vm, frame.stack.pop(), then, limit=ins.arg + 1)


@opcode("UNPACK_EX")
def unpack_ex(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    before, after = ins.arg & 255, ins.arg >> 8

    def then(items: list[Variable]) -> None:
        rest = len(items) - before - after
        if rest < 0:
            raise WouldRaise(ValueError("not enough values to unpack"))
        tail = items[before + rest :]
        middle = ListVariable(items[before : before + rest])
        frame.stack += [*reversed(tail), middle, *reversed(items[:before])]

    return all_items(vm, frame.stack.pop(), then)


@opcode("BINARY_SUBSCR")
def binary_subscr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    key, owner = frame.stack.pop(), frame.stack.pop()
    return push_item(vm, frame, owner, key)


def push_item(
    vm: Interpreter, frame: SymbolicFrame, variable: Variable, key: Variable
) -> int | None:
    """Push variable[key], or the frame that makes it."""
    owner = vm.look(variable)
    if isinstance(owner, DictVariable) and owner.factory is not None:
        from .mappings import default_item  # late: it makes what builtins make

        return default_item(vm, owner, key, lambda value: frame.stack.append(value))
    frame.stack.append(subscript(vm, owner, key))
    return None


@opcode("BINARY_SLICE")
def binary_slice(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    owner, start, stop = frame.pop(3)
    frame.stack.append(subscript(vm, owner, SliceVariable((start, stop, Constant(None)))))


def subscript(vm: Interpreter, variable: Variable, key: Variable) -> Variable:
    """variable[key]."""
    owner = vm.look(variable)
    if isinstance(owner, TensorVariable):
        return vm.operators.method(owner, "__getitem__", [key])
    if isinstance(owner, DictVariable):
        return vm.looker.item(owner, key_of(vm, key))
    if isinstance(owner, DequeVariable):
        return deques.subscript(vm, owner, key)
    if isinstance(owner, (ListVariable, TupleVariable)):
        index, items = python_value(vm, key), iterate(vm, owner)
        try:  # each kind has its own text for an index out of range
            found: Any = (items if isinstance(owner, ListVariable) else tuple(items))[index]
        except (IndexError, TypeError) as error:
            raise WouldRaise(error, exact=True) from None
        if isinstance(found, Variable):
            return found
        if isinstance(owner, ListVariable):
            return ListVariable(found)
        whole = index.step in (None, 1) and len(found) == len(items)
        return owner if whole and owner.cls is tuple else _tuple_part(vm, owner, list(found))
    return folded(vm, "subscript", lambda o, k: o[k], owner, key)


def _tuple_part(vm: Interpreter, owner: TupleVariable, items: list[Variable]) -> Variable:
    if owner.cls is not Size:
        return TupleVariable(items)
    return size_of([vm.look(item) for item in items])
