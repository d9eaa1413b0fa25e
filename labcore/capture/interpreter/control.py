"""Jumps, loops and return: which way to go is decided by values that are constants of the
variant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...tensor.size import Size
from ..attributes import is_class
from ..bases import plain
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import Continuation, SymbolicFrame
from ..keys import key_variable
from ..objects import asked, special
from ..variables import (
    BytearrayVariable,
    Constant,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    IteratorVariable,
    KeysVariable,
    ListVariable,
    MethodVariable,
    NumberVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
    ViewVariable,
)
from .continuations import call_then
from .core import Interpreter
from .enums import computed, members_of
from .fold import is_plain
from .identity import same
from .letting_go import check_lost
from .table import opcode

ITERABLE = range, tuple, str, bytes, frozenset  # of the constants


def truth(vm: Interpreter, variable: Variable) -> bool:
    """bool(value). Raises Break for a tensor: that is data."""
    value = vm.look(variable)
    if isinstance(value, Constant) and is_plain(value.value):
        return bool(value.value)
    if is_class(value) and asked(vm, value) is None:
        return True
    if isinstance(value, NumberVariable):
        return bool(value.number)
    if isinstance(value, ListVariable):
        return bool(vm.looker.items(value))
    if isinstance(value, DequeVariable):
        return bool(vm.looker.queue(value))
    if isinstance(value, TupleVariable):
        return bool(value.items)
    if isinstance(value, BytearrayVariable):
        return bool(value.items)
    if isinstance(value, DictVariable):
        return bool(vm.looker.mapping_length(value))
    if isinstance(value, SetVariable):
        return bool(vm.looker.set_length(value))
    if isinstance(value, (FunctionVariable, MethodVariable)):
        return True
    if isinstance(value, TensorVariable):
        if value.meta.numel != 1:
            raise WouldRaise(RuntimeError("Boolean value of Tensor is ambiguous"))
        frame = vm.frames[-1]
        asserts = frame.table.asserts(frame.offset)
        raise Break("data-dependent-assert" if asserts else "data-dependent-branch")
    raise Break("operation", what=f"truth of a {value.kind}")


def on_truth(
    vm: Interpreter, variable: Variable, decide: Callable[[bool], int | None]
) -> int | None:
    """`decide` with bool(variable), whether or not a method of the user's has to be asked."""
    value = vm.look(variable)
    members = computed(vm, ("__bool__", "__len__"), bool, value)
    if members is not None:
        return decide(truth(vm, members))
    known = asked(vm, value)
    if known is None:
        return decide(truth(vm, value))
    for name, answer in (("__bool__", _as_bool), ("__len__", _as_length)):
        method = special(vm, known, name)
        if method is not None:
            return call_then(vm, method, [], {}, _deciding(decide, answer))
    return decide(True)


def _deciding(
    decide: Callable[[bool], int | None], answer: Callable[[Variable], bool]
) -> Continuation:
    return lambda vm, value: decide(answer(vm.look(value)))


def _as_bool(value: Variable) -> bool:
    if not isinstance(value, Constant) or type(value.value) is not bool:
        raise WouldRaise(TypeError(f"__bool__ should return bool, returned {value.kind}"))
    return value.value


def _as_length(value: Variable) -> bool:
    if not isinstance(value, Constant) or type(value.value) is not int or value.value < 0:
        raise Break("operation", what=f"truth of an object whose __len__ gives a {value.kind}")
    return value.value > 0


@opcode("POP_JUMP_IF_TRUE")
def pop_jump_if_true(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return on_truth(vm, frame.stack.pop(), lambda true: ins.arg if true else None)


@opcode("POP_JUMP_IF_FALSE")
def pop_jump_if_false(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return on_truth(vm, frame.stack.pop(), lambda true: None if true else ins.arg)


@opcode("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
def pop_jump_if_none(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    hit = same(vm, frame.stack.pop(), Constant(None))
    return ins.arg if hit == (ins.op == "POP_JUMP_IF_NONE") else None


@opcode("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
def jump_or_pop(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    def decide(true: bool) -> int | None:
        if true == (ins.op == "JUMP_IF_TRUE_OR_POP"):
            return ins.arg
        frame.stack.pop()
        return None

    return on_truth(vm, frame.stack[-1], decide)


@opcode("JUMP")
def jump(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int:
    return ins.arg


@opcode("TO_BOOL")
def to_bool(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return on_truth(vm, frame.stack.pop(), lambda true: frame.stack.append(Constant(true)))


@opcode("UNARY_NOT")
def unary_not(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return on_truth(vm, frame.stack.pop(), lambda true: frame.stack.append(Constant(not true)))


@opcode("RETURN_VALUE")
def return_value(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    _check_left(vm, frame)
    vm.leave(frame.stack.pop())


@opcode("RETURN_CONST")
def return_const(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    _check_left(vm, frame)
    vm.leave(Constant(ins.arg))


def _check_left(vm: Interpreter, frame: SymbolicFrame) -> None:
    """The outermost frame's variables go when all is done."""
    if len(vm.frames) > 1:
        check_lost(vm, frame, range(len(frame.fast)))


def iterate(vm: Interpreter, variable: Variable) -> list[Variable]:
    """All items of something whose items are known. Raises Break for anything else."""
    value = plain(vm, variable, "__iter__")
    if isinstance(value, TupleVariable):
        return list(value.items)
    if isinstance(value, ListVariable):
        return list(vm.looker.items(value))
    if isinstance(value, DequeVariable):
        return list(vm.looker.queue(value))
    if isinstance(value, BytearrayVariable):
        return [Constant(number) for number in value.items]
    if isinstance(value, ViewVariable):
        return view_items(vm, value)
    if isinstance(value, IteratorVariable):
        return list(iter(partial(advance, vm, value), None))
    if isinstance(value, DictVariable):
        return [key_variable(vm.builder, key) for key in vm.looker.dict_items(value)]
    if isinstance(value, SetVariable):
        return vm.looker.ordered(value)
    if isinstance(value, Constant) and isinstance(value.value, ITERABLE):
        return [Constant(item) for item in value.value]
    if isinstance(value, TensorVariable):
        return vm.operators.rows(value)
    members = members_of(vm, value.value) if isinstance(value, Constant) else None
    if members is not None:
        return members
    if isinstance(value, Constant) and is_plain(value.value):
        raise WouldRaise(TypeError(f"{value.kind!r} object is not iterable"))
    raise Break("operation", what=f"iteration over a {value.kind}")


def view_items(vm: Interpreter, view: ViewVariable) -> list[Variable]:
    return [_view_item(vm, view, pair) for pair in vm.looker.dict_items(view.owner).items()]


def _view_item(vm: Interpreter, view: ViewVariable, pair: tuple[Any, Variable]) -> Variable:
    name, value = key_variable(vm.builder, pair[0]), pair[1]
    if view.name == "keys":
        return name
    return value if view.name == "values" else TupleVariable([name, value])


def iterator(vm: Interpreter, variable: Variable) -> IteratorVariable:
    """iter(variable): an iterator is its own, and so shares what is left of it."""
    value = vm.look(variable)
    if isinstance(value, IteratorVariable):
        return value
    if isinstance(value, ListVariable):
        return IteratorVariable(vm.looker.items(value), sequence=value)
    items = iterate(vm, value)
    if isinstance(value, DequeVariable):
        return KeysVariable(items, keys=iter(vm.looker.queue(value)), item=lambda item: item)
    if isinstance(value, BytearrayVariable):
        return KeysVariable(items, keys=iter(value.items), item=Constant)
    if isinstance(value, Constant) and type(value.value) in (range, tuple):
        return IteratorVariable(items, sequence=value)
    if isinstance(value, TupleVariable) and value.cls is not Size:
        return IteratorVariable(items, sequence=value)
    if isinstance(value, SetVariable):
        made = partial(key_variable, vm.builder)
        return KeysVariable(items, keys=vm.looker.one_by_one(value), item=made)
    if isinstance(value, DictVariable):
        value = ViewVariable(value, "keys")
    if isinstance(value, ViewVariable):
        made = partial(_view_item, vm, value)
        return KeysVariable(items, keys=iter(value.owner.items.items()), item=made)
    return IteratorVariable(items)


def advance(vm: Interpreter, iterator: IteratorVariable) -> Variable | None:
    """The next item, or None. Raises WouldRaise for what the iterator raises."""
    vm.changed()
    try:
        return iterator.advance()
    except (ValueError, RuntimeError) as error:
        raise WouldRaise(error) from None
