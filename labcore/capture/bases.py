"""Objects of classes that are derived from a builtin one: what they hold as lists, dicts, texts ...

In: an object's variable.  Out: the variable of its contents, which is read, guarded and changed as
that of any list or dict is.
Invariant: contents are reached by the builtin class's own methods, whatever the user's class has
made of them; the user's are inlined, and get here through super().
PyTorch has a kind of variable for each base (UserDefinedListVariable, UserDefinedDictVariable ...).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..guards import GuardBuilder, Source
from .breaks import Break
from .classes import is_fixed, mro
from .variables import (
    DictVariable,
    ListVariable,
    Mutable,
    ObjectVariable,
    SetVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter


def _whole_tuple(value: Any) -> Any:
    return tuple.__getitem__(value, slice(None))


def _whole_dict(value: Any) -> Any:
    """Not `dict.copy`, which asks the user's keys() where the class iterates in its own way."""
    return dict(dict.items(value))


# What gives the contents alone; the first three can also be read in place.
CONTAINERS = (list, dict, set)
EXACT: dict[type, Callable[[Any], Any]] = {
    list: list.copy,
    dict: _whole_dict,
    set: set.copy,
    tuple: _whole_tuple,
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: bytes.__bytes__,
}
# What a guard on contents that are read in place runs.
READS = ("__len__", "__getitem__", "__iter__", "__contains__")
KINDS: dict[type[Variable], type] = {ListVariable: list, DictVariable: dict, SetVariable: set}
STATEMENTS = (
    (re.compile(r"\{\}\[(.*?)\] = (.*)"), "__setitem__"),
    (re.compile(r"del \{\}\[(.*)\]"), "__delitem__"),
)
METHOD = re.compile(r"\{\}\.(\w+)\((.*)\)")


def base_of(cls: type) -> type | None:
    """The builtin class whose contents instances of a user's class have."""
    line = mro(cls)
    for place in line:
        if any(place is base for base in EXACT):
            return None if place is cls or enum.Enum in line else place
        if is_fixed(place):  # another class in C has ways of its own
            return None
    return None


def contents(vm: Interpreter, variable: Variable) -> Variable | None:
    """What an object holds; None for one that has only attributes."""
    owner = vm.look(variable)
    if not isinstance(owner, ObjectVariable):
        return None
    base = base_of(owner.cls)
    if base is not None and owner.contents is None and owner.outside:
        owner.contents = _given(vm, owner, base)
    if isinstance(owner.contents, TupleVariable):  # each use of it makes a tuple
        return TupleVariable([*owner.contents.items])
    return owner.contents


def new_contents(owner: ObjectVariable, base: type) -> None:
    """Nothing in it yet."""
    makers: dict[type, Callable[[], Mutable]] = {
        list: lambda: ListVariable([]),
        dict: lambda: DictVariable({}),
        set: lambda: SetVariable(set()),
    }
    made = makers[base]()
    made.whole, owner.contents = owner, made


def _given(vm: Interpreter, owner: ObjectVariable, base: type) -> Variable:
    """What one from outside came in with."""
    source, value = owner.place, owner.value
    if base not in CONTAINERS or not leaves_to_base(vm, owner, *READS):
        alone = EXACT[base]
        if base is set:
            raise Break("operation", what=f"elements of a {owner.kind}")
        name = vm.builder.constant(alone, f"exact_{base.__name__}")
        source, value = Source(source.name, f"{name}({{}})", source), alone(value)
    if base not in CONTAINERS:
        return vm.look(vm.lazy(source, value))
    home = vm.builder.load(source)
    if base is list:
        return ListVariable(None, value=value, source=source, home=home, whole=owner)
    if base is dict:
        return DictVariable({}, False, value=value, source=source, home=home, whole=owner)
    return SetVariable(set(), False, value=value, source=source, home=home, whole=owner)


def leaves_to_base(vm: Interpreter, owner: ObjectVariable, *names: str) -> bool:
    """Are these methods the builtin class's own, or missing as they are there?"""
    entries = [vm.classes.entry(owner.cls, name) for name in names]
    base = base_of(owner.cls)
    return base is not None and all(e is None or e.where in (base, object) for e in entries)


def plain(vm: Interpreter, variable: Variable, *names: str) -> Variable:
    """The contents in place of an object that leaves these methods to its builtin class; any other
    variable is itself."""
    owner = vm.look(variable)
    if isinstance(owner, ObjectVariable) and leaves_to_base(vm, owner, *names):
        return contents(vm, owner) or owner
    return owner


def by_base(builder: GuardBuilder, owner: Mutable, template: str) -> str:
    """A statement that changes contents, by the builtin class's own method."""
    base = KINDS[type(owner)]
    found = METHOD.fullmatch(template)
    if found is not None:
        name, given = found[1], found[2]
    else:
        found, name = next((f, n) for p, n in STATEMENTS if (f := p.fullmatch(template)))
        given = ", ".join(found.groups())
    method = builder.constant(getattr(base, name), f"{base.__name__}_{name.strip('_')}")
    return f"{method}({{}}{', ' if given else ''}{given})"
