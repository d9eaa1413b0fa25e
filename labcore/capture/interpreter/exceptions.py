"""Exceptions: making, raising, catching and asking them.

In: exception classes and instances.  Out: exceptions as variables, and `WouldRaise` for what looks
for a handler (see `unwinding.py`).
Invariant: an exception that existed before the region is never raised here, for its traceback would
have to grow.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType

from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..variables import (
    Constant,
    ExceptionVariable,
    ObjectVariable,
    TracebackVariable,
    TupleVariable,
    Variable,
)
from .builtin_calls import RULES, Args, rule
from .continuations import call_then
from .control import iterate
from .core import Interpreter
from .exception_values import ONE_ARGUMENT, SPECIAL, is_exception_class
from .table import opcode
from .unwinding import being_handled


def make_exception(
    vm: Interpreter,
    frame: SymbolicFrame,
    cls: type[BaseException],
    args: list[Variable],
    kwargs: dict[str, Variable],
) -> None:
    """Push `cls(*args, **kwargs)`, or the frame of the class's own `__init__`."""
    creates, begins, calls = (
        vm.classes.entry(kind, name)
        for kind, name in ((cls, "__new__"), (cls, "__init__"), (vm.classes.of(cls), "__call__"))
    )
    assert creates and begins and calls
    special = issubclass(cls, SPECIAL) and not (issubclass(cls, ONE_ARGUMENT) and len(args) < 2)
    if special or calls.where is not type or type(creates.raw) is not BuiltinFunctionType:
        raise Break("new-exception", name=cls.__name__)
    made = ExceptionVariable(cls, arguments=list(args))
    made.plain = type(begins.raw) is not FunctionType
    if made.plain:
        if kwargs or id(begins.raw) not in INITS:
            raise Break("new-exception", name=cls.__name__)
        frame.stack.append(made)
        return

    def then(vm: Interpreter, value: Variable) -> None:
        returned = vm.look(value)
        if not isinstance(returned, Constant) or returned.value is not None:
            text = f"__init__() should return None, not '{returned.kind}'"
            raise WouldRaise(TypeError(text))
        frame.stack.append(made)

    call_then(vm, vm.look(vm.lazy(begins.source, begins.raw)), [made, *args], kwargs, then)


def _begin(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    """`super().__init__(...)` in an exception's own `__init__`."""
    error = vm.look(args[0]) if args else None
    if not isinstance(error, ExceptionVariable) or kwargs:
        raise Break("unknown-call", name="__init__()")
    vm.effects.changed()
    error.arguments = args[1:]
    return Constant(None)


@rule(vars(BaseException)["with_traceback"])
def _with_traceback(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    error, traceback = vm.look(args[0]), vm.look(args[1])
    if not isinstance(traceback, TracebackVariable) or traceback.error is not error:
        raise Break("unknown-call", name="with_traceback()")
    return error  # it has it already


def _inits() -> set[int]:
    """The `__init__` of each class of exceptions that only keeps its arguments."""
    found = [value for value in vars(builtins).values() if is_exception_class(value)]
    plain = [cls for cls in found if not issubclass(cls, SPECIAL) or issubclass(cls, ONE_ARGUMENT)]
    return {id(vars(cls)["__init__"]) for cls in plain if "__init__" in vars(cls)}


INITS = _inits()
RULES.update(dict.fromkeys(INITS, _begin))


# ---- raising ------------------------------------------------------------------------------------


@opcode("LOAD_ASSERTION_ERROR")
def load_assertion_error(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(Constant(AssertionError))


@opcode("RAISE_VARARGS")
def raise_varargs(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    if ins.arg == 0:
        handled = being_handled(vm)
        if handled is None:
            raise WouldRaise(RuntimeError("No active exception to reraise"), exact=True)
        raise _going_on(handled)
    cause = frame.stack.pop() if ins.arg == 2 else None
    return _instance(vm, frame.stack.pop(), lambda error: _raise(vm, error, cause))


def _going_on(handled: Variable) -> WouldRaise:
    """The way on of an exception that a handler did not want. A real one is CPython's to raise."""
    known = handled if isinstance(handled, ExceptionVariable) else None
    return WouldRaise(variable=known, again=True)


def _instance(
    vm: Interpreter, variable: Variable, then: Callable[[Variable], int | None]
) -> int | None:
    """`then` with an exception: what was given, or a new instance of it."""
    value = vm.look(variable)
    if isinstance(value, Constant) and is_exception_class(value.value):
        return call_then(vm, value, [], {}, lambda vm, made: then(made))
    return then(value)


def _raise(vm: Interpreter, error: Variable, cause: Variable | None) -> int | None:
    value = vm.look(error)
    if not isinstance(value, ObjectVariable) or not is_exception_class(value.cls):
        raise WouldRaise(TypeError("exceptions must derive from BaseException"), exact=True)
    if cause is None:
        raise WouldRaise(variable=value if isinstance(value, ExceptionVariable) else None)
    return _instance(vm, cause, lambda cause: _raise_from(vm, value, cause))


def _raise_from(vm: Interpreter, error: ObjectVariable, cause: Variable) -> int | None:
    none = isinstance(cause, Constant) and cause.value is None
    if not none and not (isinstance(cause, ObjectVariable) and is_exception_class(cause.cls)):
        raise WouldRaise(TypeError("exception causes must derive from BaseException"), exact=True)
    if not isinstance(error, ExceptionVariable):
        raise WouldRaise()
    error.cause, error.suppress = None if none else cause, True
    raise WouldRaise(variable=error)


@opcode("RERAISE")
def reraise(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    raise _going_on(frame.stack.pop())


# ---- catching -----------------------------------------------------------------------------------


@opcode("PUSH_EXC_INFO")
def push_exc_info(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    error = frame.stack.pop()
    frame.stack += [frame.exc, error]
    frame.exc = error


@opcode("POP_EXCEPT")
def pop_except(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.exc = frame.stack.pop()


@opcode("CHECK_EXC_MATCH")
def check_exc_match(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    """An except clause: decided by the class of the exception, which is guarded."""
    clause, error = vm.look(frame.stack.pop()), vm.look(frame.stack[-1])
    if not isinstance(error, ObjectVariable):
        raise Break("operation", what="an except clause of this kind")
    given = isinstance(clause, TupleVariable) or type(getattr(clause, "value", None)) is tuple
    found = False
    for item in iterate(vm, clause) if given else [clause]:
        kind = vm.look(item)
        if not isinstance(kind, Constant) or not is_exception_class(kind.value):
            text = "catching classes that do not inherit from BaseException is not allowed"
            raise WouldRaise(TypeError(text), exact=True)
        found |= kind.value in error.cls.__mro__
    frame.stack.append(Constant(found))
