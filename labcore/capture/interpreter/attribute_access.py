"""Instructions that read and set attributes."""

from __future__ import annotations

from ..attributes import find, set_attribute
from ..breaks import Break
from ..bytecode import V13, Instruction
from ..frame import NULL, SymbolicFrame
from ..objects import Found
from ..variables import Call, Constant, Variable
from .calls import call
from .continuations import call_then, settled
from .core import Interpreter
from .instances import super_of
from .table import opcode


@opcode("LOAD_ATTR")
def load_attr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    name, as_method = ins.arg
    _push(vm, frame, find(vm, frame.stack.pop(), name), as_method)


@opcode("LOAD_SUPER_ATTR")
def load_super_attr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    """super().name, where nobody has a super object in hand (3.12 on)."""
    name, as_method = ins.arg
    function, cls, owner = frame.pop(3)
    known = vm.look(function)
    if not isinstance(known, Constant) or known.value is not super:
        raise Break("attribute", name=name, what=f"a {known.kind} named super")
    _push(vm, frame, find(vm, super_of(vm, cls, owner), name), as_method)


def _push(vm: Interpreter, frame: SymbolicFrame, found: Found, as_method: bool) -> None:
    def push(vm: Interpreter, value: Variable) -> None:
        null: list[Variable] = [Constant(NULL)] if as_method else []
        frame.stack += [value, *null] if V13 else [*null, value]

    if isinstance(found, Call) and not as_method and found.plain:
        # Capture may stop inside of it: what it returns is all there is to push.
        call(vm, frame, found.function, found.args, found.kwargs)
    else:
        settled(vm, found, push)


@opcode("STORE_ATTR", "DELETE_ATTR")
def store_attr(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    owner = frame.stack.pop()
    value = frame.stack.pop() if ins.op == "STORE_ATTR" else None
    made = set_attribute(vm, owner, ins.arg, value)
    if made is not None:
        call_then(vm, made.function, made.args, made.kwargs, lambda vm, value: None)
