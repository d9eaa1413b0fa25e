"""Sets: making them, their methods and operators.

In: variables.  Out: a set's variable, or an answer; a set from outside gets an effect.
Invariant: what happens to the set happens to a real set of its keys, by CPython's own methods, so
also its order is the one that the program would see.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from ..bases import contents
from ..breaks import Break, WouldRaise
from ..bytecode import Instruction
from ..frame import SymbolicFrame
from ..keys import ask_all, held, is_constant_key, key_of, key_variable
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
    made = SetVariable(set())
    keys = [key_of(vm, item) for item in frame.pop(ins.arg)]
    ask_all(keys)
    for key in keys:
        vm.looker.put_in(made, key)
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
    made = SetVariable(set())
    _update(vm, made, *args)
    return made


@dataclass(frozen=True)
class Operand:
    """What a method or an operator of sets is given: the `keys`, in a collection that acts as the
    real one does; and how to spell it, for a template and its parts."""

    keys: Collection[Any]
    text: str
    parts: list[Variable]


def operand(vm: Interpreter, variable: Variable) -> Operand:
    """A set is taken over in another order than one by one, an exact dict leaves more room."""
    value, keys = _collection(vm, variable), keys_in(vm, variable)
    if isinstance(value, SetVariable):
        return Operand(keys, "{}", [value.frozen()])
    if isinstance(value, Constant) and type(value.value) is frozenset:
        return Operand(keys, "{}", [value])
    given = [key_variable(vm.builder, key) for key in keys]
    listed = f"[{slots(len(given))}]"
    return Operand(keys, f"dict.fromkeys({listed})" if type(keys) is dict else listed, given)


def _collection(vm: Interpreter, variable: Variable) -> Variable:
    """An object that is a set counts as one, whatever it makes of iteration."""
    held = contents(vm, variable)
    return held if isinstance(held, SetVariable) else vm.look(variable)


def keys_in(vm: Interpreter, variable: Variable) -> Collection[Any]:
    """The keys that an iterable gives; of a set or a frozenset that very kind of collection, since
    CPython takes their elements over in another order than one by one."""
    value = _collection(vm, variable)
    if isinstance(value, SetVariable):
        return vm.looker.elements(value)
    if isinstance(value, Constant) and type(value.value) is frozenset:
        if not is_constant_key(value.value):
            raise Break("operation", what="the elements of this frozenset")
        return value.value
    if isinstance(value, DictVariable) and value.cls is dict:
        return dict.fromkeys(vm.looker.dict_items(value))
    return [key_of(vm, item) for item in iterate(vm, value)]


def set_method(
    vm: Interpreter, owner: SetVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable:
    """owner.name(*args, **kwargs)."""
    if kwargs:
        raise Break("unknown-call", name=f"set.{name}() with such arguments")
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
    operands = [operand(vm, variable) for variable in (owner, *args)]
    method = lambda own, *others: getattr(own, name)(*others)
    return _result(method, f"{{}}.{name}({slots(len(args))})", operands)


def _result(function: Callable[..., Any], text: str, operands: list[Operand]) -> Variable:
    """What the function gives for the operands; `text` is Python for that."""
    try:
        result = function(*(each.keys for each in operands))
    except TypeError as error:
        raise WouldRaise(error, exact=True) from None
    if type(result) is not set:
        return Constant(result)
    parts = tuple(part for each in operands for part in each.parts)
    return SetVariable(result, steps=[(text.format(*(each.text for each in operands)), parts)])


def _in_place(vm: Interpreter, owner: SetVariable, name: str, args: Args) -> Variable:
    if owner.outside:  # which of its elements stay is more than an effect here knows
        raise Break("mutation", what="a set")
    others = [operand(vm, arg) for arg in args]
    vm.changed()
    try:
        getattr(owner.items, name)(*(other.keys for other in others))
    except TypeError as error:
        raise WouldRaise(error, exact=True) from None
    texts, parts = [other.text for other in others], [p for o in others for p in o.parts]
    vm.looker.write(owner, f"{{}}.{name}({', '.join(texts)})", *parts)
    return Constant(None)


def set_operator(vm: Interpreter, symbol: str, a: Variable, b: Variable) -> Variable:
    """a symbol b, of which at least one is a set or the keys of a dict."""
    views = isinstance(a, ViewVariable) or isinstance(b, ViewVariable)
    sets = [_keys(vm, side) is not None for side in (a, b)]
    if symbol not in OPERATORS or not (all(sets) or views and any(sets)):
        raise Break("operation", what=f"{symbol} of a {a.kind} and a {b.kind}")
    # a view takes any iterable for the other side
    sides = [_side(vm, side) if own else operand(vm, side) for side, own in zip((a, b), sets)]
    return _result(OPERATORS[symbol], f"({{}} {symbol} {{}})", sides)


def _side(vm: Interpreter, value: Variable) -> Operand:
    """A set, or the keys of a dict, as an operand of an operator."""
    if not isinstance(value, ViewVariable):
        return operand(vm, value)
    if value.owner.cls is not dict:
        raise Break("operation", what=f"an operator with the keys of a {value.owner.kind}")
    given = operand(vm, value.owner)
    return Operand(vm.looker.dict_items(value.owner).keys(), f"{given.text}.keys()", given.parts)


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
        given = operand(vm, other)
        keys = given.keys
        ask_all(keys, owner.items)
        vm.looker.write(owner, f"{{}}.update({given.text})", *given.parts)
        owner.items.update(keys)
        owner.gone.difference_update(keys)
    return Constant(None)


def _difference(vm: Interpreter, owner: SetVariable, *others: Variable) -> Variable:
    for other in others:
        given = operand(vm, other)
        keys = list(given.keys)
        vm.looker.write(owner, f"{{}}.difference_update({given.text})", *given.parts)
        owner.items.difference_update(given.keys)
        if not owner.complete:
            owner.gone.update(keys)
    return Constant(None)


def _add(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    vm.looker.put_in(owner, key_of(vm, item))
    return Constant(None)


def sought(vm: Interpreter, item: Variable) -> Any:
    """The key of what is looked for in a set. Raises Break for a set: CPython then looks for a
    frozenset that equals it."""
    if isinstance(vm.look(item), SetVariable):
        raise Break("operation", what="a set that is looked for in a set")
    return key_of(vm, item)


def _discard(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    vm.looker.take_out(owner, sought(vm, item))
    return Constant(None)


def _remove(vm: Interpreter, owner: SetVariable, item: Variable) -> Variable:
    key = sought(vm, item)
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
