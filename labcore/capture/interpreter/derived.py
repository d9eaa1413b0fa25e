"""Methods that a user's class has from a builtin one it is derived from: list.append(o, item), and
what super() finds of them.

In: the object and the arguments.  Out: the result; its contents are changed as those of a list ...
Invariant: they do what the builtin class's do on such an object: a new list or dict is a plain one,
and of the user's methods only `__missing__` is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..bases import EXACT, base_of, contents, leaves_to_base, new_contents
from ..breaks import Break, WouldRaise
from ..classes import is_named_tuple
from ..keys import key_of
from ..objects import instance, special
from ..polyfills import methods
from ..variables import (
    Call,
    Constant,
    DictVariable,
    ListVariable,
    Mutable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    TupleVariable,
    Variable,
)
from .continuations import call_then
from .core import Interpreter
from .equality import spelled_out
from .fold import folded, python_value
from .instances import allocate
from .iteration import all_items, push
from .operators import BINARY, COMPARE, binary, changed_in_place, compare
from .polyfilled import inlined
from .rules import Args, rule

Kwargs = dict[str, Variable]
ARITHMETIC = {f"__{name}__": sign for sign, (name, _) in BINARY.items()}
IN_PLACE = {f"__i{name}__": sign for sign, (name, _) in BINARY.items()}
COMPARISONS = {f"__{name}__": sign for sign, (name, _, _) in COMPARE.items()}
TEXTS: dict[str, Callable[..., Any]] = {"__repr__": repr, "__str__": str, "__hash__": hash}


def base_method(
    vm: Interpreter, owner: ObjectVariable, name: str, args: Args, kwargs: Kwargs
) -> Variable | Call:
    """Base.name(owner, *args, **kwargs)."""
    from .builtin_calls import call_method  # late: it calls this

    held = contents(vm, owner)
    assert held is not None
    if name == "__init__":
        return _initialize(vm, held, args, kwargs)
    if name == "__getitem__" and isinstance(held, DictVariable) and len(args) == 1:
        return _item(vm, owner, held, args[0])
    if len(args) == 1 and not kwargs and name in (ARITHMETIC | IN_PLACE | COMPARISONS):
        return _operator(vm, owner, held, name, args[0])
    if name == "__iter__" and not args:
        return Call(Constant(iter), [held])
    own_way = isinstance(held, DictVariable) and not leaves_to_base(vm, owner, "__iter__")
    if own_way and name in ("copy", "__or__"):  # which ask the user's keys() then
        raise Break("unknown-call", name=f"{owner.kind}.{name}()")
    if name == "__format__" and len(args) == 1 and python_value(vm, args[0]) == "":
        return Call(Constant(str), [owner])  # which may have a __str__ or __repr__ of its own
    if name in TEXTS and not args and not isinstance(held, SetVariable):  # which tell their class
        return folded(vm, f"{name}()", TEXTS[name], held)
    try:
        result = call_method(vm, held, name, args, kwargs)
    except WouldRaise as raised:
        raise inexact(raised) from None
    return owner if result is held else result


def inexact(raised: WouldRaise) -> WouldRaise:
    """A TypeError tells the class, which is another one than its contents have."""
    raised.exact &= not isinstance(raised.error, TypeError)
    return raised


def _initialize(vm: Interpreter, held: Variable, args: Args, kwargs: Kwargs) -> Variable | Call:
    from .builtin_calls import call_method  # late: it calls this

    if isinstance(held, DictVariable):
        return call_method(vm, held, "update", args, kwargs)
    if isinstance(held, (ListVariable, SetVariable)):
        fill = methods.fill_list if isinstance(held, ListVariable) else methods.fill_set
        return inlined(fill, [held, *args], kwargs)
    raise Break("unknown-call", name="object.__init__ with arguments")


def _item(
    vm: Interpreter, owner: ObjectVariable, held: DictVariable, key: Variable
) -> Variable | Call:
    """dict.__getitem__, which asks `__missing__`."""
    known, place = instance(vm, owner), key_of(vm, key)
    assert known is not None
    if not vm.looker.has_key(held, place):
        missing = special(vm, known, "__missing__")
        if missing is not None:
            return Call(missing, [key])
    return vm.looker.item(held, place)


def _operator(
    vm: Interpreter, owner: ObjectVariable, held: Variable, name: str, other: Variable
) -> Variable | Call:
    """Base.__add__(owner, other), and their like."""
    given = spelled_out(contents(vm, other) or vm.look(other))
    plain_values = (Constant, NumberVariable)
    alike = type(given) is type(held) or all(isinstance(v, plain_values) for v in (given, held))
    if name in COMPARISONS:
        return compare(vm, COMPARISONS[name], held, given) if alike else Constant(NotImplemented)
    if not alike and not isinstance(given, plain_values):
        raise Break("operation", what=f"{name} of a {owner.kind} and a {given.kind}")
    if name in ARITHMETIC:
        return binary(vm, ARITHMETIC[name], held, given)
    if not isinstance(held, Mutable) or not changed_in_place(vm, IN_PLACE[name], held, given):
        raise Break("operation", what=f"{name} of a {owner.kind} and a {given.kind}")
    return owner


# ---- making them ---------------------------------------------------------------------------------


def _class_of(vm: Interpreter, base: type, args: Args, kwargs: Kwargs) -> type:
    given = vm.look(args[0]) if args else Constant(None)
    cls: Any = getattr(given, "value", None)
    if not issubclass(type(cls), type) or base_of(cls) is not base:
        raise Break("new-object", name=given.kind)
    made: type = cls
    return made


def _new_empty(base: type) -> None:
    def new(vm: Interpreter, args: Args, kwargs: Kwargs) -> Variable:
        made = allocate(vm, _class_of(vm, base, args, kwargs))
        new_contents(made, base)
        return made

    rule(base.__new__)(new)


def _new_of(base: type) -> None:
    """An immutable one, made of what the builtin class makes of the arguments."""

    def new(vm: Interpreter, args: Args, kwargs: Kwargs) -> None:
        made = allocate(vm, _class_of(vm, base, args, kwargs))

        def then(vm: Interpreter, value: Variable) -> None:
            made.contents = vm.look(value)
            push(vm, made)

        call_then(vm, Constant(base), args[1:], kwargs, then)

    rule(base.__new__)(new)


@rule(tuple.__new__)
def _new_tuple(vm: Interpreter, args: Args, kwargs: Kwargs) -> None:
    """A named tuple is a tuple and no more."""
    cls = _class_of(vm, tuple, args, kwargs)
    if len(args) > 2 or kwargs:
        raise Break("new-object", name=cls.__name__)

    def fill(items: list[Variable]) -> None:
        if is_named_tuple(cls):
            push(vm, TupleVariable(items, cls=cls))
            return
        made = allocate(vm, cls)
        made.contents = TupleVariable(items)
        push(vm, made)

    if len(args) == 1:
        fill([])
    else:
        all_items(vm, args[1], fill, room=True)


for _base in EXACT:
    if _base in (list, dict, set):
        _new_empty(_base)
    elif _base is not tuple:
        _new_of(_base)
