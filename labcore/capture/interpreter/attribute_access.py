"""Instructions that read and set attributes."""

from __future__ import annotations

from ..attributes import find
from ..breaks import Break
from ..bytecode import V13, Instruction
from ..frame import NULL, SymbolicFrame
from ..variables import Call, Constant, Variable
from .calls import call
from .continuations import call_then
from .core import Interpreter
from .table import opcode


@opcode("LOAD_ATTR")
def load_attr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    name, as_method = ins.arg
    found = find(vm, frame.stack.pop(), name)

    def push(vm: Interpreter, value: Variable) -> None:
        null: list[Variable] = [Constant(NULL)] if as_method else []
        frame.stack += [value, *null] if V13 else [*null, value]

    if not isinstance(found, Call):
        push(vm, found)
    elif as_method:
        call_then(vm, found.function, found.args, found.kwargs, push)
    else:  # capture may stop inside of it: what it returns is all there is to push
        call(vm, frame, found.function, found.args, found.kwargs)


@opcode("STORE_ATTR", "DELETE_ATTR")
def store_attr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    owner = vm.look(frame.stack[-1])
    raise Break("mutation", what=f"attribute {ins.arg!r} of a {owner.kind}")
