"""Iteration, one item at a time: `iter`, `next`, loops, and whatever takes all items.

In: an iterable's variable and what to do with an item, or at the end.
Invariant: what is asked of an iterable, and when, is what CPython asks: the user's `__iter__`,
`__next__` and generators are read as bytecode, in the order in which they would run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..attributes import special_method
from ..breaks import Break, WouldRaise
from ..bytecode import V12, Instruction
from ..frame import Continuation, SymbolicFrame
from ..polyfills.iterators import (
    ask_hint,
    ask_length,
    items_by_index,
    reversed_items,
    room_for,
)
from ..remaking import is_iterator
from ..variables import (
    Call,
    Constant,
    FunctionVariable,
    GeneratorVariable,
    IteratorVariable,
    LiveIterator,
    MethodVariable,
    ObjectVariable,
    Variable,
)
from .continuations import call_polyfill, call_then
from .control import advance, iterate, iterator
from .core import Interpreter
from .generators import NONE, resume
from .polyfilled import as_variable
from .rules import Args, rule
from .table import opcode

ITERATORS = (IteratorVariable, LiveIterator, GeneratorVariable)


def ask_iterator(vm: Interpreter, variable: Variable, then: Continuation) -> int | None:
    """`then` with iter(variable)."""
    value = vm.look(variable)
    if isinstance(value, (LiveIterator, GeneratorVariable)):
        return then(vm, value)
    if isinstance(value, ObjectVariable) and is_iterator(value.cls):
        return then(vm, value)
    if not isinstance(value, ObjectVariable):
        return then(vm, iterator(vm, value))
    method = special_method(vm, value, "__iter__")
    if method is not None:
        return call_then(vm, method, [], {}, lambda vm, found: _checked(vm, found, then))
    if special_method(vm, value, "__getitem__") is None:
        raise WouldRaise(TypeError(f"{value.cls.__name__!r} object is not iterable"), exact=True)
    call_polyfill(vm, items_by_index, [value], then)
    return None


def _checked(vm: Interpreter, variable: Variable, then: Continuation) -> int | None:
    value = vm.look(variable)
    own = isinstance(value, ObjectVariable) and special_method(vm, value, "__next__") is not None
    if not own and not isinstance(value, ITERATORS):
        raise WouldRaise(TypeError(f"iter() returned non-iterator of type {value.kind!r}"))
    return then(vm, value)


def take_next(
    vm: Interpreter, variable: Variable, take: Continuation, end: Continuation
) -> int | None:
    """`take` with the next item, or `end` with what a generator returned."""
    value = vm.look(variable)
    if isinstance(value, GeneratorVariable):
        return resume(vm, value, NONE, take, end)
    if isinstance(value, ObjectVariable):
        return _own_next(vm, value, take, end)
    if isinstance(value, LiveIterator):
        item = vm.looker.next_item(value)
    elif isinstance(value, IteratorVariable):
        item = advance(vm, value)
    else:
        raise Break("operation", what=f"iteration over a {value.kind}")
    return end(vm, NONE) if item is None else take(vm, item)


def _own_next(
    vm: Interpreter, value: ObjectVariable, take: Continuation, end: Continuation
) -> int | None:
    """The `__next__` of a user's class: a StopIteration that leaves it is the end."""
    method = special_method(vm, value, "__next__")
    if method is None:
        raise WouldRaise(TypeError(f"{value.cls.__name__!r} object is not an iterator"), exact=True)
    return call_then(vm, method, [], {}, take, (StopIteration, lambda vm: end(vm, NONE)))


def all_items(
    vm: Interpreter,
    variable: Variable,
    then: Callable[[list[Variable]], int | None],
    limit: int = -1,
    room: bool = False,
) -> int | None:
    """`then` with all items, or with as many as `limit` says. `room`: they go into a new list or
    tuple, for which CPython asks how many there will be."""
    value = vm.look(variable)
    if not isinstance(value, (GeneratorVariable, ObjectVariable)):
        return then(iterate(vm, value))

    def drain(vm: Interpreter, found: Variable) -> int | None:
        hint = hint_of(vm, value) if room else None
        if hint is None:
            return _drained(vm, found, then, limit)
        go_on = lambda vm, answer: _drained(vm, found, then, limit)
        return call_then(vm, hint.function, hint.args, {}, go_on)

    return ask_iterator(vm, value, drain)


BY_INDEX = (items_by_index.__code__, reversed_items.__code__)


def hint_of(vm: Interpreter, variable: Variable) -> Call | None:
    """How operator.length_hint() asks code of the user's, if it does."""
    value = vm.look(variable)
    if isinstance(value, GeneratorVariable):  # iterators over a sequence of the user's ask that
        if value.function.code not in BY_INDEX or value.frame is None:
            return None
        value = vm.look(value.frame.fast[value.frame.table.slots.index("sequence")])
    for name, ask in (("__len__", ask_length), ("__length_hint__", ask_hint)):
        known = special_method(vm, value, name)
        if known is not None:
            own = isinstance(known, MethodVariable) and isinstance(known.function, FunctionVariable)
            return Call(as_variable(ask), [value]) if own else None
    return None


def _drained(
    vm: Interpreter, found: Variable, then: Callable[[list[Variable]], int | None], limit: int
) -> int | None:
    if not isinstance(found, (GeneratorVariable, ObjectVariable)):
        return then(iterate(vm, found))
    taken = _Taken(found, then, limit)
    return take_next(vm, found, taken.take, taken.end)


@dataclass
class _Taken:
    """The items so far. An object, for a function that named itself would keep them alive."""

    iterator: Variable
    then: Callable[[list[Variable]], int | None]
    limit: int
    items: list[Variable] = field(default_factory=list)

    def take(self, vm: Interpreter, item: Variable) -> int | None:
        self.items.append(item)
        if len(self.items) == self.limit:
            return self.then(self.items)
        return take_next(vm, self.iterator, self.take, self.end)

    def end(self, vm: Interpreter, value: Variable) -> int | None:
        return self.then(self.items)


@rule(room_for)
def _room_for(vm: Interpreter, args: Args, kwargs: dict[str, Variable]) -> Variable | Call:
    return hint_of(vm, args[0]) or NONE


def push(vm: Interpreter, value: Variable) -> None:
    vm.frames[-1].stack.append(value)


@opcode("GET_ITER")
def get_iter(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return ask_iterator(vm, frame.stack.pop(), push)


@opcode("FOR_ITER")
def for_iter(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    def end(vm: Interpreter, value: Variable) -> int:
        frame.stack.pop()
        return int(ins.arg)

    return take_next(vm, frame.stack[-1], push, end)


@opcode("GET_YIELD_FROM_ITER")
def get_yield_from_iter(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    return ask_iterator(vm, frame.stack.pop(), push)


@opcode("SEND")
def send(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> int | None:
    """`yield from`: what was sent goes to the inner iterator, and what that returns is the value.
    Since 3.12 the iterator stays below it, for END_SEND to take away."""
    sent, inner = vm.look(frame.stack.pop()), vm.look(frame.stack[-1])

    def end(vm: Interpreter, value: Variable) -> int:
        if not V12:
            frame.stack.pop()
        frame.stack.append(value)
        return int(ins.arg)

    if isinstance(inner, GeneratorVariable):
        return resume(vm, inner, sent, push, end)
    none = isinstance(sent, Constant) and sent.value is None
    if not none or isinstance(inner, ObjectVariable):  # it may return a value with its end
        raise Break("operation", what=f"send() of a {inner.kind}")
    return take_next(vm, inner, push, end)


@opcode("END_SEND")
def end_send(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    del frame.stack[-2]
