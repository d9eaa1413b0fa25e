"""Operators and instructions on objects of the user's classes: their own methods, inlined.

In: an instruction one of whose operands is such an object.  Out: the frame of the method that
Python would call, with a continuation for what it returns.
Invariant: who is asked, in which order, and what NotImplemented leads to is as in CPython; a method
in C of such a class is not followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..bases import contents, plain
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..classes import mro
from ..frame import SymbolicFrame
from ..polyfills import iterators
from ..variables import (
    Constant,
    DequeVariable,
    DictVariable,
    ListVariable,
    Mutable,
    NumberVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)
from . import operators
from .continuations import call_polyfill, call_then, settled
from .control import on_truth
from .core import Interpreter
from .derived import inexact
from .enums import as_number, computed, leaves_it
from .identity import same
from .object_builtins import is_object, python_method
from .operators import BINARY, COMPARE, UNARY, binary, compare, tensor_in_place
from .table import HANDLERS, Handler
from .type_calls import type_of

Operands = list[Variable]
OnObjects = Callable[[Interpreter, SymbolicFrame, Instruction, Operands], "int | None"]
Then = Callable[[Variable], "int | None"]


@dataclass(frozen=True)
class Attempt:
    """One method to ask; `negated`: its answer is turned round, as != does with __eq__'s."""

    method: Variable
    argument: Variable
    negated: bool = False


def on_objects(
    name: str, count: int, *asked: int, methods: str = ""
) -> Callable[[OnObjects], OnObjects]:
    """The instruction takes `count` operands from the stack; when one of those `asked` is an
    object, this comes first. One that leaves the `methods` to a builtin class counts as what it
    holds."""

    def register(ours: OnObjects) -> OnObjects:
        others = HANDLERS[name]

        def handle(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
            operands = frame.stack[len(frame.stack) - count :]
            for place in asked:
                operands[place] = vm.look(operands[place])
            if not any(is_object(vm, operands[place]) for place in asked):
                return others(vm, frame, ins)
            held = list(operands)
            for place in asked:
                held[place] = plain(vm, operands[place], *_special(methods, ins))
            frame.pop(count)
            if any(is_object(vm, held[place]) for place in asked):
                return ours(vm, frame, ins, operands)
            frame.stack += held
            return _on_contents(vm, frame, ins, others)

        HANDLERS[name] = handle
        return ours

    return register


def _special(methods: str, ins: Instruction) -> list[str]:
    """The methods that an instruction may ask: {} stands for what its operator is called."""
    name = methods
    if "{}" in methods:
        sign = ins.arg[0] if ins.op == "BINARY_OP" else ins.arg if ins.op == "INTRINSIC" else ins.op
        name = methods.replace("{}", (BINARY.get(sign) or UNARY.get(sign) or ("pos",))[0])
    return [f"__{each}__" for each in name.split()]


def _on_contents(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, others: Handler
) -> int | None:
    """The instruction on lists, dicts ... in place of objects that are ones."""
    try:
        target = others(vm, frame, ins)
    except WouldRaise as raised:
        raise inexact(raised) from None
    top = frame.stack[-1] if frame.stack else None
    if isinstance(top, Mutable) and top.whole is not None:  # changed in place: the object itself
        frame.stack[-1] = top.whole
    return target


def ask(
    vm: Interpreter,
    attempts: list[Attempt],
    then: Then,
    otherwise: Callable[[], int | None],
) -> int | None:
    """Call one method after the other until one does not give NotImplemented."""
    if not attempts:
        return otherwise()
    first, *rest = attempts

    def answered(vm: Interpreter, value: Variable) -> int | None:
        value = vm.look(value)
        if isinstance(value, Constant) and value.value is NotImplemented:
            return ask(vm, rest, then, otherwise)
        if first.negated:
            return on_truth(vm, value, lambda true: then(Constant(not true)))
        return then(value)

    return call_then(vm, first.method, [first.argument], {}, answered)


def pushing(frame: SymbolicFrame) -> Then:
    return lambda value: frame.stack.append(value)


# ---- arithmetic ---------------------------------------------------------------------------------


@on_objects("BINARY_OP", 2, 0, 1, methods="{} r{} i{} iter")
def binary_op(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    symbol, in_place = ins.arg
    return calculate(vm, symbol, *operands, then=pushing(frame), in_place=in_place)


def calculate(
    vm: Interpreter, symbol: str, a: Variable, b: Variable, *, then: Then, in_place: bool = False
) -> int | None:
    """a symbol b."""
    name, function = BINARY[symbol]
    names = f"__{name}__", f"__r{name}__"
    members = computed(vm, names, function, a, b)
    if members is not None:
        return then(members)
    numbers = _beside_tensor(vm, names[0], a, b)
    if numbers is not None:
        one, other = numbers
        written = in_place and isinstance(one, TensorVariable)
        return then((tensor_in_place if written else binary)(vm, symbol, one, other))  # type: ignore[arg-type]
    held = plain(vm, a, f"__i{name}__") if in_place else a
    if in_place and symbol == "|" and isinstance(held, DictVariable):
        call_polyfill(vm, iterators.update_from, [held, b], lambda vm, value: then(a))
        return None
    attempts = _arithmetic(vm, name, a, b)
    own = python_method(vm, a, f"__i{name}__") if in_place else None
    if own is not None:
        attempts.insert(0, Attempt(own, b))

    def refuse() -> int | None:
        if in_place and symbol == "+" and isinstance(held, (ListVariable, DequeVariable)):
            call_polyfill(vm, iterators.extend, [held, b], lambda vm, value: then(a))
            return None
        if symbol in "+*" and not in_place and (_is_sequence(vm, a) or _is_sequence(vm, b)):
            sides = (contents(vm, a) or a, contents(vm, b) or b)
            if not any(is_object(vm, side) for side in sides):
                return then(binary(vm, symbol, *sides))
        if not is_object(vm, a) and symbol in "%*":  # texts format, sequences repeat
            raise Break("operation", what=f"{symbol} of a {a.kind} and a {b.kind}")
        kinds = " and ".join(f"{type_of(vm, v).__name__!r}" for v in (a, b))
        sign = f"{symbol}=" if in_place else "** or pow()" if symbol == "**" else symbol
        raise WouldRaise(TypeError(f"unsupported operand type(s) for {sign}: {kinds}"))

    return ask(vm, attempts, then, refuse)


def _beside_tensor(
    vm: Interpreter, name: str, a: Variable, b: Variable
) -> tuple[Variable, Variable] | None:
    """The operands of a tensor's operator, one of them an object that is a number and, at the left,
    leaves it to the tensor; None for anything else."""
    asked = isinstance(a, TensorVariable)
    left = leaves_it(vm, a, name) or plain(vm, a, name) is not a
    if not asked and not (isinstance(b, TensorVariable) and left):
        return None
    one, other = _number(vm, a), _number(vm, b)
    return None if is_object(vm, one) or is_object(vm, other) else (one, other)


def _number(vm: Interpreter, value: Variable) -> Variable:
    """What a tensor takes an object for that is a number."""
    held = contents(vm, value)
    return held if isinstance(held, (Constant, NumberVariable)) else as_number(value)


def _is_sequence(vm: Interpreter, value: Variable) -> bool:
    """Is it an object that is joined and repeated as what it holds, if no method says otherwise?"""
    held = contents(vm, value)
    texts = isinstance(held, Constant) and type(held.value) in (str, bytes)
    return texts or isinstance(held, (ListVariable, TupleVariable))


def _arithmetic(vm: Interpreter, name: str, a: Variable, b: Variable) -> list[Attempt]:
    """The left operand is asked first, unless the right one's class is derived from its class and
    reflects in a way of its own."""
    left, right = python_method(vm, a, f"__{name}__"), python_method(vm, b, f"__r{name}__")
    kinds = type_of(vm, a), type_of(vm, b)
    first = [] if left is None else [Attempt(left, b)]
    if right is None or kinds[0] is kinds[1]:
        return first
    second = [Attempt(right, a)]
    return [*second, *first] if _overrides(vm, f"__r{name}__", *kinds) else [*first, *second]


def _overrides(vm: Interpreter, name: str, base: type, derived: type) -> bool:
    if not any(place is base for place in mro(derived)[1:]):
        return False
    one, other = vm.classes.entry(base, name), vm.classes.entry(derived, name)
    return other is not None and (one is None or one.raw is not other.raw)


@on_objects("UNARY_NEGATIVE", 1, 0, methods="{}")
@on_objects("UNARY_INVERT", 1, 0, methods="{}")
def unary_op(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    return negate(vm, frame, ins.op, operands[0])


@on_objects("INTRINSIC", 1, 0, methods="{} iter")
def intrinsic(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    if ins.arg != "UNARY_POSITIVE":
        frame.stack += operands
        operators.intrinsic(vm, frame, ins)
        return None
    return negate(vm, frame, ins.arg, operands[0])


def negate(vm: Interpreter, frame: SymbolicFrame, op: str, value: Variable) -> int | None:
    name, function = UNARY[op]
    members = computed(vm, (f"__{name}__",), function, value)
    if members is not None:
        frame.stack.append(members)
        return None
    own = python_method(vm, value, f"__{name}__")
    if own is None:
        sign = {"neg": "-", "pos": "+", "invert": "~"}[name]
        kind = type_of(vm, value).__name__
        raise WouldRaise(TypeError(f"bad operand type for unary {sign}: {kind!r}"))
    return call_then(vm, own, [], {}, lambda vm, result: frame.stack.append(result))


# ---- comparisons --------------------------------------------------------------------------------


@on_objects("COMPARE_OP", 2, 0, 1, methods="eq ne lt le gt ge")
def compare_op(
    vm: Interpreter, frame: SymbolicFrame, ins: Instruction, operands: Operands
) -> int | None:
    symbol, as_bool = ins.arg

    def push(value: Variable) -> int | None:
        if not as_bool:
            frame.stack.append(value)
            return None
        return on_truth(vm, value, lambda true: frame.stack.append(Constant(true)))

    return compare_objects(vm, symbol, *operands, then=push)


def compare_objects(
    vm: Interpreter, symbol: str, a: Variable, b: Variable, *, then: Then
) -> int | None:
    """a symbol b."""
    name, mirrored, function = COMPARE[symbol]
    names = f"__{name}__", f"__{mirrored}__"
    members = computed(vm, names, function, a, b)
    if members is not None:
        return then(members)
    numbers = _beside_tensor(vm, names[0], a, b)
    if numbers is not None:
        return settled(vm, compare(vm, symbol, *numbers), lambda vm, value: then(value))
    attempts = [*_comparison(vm, name, a, b), *_comparison(vm, mirrored, b, a)]
    kinds = type_of(vm, a), type_of(vm, b)
    if any(place is kinds[0] for place in mro(kinds[1])[1:]):  # derived: asked first
        attempts = [*_comparison(vm, mirrored, b, a), *_comparison(vm, name, a, b)]

    def by_identity() -> int | None:
        if symbol in ("==", "!="):
            return then(Constant(same(vm, a, b) == (symbol == "==")))
        both = " and ".join(f"{kind.__name__!r}" for kind in kinds)
        raise WouldRaise(TypeError(f"{symbol!r} not supported between instances of {both}"))

    return ask(vm, attempts, then, by_identity)


def _comparison(vm: Interpreter, name: str, a: Variable, b: Variable) -> list[Attempt]:
    """What `a` is asked. Without an `__ne__` of its own it turns the answer of `__eq__` round."""
    own = python_method(vm, a, f"__{name}__")
    if own is not None:
        return [Attempt(own, b)]
    equals = python_method(vm, a, "__eq__") if name == "ne" else None
    return [] if equals is None else [Attempt(equals, b, negated=True)]
