"""collections.deque: made, changed and read.

In: a deque's variable and arguments.  Out: the result; the variable's items are changed, and for a
deque from outside an effect is written down.
Invariant: a real deque of variables does what the one that it stands for would, so what falls out
at `maxlen`, errors, and what an iterator says of a change are CPython's own.
PyTorch has a list's variable with `maxlen` for it.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from ..breaks import Break, WouldRaise
from ..keys import as_constant
from ..variables import Constant, DequeVariable, KeysVariable, ListVariable, Variable
from .control import advance, iterate, iterator
from .core import Interpreter
from .fold import folded, python_value
from .iteration import all_items, push
from .methods import NONE, Args, Kwargs, Methods, by_rule, slots
from .rules import rule

# Methods that compare no items, and which of their arguments are numbers.
BY_POSITION: dict[str, tuple[int, ...]] = {
    "append": (),
    "appendleft": (),
    "insert": (0,),
    "pop": (),
    "popleft": (),
    "rotate": (0,),
    "reverse": (),
    "clear": (),
}


@rule(deque)
def _deque(vm: Interpreter, args: Args, kwargs: Kwargs) -> None:
    given = dict(zip(("iterable", "maxlen"), args))
    if len(args) > 2 or not kwargs.keys() <= {"iterable", "maxlen"} - given.keys():
        raise Break("unknown-call", name="deque() with such arguments")
    given |= kwargs
    made = _empty(vm, given.get("maxlen", NONE))

    def fill(items: list[Variable]) -> None:
        vm.looker.queue(made).extend(items)
        push(vm, made)

    if "iterable" in given:
        all_items(vm, given["iterable"], fill)
    else:
        push(vm, made)


def _empty(vm: Interpreter, maxlen: Variable) -> DequeVariable:
    limit = python_value(vm, maxlen)
    try:
        return DequeVariable(deque(maxlen=limit))
    except (TypeError, ValueError, OverflowError) as error:
        raise WouldRaise(error, exact=True) from None


def deque_method(
    vm: Interpreter, owner: DequeVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs)."""
    if name in BY_POSITION and not kwargs:
        return _by_position(vm, owner, name, args)
    return by_rule(vm, METHODS, owner, name, args, kwargs)


def _by_position(vm: Interpreter, owner: DequeVariable, name: str, args: Args) -> Variable:
    numbers = BY_POSITION[name]
    given = [python_value(vm, arg) if n in numbers else arg for n, arg in enumerate(args)]
    items = _touched(vm, owner, name, len(args))
    vm.changed()
    try:
        result = getattr(items, name)(*given)
    except (IndexError, TypeError, OverflowError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, f"{{}}.{name}({slots(len(args))})", *args)
    return result if isinstance(result, Variable) else Constant(None)


def _touched(
    vm: Interpreter, owner: DequeVariable, name: str, count: int
) -> deque[Variable] | list[Variable]:
    """The items that a method has to know. An unread one without a limit takes what is appended."""
    unread = owner.items is None and owner.maxlen is None
    return owner.tail if unread and name == "append" and count == 1 else vm.looker.queue(owner)


def extend(
    vm: Interpreter, owner: DequeVariable, other: Variable, name: str = "append"
) -> Variable:
    """owner.extend(other), or +=, item by item: `other` may be an iterator over it."""
    given = vm.look(other)
    source = ListVariable(iterate(vm, given)) if given is owner else given
    for item in iter(partial(advance, vm, iterator(vm, source)), None):
        _by_position(vm, owner, name, [item])
    return Constant(None)


def _extend_left(vm: Interpreter, owner: DequeVariable, other: Variable) -> Variable:
    return extend(vm, owner, other, "appendleft")


def subscript(vm: Interpreter, owner: DequeVariable, key: Variable) -> Variable:
    """owner[key]."""
    index: Any = python_value(vm, key)
    try:
        return vm.looker.queue(owner)[index]
    except (IndexError, TypeError) as error:
        raise WouldRaise(error, exact=True) from None


def set_item(vm: Interpreter, owner: DequeVariable, key: Variable, value: Variable) -> None:
    """owner[key] = value."""
    index: Any = python_value(vm, key)
    items = vm.looker.queue(owner)
    vm.changed()
    try:
        items[index] = value
    except (IndexError, TypeError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, "{}[{}] = {}", key, value)


def binary(vm: Interpreter, symbol: str, function: Any, a: Variable, b: Variable) -> Variable:
    """`a symbol b`, of which one is a deque: the left one's `maxlen` holds for the result."""
    if isinstance(a, DequeVariable) and isinstance(b, DequeVariable) and symbol == "+":
        return DequeVariable(vm.looker.queue(a) + vm.looker.queue(b))
    for own, other in ((a, b), (b, a)):
        count = as_constant(vm.looker.numbers, other)
        times = isinstance(count, Constant) and type(count.value) is int
        if symbol == "*" and times and isinstance(own, DequeVariable):
            return DequeVariable(vm.looker.queue(own) * count.value)  # type: ignore[attr-defined]
    return folded(vm, symbol, function, a, b)


def backwards(vm: Interpreter, owner: DequeVariable) -> KeysVariable:
    """reversed(owner)."""
    items = vm.looker.queue(owner)
    return KeysVariable([*items], keys=reversed(items), item=lambda item: item)


def _copy(vm: Interpreter, owner: DequeVariable) -> Variable:
    return DequeVariable(vm.looker.queue(owner).copy())


METHODS: Methods = {
    "extend": lambda vm, owner, other: extend(vm, owner, other),
    "extendleft": _extend_left,
    "copy": _copy,
    "__copy__": _copy,
}
