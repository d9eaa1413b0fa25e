"""Storing and deleting: items, cells and globals.

In: an instruction that changes something.  Out: the variable, brought up to date, and an effect for
what existed before the region.
Invariant: only what CPython does without code of the user's is done here; the rest is a Break.
"""

from __future__ import annotations

from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..variables import (
    BytearrayVariable,
    CellVariable,
    Constant,
    DequeVariable,
    DictVariable,
    ListVariable,
    SliceVariable,
    TensorVariable,
    Variable,
)
from . import bytearrays, deques, dicts, lists
from .core import Interpreter
from .locals import global_value
from .table import opcode

# ---- items --------------------------------------------------------------------------------------


@opcode("STORE_SUBSCR")
def store_subscr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value, owner, key = frame.pop(3)
    store_item(vm, owner, key, value)


@opcode("STORE_SLICE")
def store_slice(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value, owner, start, stop = frame.pop(4)
    store_item(vm, owner, SliceVariable((start, stop, Constant(None))), value)


@opcode("DELETE_SUBSCR")
def delete_subscr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    variable, key = frame.pop(2)
    delete_item(vm, variable, key)


def store_item(vm: Interpreter, variable: Variable, key: Variable, value: Variable) -> None:
    """variable[key] = value."""
    owner = vm.look(variable)
    if isinstance(owner, ListVariable):
        lists.set_item(vm, owner, key, value)
    elif isinstance(owner, DequeVariable):
        deques.set_item(vm, owner, key, value)
    elif isinstance(owner, BytearrayVariable):
        bytearrays.set_item(vm, owner, key, value)
    elif isinstance(owner, DictVariable):
        dicts.set_item(vm, owner, key, value)
    elif isinstance(owner, TensorVariable):
        vm.operators.method(owner, "__setitem__", [key, value])
    else:
        raise Break("mutation", what=f"a {owner.kind}")


def delete_item(vm: Interpreter, variable: Variable, key: Variable) -> None:
    """del variable[key]."""
    owner = vm.look(variable)
    if isinstance(owner, (ListVariable, DequeVariable)):
        lists.delete_item(vm, owner, key)
    elif isinstance(owner, BytearrayVariable):
        bytearrays.delete_item(vm, owner, key)
    elif isinstance(owner, DictVariable):
        dicts.delete_item(vm, owner, key)
    else:
        raise Break("mutation", what=f"a {owner.kind}")


# ---- cells --------------------------------------------------------------------------------------


@opcode("STORE_DEREF")
def store_deref(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value, cell = frame.stack.pop(), _cell(vm, frame, ins)
    vm.effects.write(cell, "{}.cell_contents = {}", value)
    cell.content = value


@opcode("DELETE_DEREF")
def delete_deref(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    cell = _cell(vm, frame, ins)
    if cell.content is None:
        raise WouldRaise(UnboundLocalError(frame.table.slots[ins.arg]))
    vm.looker.presence.asked_for(cell.content)
    vm.effects.write(cell, "del {}.cell_contents")
    cell.content = None


def _cell(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> CellVariable:
    cell = vm.look(frame.fast[ins.arg])
    assert isinstance(cell, CellVariable)
    return cell


# ---- globals ------------------------------------------------------------------------------------


@opcode("STORE_GLOBAL")
def store_global(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    vm.looker.store_name(frame.namespace, ins.arg, frame.stack.pop())


@opcode("DELETE_GLOBAL")
def delete_global(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    written = vm.looker.written_names(frame.namespace)
    if ins.arg not in frame.namespace and ins.arg not in written:
        raise WouldRaise(NameError(f"name {ins.arg!r} is not defined"))
    vm.looker.presence.asked_for(global_value(vm, frame, ins.arg))
    vm.looker.store_name(frame.namespace, ins.arg, None)
