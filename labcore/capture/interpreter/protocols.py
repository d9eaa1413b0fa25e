"""Builtins that ask an object of the user's, and wait for more than a value: getattr and hasattr,
iter and next, the operators of module operator.

In: such a call, or a loop over an object.  Out: the frame of the method that answers, with a
continuation; and what to do when it raises what the builtin waits for.
Those that only call a method are in `object_builtins.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..attributes import find
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import Continuation, Rescue, SymbolicFrame
from ..variables import (
    Constant,
    DictVariable,
    Lazy,
    ListVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from .continuations import call_then, settled
from .core import Interpreter
from .dunders import (
    Then,
    calculate,
    compare_objects,
    on_objects,
    pushing,
)
from .fold import python_value
from .object_builtins import is_object, python_method
from .operators import BINARY, COMPARE
from .type_calls import type_of

Args = list[Variable]
Protocol = Callable[[Interpreter, SymbolicFrame, Args], "int | None"]
PROTOCOLS: dict[int, Protocol] = {}
OPERATORS: set[int] = set()  # where the second argument may be the one that answers
NO_ITERATORS = (TupleVariable, ListVariable, DictVariable, TensorVariable, Constant)


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


# ---- iteration -----------------------------------------------------------------------------------


@on_objects("GET_ITER", 1, 0)
def get_iter(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Args
) -> int | None:
    return iterating(vm, operands[0], pushing(frame))


def iterating(vm: Interpreter, value: Variable, then: Then) -> int | None:
    """iter(value), for an object."""
    own = python_method(vm, value, "__iter__")
    if own is None:
        raise Break("operation", what=f"iteration over a {value.kind}")

    def check(iterator: Variable) -> int | None:
        if isinstance(iterator, NO_ITERATORS) or (
            is_object(vm, iterator) and python_method(vm, iterator, "__next__") is None
        ):
            kind = type_of(vm, iterator).__name__
            raise WouldRaise(TypeError(f"iter() returned non-iterator of type {kind!r}"))
        return then(iterator)

    return call_then(vm, own, [], {}, lambda vm, iterator: check(vm.look(iterator)))


def advancing(
    vm: Interpreter, iterator: Variable, then: Continuation, ended: Rescue | None
) -> int | None:
    """next(iterator), and `ended` when it raises StopIteration."""
    own = python_method(vm, iterator, "__next__")
    if own is None:
        raise WouldRaise(TypeError(f"{type_of(vm, iterator).__name__!r} object is not an iterator"))
    return call_then(vm, own, [], {}, then, ended)


@on_objects("FOR_ITER", 1, 0)
def for_iter(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Args
) -> int | None:
    """The iterator stays on the stack until it raises StopIteration."""
    frame.stack += operands

    def ended(vm: Interpreter) -> int | None:
        frame.stack.pop()
        return ins.arg

    push = lambda vm, item: frame.stack.append(item)
    return advancing(vm, operands[0], push, (StopIteration, ended))


@protocol(iter)
def _iter(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
    if len(args) != 1:
        raise Break("unknown-call", name="iter() with two arguments")
    return iterating(vm, vm.look(args[0]), pushing(frame))


@protocol(next)
def _next(vm: Interpreter, frame: SymbolicFrame, args: Args) -> int | None:
    push = lambda vm, item: frame.stack.append(item)
    last = (StopIteration, lambda vm: frame.stack.append(args[1])) if len(args) == 2 else None
    return advancing(vm, vm.look(args[0]), push, last)
