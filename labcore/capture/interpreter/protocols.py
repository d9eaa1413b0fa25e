"""Builtins that ask an object of the user's, and wait for more than a value: getattr and hasattr,
the operators of module operator.

In: such a call.  Out: the frame of the method that answers, with a
continuation; and what to do when it raises what the builtin waits for.
Those that only call a method are in `object_builtins.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..attributes import find
from ..breaks import WouldRaise
from ..frame import Continuation, Rescue, SymbolicFrame
from ..variables import (
    Constant,
    Lazy,
    Variable,
)
from .continuations import settled
from .core import Interpreter
from .dunders import (
    calculate,
    compare_objects,
    pushing,
)
from .fold import python_value
from .object_builtins import is_object
from .operators import BINARY, COMPARE

Args = list[Variable]
Protocol = Callable[[Interpreter, SymbolicFrame, Args], "int | None"]
PROTOCOLS: dict[int, Protocol] = {}
OPERATORS: set[int] = set()  # where the second argument may be the one that answers


def protocol_of(
    vm: Interpreter, function: Any, args: Args, kwargs: dict[str, Variable]
) -> Protocol | None:
    """How a builtin asks these arguments; None when it has nobody to ask."""
    found = PROTOCOLS.get(id(function))
    if found is None or kwargs or not args or _is_module(args[0]):
        return None
    asked = args[:2] if id(function) in OPERATORS else args[:1]
    return found if any(is_object(vm, vm.look(arg)) for arg in asked) else None


def _is_module(variable: Variable) -> bool:
    """Which is not to be guarded for being asked for an attribute."""
    return isinstance(variable, Lazy) and type(variable.value) is ModuleType


def protocol(*functions: Any) -> Callable[[Protocol], Protocol]:
    def register(handler: Protocol) -> Protocol:
        PROTOCOLS.update({id(function): handler for function in functions})
        return handler

    return register


def _binary_function(symbol: str, in_place: bool = False) -> Protocol:
    def protocol(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
        a, b = (vm.look(arg) for arg in args)
        return calculate(vm, symbol, a, b, then=pushing(frame), in_place=in_place)

    return protocol


def _comparison(symbol: str) -> Protocol:
    def protocol(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
        a, b = (vm.look(arg) for arg in args)
        return compare_objects(vm, symbol, a, b, then=pushing(frame))

    return protocol


for _sign, (_name, _function) in BINARY.items():
    PROTOCOLS[id(_function)] = _binary_function(_sign)
    PROTOCOLS[id(getattr(operator, f"i{_name}"))] = _binary_function(_sign, in_place=True)
    OPERATORS.update((id(_function), id(getattr(operator, f"i{_name}"))))
for _sign, (_, _, _function) in COMPARE.items():
    PROTOCOLS[id(_function)] = _comparison(_sign)
    OPERATORS.add(id(_function))


# ---- attributes by name --------------------------------------------------------------------------


@protocol(getattr)
def _getattr(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
    push = lambda vm, value: frame.stack.append(value)
    rescue = (AttributeError, lambda vm: frame.stack.append(args[2])) if len(args) == 3 else None
    return attribute_then(vm, args, push, rescue)


@protocol(hasattr)
def _hasattr(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
    answer = lambda found: lambda vm, *value: frame.stack.append(Constant(found))
    return attribute_then(vm, args, answer(True), (AttributeError, answer(False)))


def attribute_then(
    vm: Interpreter, args: Args, then: Continuation, rescue: Rescue | None
) -> int | None:
    """getattr(*args), and `rescue` when there is no such attribute."""
    try:
        found = find(vm, args[0], python_value(vm, args[1]))
    except WouldRaise as missing:
        if rescue is None or not isinstance(missing.error, AttributeError):
            raise
        return rescue[1](vm)
    if isinstance(found, Lazy):
        vm.builder.load(found.source)  # a load that fails is a guard that fails
    return settled(vm, found, then, rescue)
