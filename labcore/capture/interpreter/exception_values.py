"""What an exception made inside is asked: its attributes, its text.

Invariant: answers are CPython's; what only a real exception has (its traceback, notes, the text of
an error whose arguments are not known) is a Break.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any

from ...guards import kinds
from ..breaks import Break
from ..bytecode import V12
from ..classes import mro
from ..objects import class_constant
from ..variables import Constant, ExceptionVariable, TracebackVariable, TupleVariable, Variable
from .core import Interpreter
from .fold import folded
from .rules import Args, rule
from .unwinding import being_handled

# Classes whose instances are their arguments and nothing else; a few more take one argument so.
_SPECIAL = "BaseExceptionGroup ImportError OSError SyntaxError SystemExit UnicodeError".split()
SPECIAL = tuple(getattr(builtins, name) for name in _SPECIAL)
ONE_ARGUMENT = (ImportError, OSError, SystemExit)


def is_exception_class(value: Any) -> bool:
    return issubclass(type(value), type) and BaseException in mro(value)


FACTS = (GetSetDescriptorType, MemberDescriptorType)
PRINTS = ("__str__", "__repr__", "__format__")


def exception_text(
    vm: Interpreter, error: ExceptionVariable, show: Callable[[BaseException], str]
) -> Variable:
    """`str(error)` and the like. Raises Break where the text is not known, or a method's."""
    if has_own_text(vm, error) or not error.exact or issubclass(error.cls, SPECIAL):
        raise Break("operation", what=f"the text of a {error.kind}")
    make = error.cls.__new__
    return folded(vm, "text", lambda *args: show(make(error.cls, *args)), *error.arguments)


def has_own_text(vm: Interpreter, error: ExceptionVariable) -> bool:
    """Does a method of the user's make its text?"""
    entries = [vm.classes.entry(error.cls, name) for name in PRINTS]
    return any(entry is not None and type(entry.raw) is FunctionType for entry in entries)


def exception_attribute(vm: Interpreter, error: ExceptionVariable, name: str) -> Variable | None:
    """What an exception has beside the attributes of any object. None: look there.

    Raises Break for what only CPython knows."""
    entry = vm.classes.entry(error.cls, name)
    if entry is None or entry.where is object or type(entry.raw) not in FACTS:
        return None
    match name:
        case "args" if error.exact:
            return TupleVariable(list(error.arguments))
        case "value" if error.exact:  # StopIteration
            return error.arguments[0] if error.arguments else Constant(None)
        case "__cause__" | "__context__":
            found = error.cause if name == "__cause__" else error.context
            return Constant(None) if found is None else found
        case "__suppress_context__":
            return Constant(error.suppress)
        case "__traceback__":
            return TracebackVariable(error) if error.raised else Constant(None)
    raise Break("attribute", name=name, what=f"a {error.kind}")


def sets_fact(
    vm: Interpreter, error: ExceptionVariable, name: str, value: Variable | None
) -> bool:
    """Is error.name no plain attribute? Raises Break where setting it means something."""
    entry = vm.classes.entry(error.cls, name)
    if entry is None or entry.where is object or type(entry.raw) not in FACTS:
        return False
    if name == "__traceback__" and isinstance(value, TracebackVariable) and value.error is error:
        return True  # contextlib gives it what it has
    raise Break("mutation", what=f"attribute {name!r} of a {error.kind}")


@rule(sys.exc_info)
def _exc_info(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    """(class, exception, traceback) of what is being handled."""
    error = _handled(vm)
    if error is None:
        return TupleVariable([Constant(None)] * 3)
    return TupleVariable([class_constant(vm, error.cls), error, TracebackVariable(error)])


def _exception(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable:
    return _handled(vm) or Constant(None)


if V12:
    rule(sys.exception)(_exception)  # type: ignore[attr-defined, unused-ignore]


def _handled(vm: Interpreter) -> ExceptionVariable | None:
    """What is being handled: an exception made inside, or none, not by the call's caller either."""
    error = being_handled(vm)
    if isinstance(error, ExceptionVariable):
        return error
    if error is not None or sys.exc_info()[1] is not None:
        raise Break("unknown-call", name="sys.exc_info()")
    asked, origin = vm.builder.constant(sys.exc_info, "exc_info"), vm.builder.origin
    words = "an exception is being handled now"
    code = f"{asked}()[1] is None"
    vm.builder.add(
        kinds.condition("GLOBAL_STATE", "exc_info", code, asked, "no exception", words, origin)
    )
    return None
