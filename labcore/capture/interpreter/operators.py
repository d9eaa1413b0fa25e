"""Operators: on tensors they become nodes, on constants they are computed now."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...tensor.methods import Methods
from ...tensor.size import Size
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..keys import key_of
from ..numbers import as_constant, size_of
from ..polyfills import searches
from ..variables import (
    BytearrayVariable,
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    ExceptionVariable,
    GeneratorVariable,
    IdVariable,
    IteratorVariable,
    ListVariable,
    LiveIterator,
    MethodVariable,
    NumberVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
    ViewVariable,
)
from . import bytearrays, deques, dicts, lists
from .continuations import call_polyfill, call_then
from .control import iterate, on_truth, truth
from .core import Interpreter
from .equality import CONTAINERS, equal, spelled_out
from .fold import folded, is_plain
from .identity import same
from .searching import equality, is_in, ordering
from .sets import set_assign, set_comparison, set_operator, sought
from .table import opcode
from .unwinding import stop_iteration_error

BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "+": ("add", operator.add),
    "-": ("sub", operator.sub),
    "*": ("mul", operator.mul),
    "/": ("truediv", operator.truediv),
    "//": ("floordiv", operator.floordiv),
    "%": ("mod", operator.mod),
    "**": ("pow", operator.pow),
    "@": ("matmul", operator.matmul),
    "&": ("and", operator.and_),
    "|": ("or", operator.or_),
    "^": ("xor", operator.xor),
    "<<": ("lshift", operator.lshift),
    ">>": ("rshift", operator.rshift),
}
COMPARE: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "<": ("lt", "gt", operator.lt),
    "<=": ("le", "ge", operator.le),
    "==": ("eq", "eq", operator.eq),
    "!=": ("ne", "ne", operator.ne),
    ">": ("gt", "lt", operator.gt),
    ">=": ("ge", "le", operator.ge),
}
UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "UNARY_NEGATIVE": ("neg", operator.neg),
    "UNARY_INVERT": ("invert", operator.invert),
    "UNARY_POSITIVE": ("pos", operator.pos),
}


def binary(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable:
    """a symbol b."""
    a, b = vm.look(a), vm.look(b)
    name, function = BINARY[symbol]
    if isinstance(a, TensorVariable) or isinstance(b, TensorVariable):
        return _with_tensor(vm, symbol, a, b)
    if isinstance(a, (SetVariable, ViewVariable)) or isinstance(b, (SetVariable, ViewVariable)):
        return set_operator(vm, symbol, a, b)
    if isinstance(a, DequeVariable) or isinstance(b, DequeVariable):
        return deques.binary(vm, symbol, function, a, b)
    if isinstance(a, (TupleVariable, ListVariable)) or isinstance(b, (TupleVariable, ListVariable)):
        return _sequence(vm, symbol, a, b)
    if symbol == "|" and _plain_dict(a) and _plain_dict(b):
        assert isinstance(a, DictVariable) and isinstance(b, DictVariable)
        return DictVariable({**vm.looker.dict_items(a), **vm.looker.dict_items(b)})
    return folded(vm, f"{symbol}", function, a, b)


def _plain_dict(value: Variable) -> bool:
    return isinstance(value, DictVariable) and value.cls is dict


def _with_tensor(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable:
    """Python asks the left operand, then the right one."""
    name, _ = BINARY[symbol]
    if symbol in "%*" and not (_is_numeric(a) and _is_numeric(b)):
        # Texts format with %, sequences repeat with *: that is not the tensor's to decide.
        raise Break("operation", what=f"{symbol} of a {a.kind} and a {b.kind}")
    result = None
    if isinstance(a, TensorVariable) and hasattr(Methods, f"__{name}__"):
        result = vm.operators.special(a, f"__{name}__", b)
    elif isinstance(b, TensorVariable) and hasattr(Methods, f"__r{name}__"):
        result = vm.operators.special(b, f"__r{name}__", a)
    if result is None:
        raise WouldRaise(TypeError(f"unsupported operand type(s) for {symbol}"))
    return result


def _is_numeric(value: Variable) -> bool:
    return isinstance(value, (TensorVariable, NumberVariable)) or (
        isinstance(value, Constant) and type(value.value) in (int, float, bool, complex, type(None))
    )


def _sequence(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable:
    """Tuples and lists are joined and repeated; their items are not looked at."""
    a, b = (spelled_out(as_constant(vm.looker.numbers, value)) for value in (a, b))
    if symbol == "+" and type(a) is type(b):
        if isinstance(a, TupleVariable) and isinstance(b, TupleVariable):
            if Size in (a.cls, b.cls):
                return _size(vm, [*a.items, *b.items])
            for one, other in ((a, b), (b, a)):  # CPython gives a tuple itself
                if not one.items and other.cls is tuple:
                    return other
            return TupleVariable(a.items + b.items)
        if isinstance(a, ListVariable):
            return ListVariable(iterate(vm, a) + iterate(vm, b))
    for seq, count in ((a, b), (b, a)):
        times = isinstance(count, Constant) and type(count.value) is int
        if symbol == "*" and times and isinstance(seq, (TupleVariable, ListVariable)):
            number: int = count.value  # type: ignore[attr-defined]
            if isinstance(seq, TupleVariable) and seq.cls is tuple and number == 1:
                return seq
            items = iterate(vm, seq) * number
            if isinstance(seq, TupleVariable) and seq.cls is Size:
                return _size(vm, items)
            return ListVariable(items) if isinstance(seq, ListVariable) else TupleVariable(items)
    return folded(vm, symbol, BINARY[symbol][1], a, b)


def _size(vm: Interpreter, items: list[Variable]) -> Variable:
    """A torch.Size, which is of numbers."""
    seen = [vm.look(item) for item in items]
    if not all(map(_is_numeric, seen)) or any(isinstance(item, TensorVariable) for item in seen):
        raise Break("operation", what="+ of a torch.Size and a tuple with more than numbers")
    return size_of(seen)


@opcode("BINARY_OP")
def binary_op(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    symbol, in_place = ins.arg
    b, target = frame.stack.pop(), frame.stack.pop()
    a = vm.look(target)
    if in_place and isinstance(a, TensorVariable):
        frame.stack.append(tensor_in_place(vm, symbol, a, b))
        return
    if in_place and changed_in_place(vm, symbol, a, b):
        frame.stack.append(target)
        return
    frame.stack.append(binary(vm, symbol, a, b))


def tensor_in_place(
    vm: Interpreter, symbol: str, tensor: TensorVariable, other: Variable
) -> Variable:
    """`tensor symbol= other`: without a method for it, Python makes a new value."""
    name = f"__i{BINARY[symbol][0]}__"
    own = hasattr(Methods, name)
    written = vm.operators.special(tensor, name, other) if own else None
    return written or binary(vm, symbol, tensor, other)


def changed_in_place(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> bool:
    """`a symbol= b` of a container that is changed by it. False: it means `a = a symbol b`."""
    if isinstance(a, ListVariable) and symbol == "+":
        lists.extend(vm, a, b)
    elif isinstance(a, (ListVariable, DequeVariable)) and symbol == "*":
        lists.repeat(vm, a, b)
    elif isinstance(a, DequeVariable) and symbol == "+":
        deques.extend(vm, a, b)
    elif isinstance(a, BytearrayVariable) and symbol in "+*":
        method = "__iadd__" if symbol == "+" else "__imul__"
        bytearrays.bytearray_method(vm, a, method, [b], {})
    elif isinstance(a, DictVariable) and symbol == "|":
        dicts.update(vm, a, [b], {})
    elif isinstance(a, SetVariable):
        return set_assign(vm, symbol, a, b)
    else:
        return False
    return True


@opcode("COMPARE_OP")
def compare_op(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    symbol, as_bool = ins.arg
    b, a = vm.look(frame.stack.pop()), vm.look(frame.stack.pop())
    result = compare(vm, symbol, a, b)
    if isinstance(result, Call):
        push = lambda vm, value: frame.stack.append(value)
        decide = lambda true: frame.stack.append(Constant(true != (symbol == "!=")))
        convert = lambda vm, value: on_truth(vm, value, decide)
        wants_bool = as_bool or symbol == "!="
        return call_then(vm, result.function, result.args, {}, convert if wants_bool else push)
    try:
        frame.stack.append(Constant(truth(vm, result)) if as_bool else result)
    except Break as stop:
        stop.half_done = [*frame.stack, result]
        raise
    return None


def compare(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable | Call:
    """a symbol b, or the call that tells it; for != the one that tells whether they are equal."""
    name, mirrored, function = COMPARE[symbol]
    if isinstance(a, IdVariable) and isinstance(b, IdVariable) and symbol in ("==", "!="):
        return Constant(same(vm, a.of, b.of) == (symbol == "=="))
    if isinstance(a, TensorVariable) or isinstance(b, TensorVariable):
        own, other, method = (a, b, name) if isinstance(a, TensorVariable) else (b, a, mirrored)
        assert isinstance(own, TensorVariable)
        result = vm.operators.special(own, f"__{method}__", other)
        if result is None and symbol not in ("==", "!="):
            raise WouldRaise(TypeError(f"{symbol!r} not supported"))
        return Constant(symbol == "!=") if result is None else result  # by identity, then
    if isinstance(a, Constant) and isinstance(b, Constant) and symbol in ("==", "!="):
        by_identity = (type, type(len))
        if isinstance(a.value, by_identity) and isinstance(b.value, by_identity):
            return Constant((a.value is b.value) == (symbol == "=="))
    if isinstance(a, (SetVariable, ViewVariable)) or isinstance(b, (SetVariable, ViewVariable)):
        found = set_comparison(vm, symbol, a, b)
        if found is not None:
            return found
    if symbol in ("==", "!=") and isinstance(a, MethodVariable) and isinstance(b, MethodVariable):
        return Constant(equal(vm, a, b) == (symbol == "=="))
    if symbol in ("==", "!=") and (isinstance(a, CONTAINERS) or isinstance(b, CONTAINERS)):
        answer = equality(vm, a, b)
        return answer if isinstance(answer, Call) else Constant(answer == (symbol == "=="))
    return ordering(vm, symbol, function, a, b)


@opcode("UNARY_NEGATIVE", "UNARY_INVERT")
def unary(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    frame.stack.append(apply_unary(vm, ins.op, frame.stack.pop()))


def apply_unary(vm: Interpreter, op: str, variable: Variable) -> Variable:
    name, function = UNARY[op]
    value = vm.look(variable)
    if isinstance(value, TensorVariable):
        return vm.operators.method(value, f"__{name}__", [])
    if name == "invert" and isinstance(value, Constant) and type(value.value) is bool:
        raise Break("operation", what="~ of a bool")  # CPython 3.12 warns of it
    return folded(vm, f"unary {name}", function, value)


@opcode("IS_OP")
def is_op(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    b, a = frame.stack.pop(), frame.stack.pop()
    frame.stack.append(Constant(same(vm, a, b) != bool(ins.arg)))


@opcode("CONTAINS_OP")
def contains_op(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    container, item = vm.look(frame.stack.pop()), frame.stack.pop()
    found = contains(vm, container, item)
    if found is None:
        contained(vm, frame, container, item, bool(ins.arg))
    else:
        frame.stack.append(Constant(found != bool(ins.arg)))


def contained(
    vm: Interpreter, frame: SymbolicFrame, iterable: Variable, item: Variable, negated: bool
) -> None:
    """`item in iterable`, by going through it."""

    def push(vm: Interpreter, value: Variable) -> None:
        assert isinstance(value, Constant)
        frame.stack.append(Constant(value.value != negated))

    call_polyfill(vm, searches.contains, [iterable, item], push)


def contains(vm: Interpreter, container: Variable, item: Variable) -> bool | None:
    """`item in container`; None where that is to be asked item by item."""
    if isinstance(container, (GeneratorVariable, IteratorVariable, LiveIterator)):
        return None
    if isinstance(container, DictVariable):
        return vm.looker.has_key(container, key_of(vm, item))
    if isinstance(container, ViewVariable) and container.name == "keys":
        return vm.looker.has_key(container.owner, key_of(vm, item))
    if isinstance(container, SetVariable):
        return vm.looker.is_member(container, sought(vm, item))
    if isinstance(container, TensorVariable):
        raise Break("data-dependent-branch")
    value = vm.look(item)
    if isinstance(container, (Constant, BytearrayVariable)) and isinstance(value, Constant):
        known = isinstance(container, BytearrayVariable) or is_plain(container.value)
        if known and is_plain(value.value):
            result = folded(vm, "in", lambda c, i: i in c, container, item)
            assert isinstance(result, Constant)
            return bool(result.value)
    return is_in(vm, iterate(vm, container), item)


@opcode("INTRINSIC")
def intrinsic(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    if ins.arg == "LIST_TO_TUPLE":
        frame.stack.append(TupleVariable(iterate(vm, frame.stack.pop())))
    elif ins.arg == "UNARY_POSITIVE":
        frame.stack.append(apply_unary(vm, ins.arg, frame.stack.pop()))
    elif ins.arg == "INTRINSIC_STOPITERATION_ERROR":
        error = frame.stack.pop()
        if not isinstance(error, ExceptionVariable):
            raise Break("opcode", name=ins.arg)
        frame.stack.append(stop_iteration_error(vm, error))
    else:
        raise Break("opcode", name=ins.arg)
