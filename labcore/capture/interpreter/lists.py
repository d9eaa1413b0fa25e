"""Lists: their methods, and assigning and deleting items.

In: a list's variable and arguments.  Out: the result; the variable's items are changed, and for a
list from outside an effect is written down.
Invariant: the list of variables does what the real one would, so results, order and errors are
CPython's own; effects name positions and items, so none of them compares or iterates anything.
"""

from __future__ import annotations

from typing import Any

from .. import polyfills
from ..breaks import WouldRaise
from ..variables import Call, Constant, DequeVariable, ListVariable, Variable
from .control import iterate, truth
from .core import Interpreter
from .fold import is_plain, python_value
from .identity import same
from .methods import NONE, Args, Kwargs, Methods, by_rule, slots
from .polyfilled import inlined

# Methods that look at no item, and which of their arguments are numbers.
BY_POSITION: dict[str, tuple[int, ...]] = {
    "append": (),
    "insert": (0,),
    "pop": (0,),
    "clear": (),
    "reverse": (),
}


def list_method(
    vm: Interpreter, owner: ListVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable | Call:
    """owner.name(*args, **kwargs), or the call of Python that does it."""
    if name == "sort" and not _is_plain(vm, owner, kwargs):
        return inlined(polyfills.reductions.sort, [owner, *args], kwargs)
    if name in BY_POSITION:
        return _by_position(vm, owner, name, args, kwargs)
    return by_rule(vm, METHODS, owner, name, args, kwargs)


def _by_position(
    vm: Interpreter, owner: ListVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    numbers = BY_POSITION[name]
    given = [python_value(vm, arg) if n in numbers else arg for n, arg in enumerate(args)]
    items = _touched(vm, owner, name, len(args))
    vm.changed()
    try:
        result = getattr(items, name)(*given, **kwargs)
    except (IndexError, TypeError, OverflowError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, f"{{}}.{name}({slots(len(args))})", *args)
    return result if isinstance(result, Variable) else Constant(None)


def _touched(vm: Interpreter, owner: ListVariable, name: str, count: int) -> list[Variable]:
    """The items that a method has to know: not those from outside, for some."""
    if owner.items is None and name == "clear" and not count:
        owner.items, owner.tail = [], []
    at_the_end = name == "append" or name == "pop" and owner.tail and not count
    return owner.tail if owner.items is None and at_the_end else vm.looker.items(owner)


def extend(vm: Interpreter, owner: ListVariable, other: Variable) -> Variable:
    """owner.extend(other), or +=."""
    items = iterate(vm, other)
    vm.looker.write(owner, f"{{}}.extend([{slots(len(items))}])", *items)
    (owner.tail if owner.items is None else owner.items).extend(items)
    return Constant(None)


def replace(vm: Interpreter, owner: ListVariable, items: list[Variable]) -> None:
    """owner[:] = items."""
    whole = slice(None)
    set_item(vm, owner, Constant(whole), ListVariable(items))


def set_item(vm: Interpreter, owner: ListVariable, key: Variable, value: Variable) -> None:
    """owner[key] = value."""
    index = python_value(vm, key)
    new: Any = iterate(vm, value) if type(index) is slice else value
    items = vm.looker.items(owner)
    vm.changed()
    try:
        items[index] = new
    except (IndexError, TypeError, ValueError) as error:
        raise WouldRaise(error, exact=True) from None
    if type(index) is slice:
        vm.looker.write(owner, f"{{}}[{{}}] = [{slots(len(new))}]", key, *new)
    else:
        vm.looker.write(owner, "{}[{}] = {}", key, value)


def delete_item(vm: Interpreter, owner: ListVariable | DequeVariable, key: Variable) -> None:
    """del owner[key]."""
    index: Any = python_value(vm, key)
    items: Any = vm.looker.held(owner)
    vm.changed()
    try:
        del items[index]
    except (IndexError, TypeError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, "del {}[{}]", key)


def repeat(vm: Interpreter, owner: ListVariable | DequeVariable, count: Variable) -> None:
    """owner *= count."""
    times: Any = python_value(vm, count)
    items: Any = vm.looker.held(owner)
    vm.changed()
    try:
        items *= times
    except (TypeError, OverflowError, MemoryError) as error:
        raise WouldRaise(error, exact=True) from None
    vm.looker.write(owner, "{}.__imul__({})", count)


def _copy(vm: Interpreter, owner: ListVariable) -> Variable:
    return ListVariable(list(vm.looker.items(owner)))


def _is_plain(vm: Interpreter, owner: ListVariable, kwargs: Kwargs) -> bool:
    """Can CPython's own sort do it, without a key function or values of the user's?"""
    if not same(vm, kwargs.get("key", NONE), NONE):
        return False
    values = [vm.look(item) for item in vm.looker.items(owner)]
    return all(isinstance(value, Constant) and is_plain(value.value) for value in values)


def _sort(
    vm: Interpreter,
    owner: ListVariable,
    *,
    key: Variable = NONE,
    reverse: Variable = NONE,
) -> Variable:
    """Of plain values."""
    items = vm.looker.items(owner)
    values = [python_value(vm, item) for item in items]
    try:
        order = sorted(range(len(items)), key=values.__getitem__, reverse=truth(vm, reverse))
    except TypeError as error:
        raise WouldRaise(error, exact=True) from None
    replace(vm, owner, [items[n] for n in order])
    return Constant(None)


METHODS: Methods = {
    "extend": extend,
    "copy": _copy,
    "sort": _sort,
}
