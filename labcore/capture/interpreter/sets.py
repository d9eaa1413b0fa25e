"""Sets: making them, their methods and operators.

In: variables.  Out: a set's variable, or an answer; a set from outside gets an effect.
Invariant: what happens to the set happens to a real set of its keys, by CPython's own methods, so
also its order is the one that the program would see.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Set
from typing import Any

from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..keys import held, is_constant_key, key_of, key_variable
from ..variables import Constant, DictVariable, SetVariable, Variable, ViewVariable
from .control import iterate
from .core import Interpreter
from .methods import Args, Kwargs, Methods, by_rule, slots
from .table import opcode

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "|": operator.or_,
    "&": operator.and_,
    "-": operator.sub,
    "^": operator.xor,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@opcode("BUILD_SET")
def build_set(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    keys = [key_of(vm, item) for item in frame.pop(ins.arg)]
    made = SetVariable(set())
    made.items.update(keys)
    frame.stack.append(made)


@opcode("SET_ADD")
def set_add(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value = frame.stack.pop()
    vm.looker.put_in(_set(vm, frame.stack[-ins.arg]), key_of(vm, value))


@opcode("SET_UPDATE")
def set_update(vm: Interpreter, frame: SymbolicFrame, ins: Instruction) -> None:
    value = frame.stack.pop()
    _update(vm, _set(vm, frame.stack[-ins.arg]), value)


def _set(vm: Interpreter, variable: Variable) -> SetVariable:
    made = vm.look(variable)
    if not isinstance(made, SetVariable):
        raise Break("mutation", what=f"a {made.kind}")
    return made


def make_set(vm: Interpreter, args: Args) -> SetVariable:
    """set(), set(iterable)."""
    if len(args) > 1:
        raise WouldRaise(TypeError(f"set expected at most 1 argument, got {len(args)}"))
    return SetVariable(set(keys_in(vm, args[0])) if args else set())


def keys_in(vm: Interpreter, variable: Variable) -> Collection[Any]:
    """The keys that an iterable gives; of a set or a frozenset that very kind of collection, since
    CPython takes their elements over in another order than one by one."""
    value = vm.look(variable)
    if isinstance(value, SetVariable):
        return vm.looker.elements(value)
    if isinstance(value, Constant) and type(value.value) is frozenset:
        if not is_constant_key(value.value):
            raise Break("operation", what="the elements of this frozenset")
        return value.value
    if isinstance(value, DictVariable):
        return dict.fromkeys(vm.looker.dict_items(value))
    return [key_of(vm, item) for item in iterate(vm, value)]


def set_method(
    vm: Interpreter, owner: SetVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs)."""
    if name in COMBINED:
        return _combined(vm, owner, name, args)
    if name in IN_PLACE:
        return _in_place(vm, owner, name, args)
    return by_rule(vm, METHODS, owner, name, args, kwargs)


COMBINED = frozenset(
    "union intersection difference symmetric_difference issubset issuperset isdisjoint copy".split()
)
IN_PLACE = frozenset("intersection_update symmetric_difference_update".split())


def _combined(vm: Interpreter, owner: SetVariable, name: str, args: Args) -> Variable:
    others = [keys_in(vm, arg) for arg in args]
    try:
        result = getattr(vm.looker.elements(owner), name)(*others)
    except TypeError as error:
        raise WouldRaise(error, exact=True) from None
    return SetVariable(result) if type(result) is set else Constant(result)


def _in_place(vm: Interpreter, owner: SetVariable, name: str, args: Args) -> Variable:
    if owner.outside:  # CPython would put its elements in another order than an effect here
        raise Break("mutation", what="a set")
    others = [keys_in(vm, arg) for arg in args]
    vm.changed()
    try:
        getattr(owner.items, name)(*others)
    except TypeError as error:
        raise WouldRaise(error, exact=True) from None
    return Constant(None)


def set_operator(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable:
    """a symbol b, of which at least one is a set or the keys of a dict."""
    views = isinstance(a, ViewVariable) or isinstance(b, ViewVariable)
    read = keys_in if views else _keys  # a view takes any iterable for the other side
    sides = [_keys(vm, side) or read(vm, side) for side in (a, b)]
    if symbol not in OPERATORS or any(side is None for side in sides):
        raise Break("operation", what=f"{symbol} of a {a.kind} and a {b.kind}")
    result = OPERATORS[symbol](*sides)
    return SetVariable(result) if type(result) is set else Constant(result)


def set_comparison(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable | None:
    """a < b and the like, or None where that is not for sets to say."""
    sides = [_keys(vm, side) for side in (a, b)]
    if any(side is None for side in sides):
        return None
    return Constant(COMPARISONS[symbol](*sides))


def _keys(vm: Interpreter, value: Variable) -> Any:
    if isinstance(value, SetVariable):
        return vm.looker.elements(value)
    if isinstance(value, Constant) and type(value.value) is frozenset:
        return keys_in(vm, value)
    if isinstance(value, ViewVariable) and value.name == "keys":
        return vm.looker.dict_items(value.owner).keys()
    return None


def set_assign(vm: Interpreter, symbol: str, owner: SetVariable, other: Variable) -> bool:
    """owner symbol= other. False where that is not for sets to say."""
    value = vm.look(other)
    if symbol not in OPERATORS or _keys(vm, value) is None:
        return False
    if symbol == "|":
        _update(vm, owner, value)
    elif symbol == "-":
        _difference(vm, owner, value)
    else:
        names = {"&": "intersection_update", "^": "symmetric_difference_update"}
        _in_place(vm, owner, names[symbol], [value])
    return True


def _update(vm: Interpreter, owner: SetVariable, *others: Variable) -> Variable:
    for other in others:
        keys = keys_in(vm, other)
        given = [key_variable(vm.builder, key) for key in keys]
        places = slots(len(given))
        whole = f"{{{{{places}}}}}" if isinstance(keys, Set) else f"[{places}]"
        if given:
            vm.looker.write(owner, f"{{}}.update({whole})", *given)
        owner.items.update(keys)
        owner.gone.difference_update(keys)
    return Constant(None)


def _difference(vm: Interpreter, owner: SetVariable, *others: Variable) -> Variable:
    for other in others:
        for key in list(keys_in(vm, other)):
            vm.looker.take_out(owner, key)
    return Constant(None)


def _add(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    vm.looker.put_in(owner, key_of(vm, item))
    return Constant(None)


def _discard(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    vm.looker.take_out(owner, key_of(vm, item))
    return Constant(None)


def _remove(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    key = key_of(vm, item)
    if not vm.looker.is_member(owner, key):
        raise WouldRaise(KeyError(held(key)), exact=not isinstance(key, Variable))
    vm.looker.take_out(owner, key)
    return Constant(None)


def _pop(vm: Interpreter, owner: SetVariable) -> Variable:
    if not owner.complete:
        raise Break("mutation", what="a set of which any element is taken")
    if not owner.items:
        raise WouldRaise(KeyError("pop from an empty set"), exact=True)
    vm.looker.ordered(owner)
    vm.looker.write(owner, "{}.pop()")
    return key_variable(vm.builder, owner.items.pop())


def _clear(vm: Interpreter, owner: SetVariable) -> Variable:
    vm.looker.write(owner, "{}.clear()")
    owner.items.clear()
    owner.gone.clear()
    owner.complete = True
    return Constant(None)


METHODS: Methods = {
    "add": _add,
    "discard": _discard,
    "remove": _remove,
    "pop": _pop,
    "clear": _clear,
    "update": _update,
    "difference_update": _difference,
}
