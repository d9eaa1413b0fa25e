"""Dicts: their methods, and assigning and deleting items.

In: a dict's variable and arguments.  Out: the result; the variable is changed, and for a dict from
outside an effect is written down.
Invariant: a dict from outside is asked only for the keys that the program asks for.
"""

from __future__ import annotations

from collections import OrderedDict

from ..bases import plain
from ..breaks import Break, WouldRaise
from ..keys import key_of, key_variable
from ..variables import Constant, DictVariable, TupleVariable, Variable, ViewVariable
from .control import iterate
from .core import Interpreter
from .methods import NONE, Args, Kwargs, Methods, by_rule


def dict_method(
    vm: Interpreter, owner: DictVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs)."""
    if name == "update":
        update(vm, owner, args, kwargs)
        return Constant(None)
    if name in ("keys", "values", "items") and not args and not kwargs:
        return ViewVariable(owner, name)
    if owner.cls is OrderedDict:
        from .mappings import ORDERED  # late: it makes what builtins make

        if name in ORDERED:
            return by_rule(vm, ORDERED, owner, name, args, kwargs)
    if name in ("__getitem__", "copy", "fromkeys") and owner.cls is not dict:
        raise Break("unknown-call", name=f"{owner.kind}.{name}()")
    return by_rule(vm, METHODS, owner, name, args, kwargs)


def set_item(vm: Interpreter, owner: DictVariable, key: Variable, value: Variable) -> None:
    """owner[key] = value."""
    vm.looker.set_item(owner, key_of(vm, key), value)


def delete_item(vm: Interpreter, owner: DictVariable, key: Variable) -> None:
    """del owner[key]."""
    vm.looker.delete_item(owner, key_of(vm, key))


def update(vm: Interpreter, owner: DictVariable, args: Args, kwargs: Kwargs) -> None:
    """owner.update(*args, **kwargs), or |=."""
    if len(args) > 1:
        text = f"update expected at most 1 argument, got {len(args)}"
        raise WouldRaise(TypeError(text), exact=True)
    given = [pair for arg in args for pair in pairs(vm, arg)]
    for key, value in [*given, *kwargs.items()]:
        vm.looker.set_item(owner, key, value)


def pairs(vm: Interpreter, variable: Variable) -> list[tuple[object, Variable]]:
    """Keys and values of what dict() and update() take: a dict, or an iterable of pairs."""
    value = plain(vm, variable, "__iter__")
    if isinstance(value, DictVariable):
        return list(vm.looker.dict_items(value).items())
    found = []
    for item in iterate(vm, value):
        parts = iterate(vm, item)
        if len(parts) != 2:
            raise Break("operation", what="a dict made of items that are no pairs")
        found.append((key_of(vm, parts[0]), parts[1]))
    return found


def _get(
    vm: Interpreter, owner: DictVariable, key: Variable, default: Variable = NONE
) -> Variable:
    name = key_of(vm, key)
    return vm.looker.item(owner, name) if vm.looker.has_key(owner, name) else default


def _pop(
    vm: Interpreter, owner: DictVariable, key: Variable, default: Variable | None = None
) -> Variable:
    name = key_of(vm, key)
    if default is not None and not vm.looker.has_key(owner, name):
        return default
    return vm.looker.delete_item(owner, name)


def _popitem(vm: Interpreter, owner: DictVariable) -> Variable:
    items = vm.looker.dict_items(owner)
    if not items:
        raise WouldRaise(KeyError("popitem(): dictionary is empty"), exact=True)
    vm.looker.write(owner, "{}.popitem()")  # unlike `del` it leaves no gap, which iterators see
    key, value = items.popitem()
    return TupleVariable([key_variable(vm.builder, key), value])


def _setdefault(
    vm: Interpreter, owner: DictVariable, key: Variable, default: Variable = NONE
) -> Variable:
    name = key_of(vm, key)
    if vm.looker.has_key(owner, name):
        return vm.looker.item(owner, name)
    vm.looker.set_item(owner, name, default)
    return default


def _clear(vm: Interpreter, owner: DictVariable) -> Variable:
    vm.looker.write(owner, "{}.clear()")
    owner.items.clear()
    owner.gone.clear()
    owner.changes.clear()
    owner.complete = True
    return Constant(None)


def _copy(vm: Interpreter, owner: DictVariable) -> Variable:
    return DictVariable(dict(vm.looker.dict_items(owner)))


def fromkeys(
    vm: Interpreter, owner: Variable, keys: Variable, value: Variable = NONE
) -> Variable:
    """dict.fromkeys(keys, value)."""
    return DictVariable({key_of(vm, key): value for key in iterate(vm, keys)})


METHODS: Methods = {
    "fromkeys": fromkeys,
    "get": _get,
    "__getitem__": lambda vm, owner, key: vm.looker.item(owner, key_of(vm, key)),
    "__contains__": lambda vm, owner, key: Constant(vm.looker.has_key(owner, key_of(vm, key))),
    "pop": _pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "clear": _clear,
    "copy": _copy,
}
