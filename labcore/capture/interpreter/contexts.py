"""`with`: entering and leaving contexts.

In: a context manager's variable.  Out: the frames of its `__enter__` and `__exit__`, as of any
callee.
Invariant: both methods are the class's, looked up before either runs; what `__exit__` says of an
exception is decided by its truth, as in CPython.
The lab's own no_grad and its like are Python, and are read like the user's: the flags they set are
`ModeVariable`'s.
"""

from __future__ import annotations

from ..attributes import special_method
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..classes import is_read
from ..frame import SymbolicFrame
from ..objects import class_constant
from ..variables import (
    Constant,
    ExceptionVariable,
    MethodVariable,
    ObjectVariable,
    TracebackVariable,
    Variable,
)
from .calls import call
from .core import Interpreter
from .table import opcode

COMPILER = __name__.partition(".")[0] + ".compiler"


@opcode("BEFORE_WITH")
def before_with(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    manager = vm.look(frame.stack.pop())
    if not isinstance(manager, ObjectVariable) or _is_cpythons(vm, manager.cls):
        raise Break("context-manager")
    enter, leave = (_method(vm, manager, name) for name in ("__enter__", "__exit__"))
    if enter is None or leave is None:
        missing = " (missed __exit__ method)" if enter is not None else ""
        text = f"{manager.cls.__name__!r} object does not support the context manager protocol"
        raise WouldRaise(TypeError(text + missing), exact=True)
    frame.stack.append(leave)
    call(vm, frame, enter, [], {})


def _is_cpythons(vm: Interpreter, cls: type) -> bool:
    """A block that says how to compile is in force for the regions inside of it. Where a break is
    an error already, one that can be read is."""
    return str(cls.__module__).startswith(COMPILER) and not (vm.strict and is_read(cls))


def _method(vm: Interpreter, manager: ObjectVariable, name: str) -> Variable | None:
    found = special_method(vm, manager, name)
    if isinstance(found, MethodVariable) and isinstance(found.function, Constant):  # in C
        raise Break("context-manager")
    return found


@opcode("BEFORE_ASYNC_WITH")
def before_async_with(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    raise Break("context-manager")


@opcode("WITH_EXCEPT_START")
def with_except_start(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    error = frame.stack[-1]
    if not isinstance(error, ExceptionVariable):
        raise Break("context-manager")
    kind = class_constant(vm, error.cls)
    call(vm, frame, frame.stack[-4], [kind, error, TracebackVariable(error)], {})
