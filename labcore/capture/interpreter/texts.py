"""str, repr, ascii and format of anything, and f-strings.

In: a conversion and a variable.  Out: the text; or a `Call`, where a method of the user's gives it.
Invariant: a tensor's text is data. A container's text is CPython's own, made of plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensor.size import Size
from ..breaks import Break
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..variables import Call, Constant, ExceptionVariable, TensorVariable, TupleVariable, Variable
from .builtin_calls import Args, fold_call, rule
from .continuations import settled
from .core import Interpreter
from .exception_values import exception_text, has_own_text
from .fold import folded, python_value
from .object_builtins import is_object, on_object
from .table import opcode

CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def text(
    vm: Interpreter, function: Callable[..., str], variable: Variable, *spec: Variable
) -> Variable | Call:
    """function(variable, *spec)."""
    value, name = vm.look(variable), function.__name__
    if isinstance(value, TensorVariable):
        raise Break("tensor-to-python", name=f"__{name}__")
    if isinstance(value, ExceptionVariable) and not has_own_text(vm, value):
        plain = function is not format or python_value(vm, spec[0]) == ""
        if not plain:
            raise Break("operation", what=f"format of a {value.kind}")
        return exception_text(vm, value, str if function is format else function)
    if isinstance(value, TupleVariable) and value.cls not in (tuple, Size):
        return on_object(vm, function, [value, *spec])
    if is_object(vm, value):
        return on_object(vm, function, [value, *spec])
    if isinstance(value, Constant) and type(value.value) is type:
        return folded(vm, f"{name}()", lambda *given: function(value.value, *given), *spec)
    return folded(vm, f"{name}()", function, value, *spec)


@rule(str)
def _str(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return (
        text(vm, str, args[0])
        if len(args) == 1 and not kwargs
        else fold_call(vm, str, args, kwargs)
    )


@rule(repr)
def _repr(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return text(vm, repr, *args)


@rule(ascii)
def _ascii(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return text(vm, ascii, *args)


@rule(format)
def _format(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return text(vm, format, *args, *([] if len(args) > 1 else [Constant("")]))


# ---- f-strings ----------------------------------------------------------------------------------


@opcode("FORMAT")
def format_value(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    conversion, with_spec = ins.arg
    spec = frame.stack.pop() if with_spec else Constant("")
    value = frame.stack.pop()

    def finish(vm: Interpreter, converted: Variable) -> int | None:
        return _push(vm, frame, text(vm, format, converted, spec))

    if not conversion:
        return finish(vm, value)
    return settled(vm, text(vm, CONVERSIONS[conversion], value), finish)


@opcode("CONVERT_VALUE")
def convert_value(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return _push(vm, frame, text(vm, CONVERSIONS["sra"[ins.arg - 1]], frame.stack.pop()))


def _push(vm: Interpreter, frame: SymbolicFrame, found: Variable | Call) -> int | None:
    return settled(vm, found, lambda vm, value: frame.stack.append(value))


@opcode("BUILD_STRING")
def build_string(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(folded(vm, "f-string", lambda *parts: "".join(parts), *frame.pop(ins.arg)))
