"""Variables and the value stack: instructions that only move values."""

from __future__ import annotations

import builtins
from types import ModuleType
from typing import Any

from ...guards import kinds, source
from ..breaks import Break, WouldRaise
from ..bytecode import V12, V13, Instruction
from ..frame import NULL, UNBOUND, SymbolicFrame, is_mark
from ..looking import BY_IDENTITY
from ..variables import CellVariable, Constant, Lazy, Variable
from .core import Interpreter
from .letting_go import check_lost, let_go
from .polyfilled import own_name
from .table import opcode


@opcode("NOP")
def nop(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    pass


@opcode("POP_TOP")
def pop_top(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    stop = let_go(vm, [frame.stack.pop()])  # a loop that is left pops what it went over
    if stop is not None:
        raise stop


@opcode("PUSH_NULL")
def push_null(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(Constant(NULL))


@opcode("COPY")
def copy(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(frame.stack[-ins.arg])


@opcode("SWAP")
def swap(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    stack = frame.stack
    stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]


@opcode("LOAD_CONST")
def load_const(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(Constant(ins.arg))


def bound(
    vm: Interpreter, frame: SymbolicFrame, slot: int, ins: Instruction | None = None
) -> Variable:
    """A local variable's value. Reading an unbound one raises in CPython too; since 3.12 only
    LOAD_FAST_CHECK (and DELETE_FAST) can meet one."""
    value, name = frame.fast[slot], frame.table.slots[slot]
    if is_mark(value, UNBOUND) or isinstance(value, Lazy) and value.value is UNBOUND:
        raise WouldRaise(UnboundLocalError(name))
    if (
        V12
        and ins is not None
        and ins.original.opname.startswith("LOAD_FAST")
        and (ins.original.opname != "LOAD_FAST_CHECK")
    ):
        return value
    if isinstance(value, Lazy) and value in vm.maybe_unbound and value.seen is None:
        home, origin = vm.builder.load(value.source), vm.builder.origin
        code, words = f"{home} is not UNBOUND", f"{name!r} is unbound now"
        vm.builder.add(kinds.condition("BOUND", name, code, home, "bound", words, origin))
    return value


@opcode("LOAD_FAST")
def load_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(bound(vm, frame, ins.arg, ins))


@opcode("LOAD_FAST_LOAD_FAST")
def load_fast_load_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack += [bound(vm, frame, slot, ins) for slot in ins.arg]


@opcode("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    """A comprehension's variable shadows a local of that name for as long as it runs."""
    frame.stack.append(frame.fast[ins.arg])
    frame.fast[ins.arg] = Constant(UNBOUND)


@opcode("STORE_FAST")
def store_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    check_lost(vm, frame, [ins.arg])
    frame.fast[ins.arg] = frame.stack.pop()


@opcode("STORE_FAST_STORE_FAST")
def store_fast_store_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    check_lost(vm, frame, ins.arg)
    for slot in ins.arg:
        frame.fast[slot] = frame.stack.pop()


@opcode("STORE_FAST_LOAD_FAST")
def store_fast_load_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    stored, loaded = ins.arg
    check_lost(vm, frame, [stored])
    value = frame.stack.pop()
    frame.stack.append(value if loaded == stored else bound(vm, frame, loaded))
    frame.fast[stored] = value


@opcode("DELETE_FAST")
def delete_fast(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    bound(vm, frame, ins.arg)
    check_lost(vm, frame, [ins.arg])
    frame.fast[ins.arg] = Constant(UNBOUND)


@opcode("MAKE_CELL")
def make_cell(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    """A frame begins with its cells made; an inlined comprehension makes one for its variable."""
    value = frame.fast[ins.arg]
    if is_mark(value, UNBOUND):
        frame.fast[ins.arg] = CellVariable(None)


@opcode("LOAD_DEREF")
def load_deref(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    cell = vm.look(frame.fast[ins.arg])
    assert isinstance(cell, CellVariable)
    if cell.content is None:
        name = frame.table.slots[ins.arg]
        if cell.source is not None and cell not in vm.effects.written:
            vm.looker.presence.stays_empty(cell.source, name)
        raise WouldRaise(NameError(name))
    frame.stack.append(vm.looker.presence.asked_for(cell.content))


@opcode("LOAD_GLOBAL")
def load_global(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    name, with_null = ins.arg
    value = global_value(vm, frame, name)
    null: list[Variable] = [Constant(NULL)] if with_null else []
    frame.stack += [value, *null] if V13 else [*null, value]


def global_value(vm: Interpreter, frame: SymbolicFrame, name: str) -> Variable:
    """A name of the module: its globals first, then the builtins."""
    if frame.ours:
        return own_name(frame.namespace, name)
    if type(frame.namespace) is not dict:
        raise Break("operation", what=f"global {name!r} of what is no plain dict")
    space = vm.builder.constant(frame.namespace, "G")
    written = vm.looker.written_names(frame.namespace)
    if name in written:
        value = written[name]
        if value is None:
            raise Break("operation", what=f"the global variable {name!r} after it was deleted")
        return value
    if name in frame.namespace:
        found = vm.lazy(source.global_variable(name, space), frame.namespace[name])
        return vm.looker.presence.asked_for(found)
    origin = frame.namespace.get("__builtins__", builtins)
    known = vars(builtins)
    if (vars(origin) if isinstance(origin, ModuleType) else origin) is not known:
        raise Break("operation", what=f"global {name!r} in a module with builtins of its own")
    if name not in known:
        vm.looker.presence.stays_unknown(name, space)
        raise WouldRaise(NameError(f"name {name!r} is not defined"))
    return _builtin(vm, name, known[name], space)


def _builtin(vm: Interpreter, name: str, value: Any, space: str) -> Variable:
    """A builtin, under the guard that the name still means it."""
    builder = vm.builder
    where = source.constant("builtins", builder.constant(builtins, "builtins")).attribute(name)
    if not issubclass(type(value), BY_IDENTITY):  # somebody put a thing of theirs there
        code, words = f"{name!r} not in {space}", f"{name!r} is a global variable now"
        add = kinds.condition(
            "BUILTIN_MATCH", name, code, space, "no global", words, builder.origin
        )
        builder.add(add)
        return vm.lazy(where, value)
    constant = builder.constant(value, name)
    builder.add(kinds.builtin_match(name, space, constant, builder.origin))
    return Constant(value, home=constant)
