"""Attributes of objects, set and deleted as CPython does it.

In: an object's variable, a name, and a value or None for a deletion.  Out: the overlay and the log
of effects, brought up to date; or a `Call`, where Python would call a function of the user's (a
setter, a descriptor, `__setattr__`).
Invariant: the text that sets the attribute for real, after the graph, runs none of the user's code.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType, MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING

from ..guards.source import escape
from .breaks import Break, WouldRaise
from .classes import Classes, Entry, has_dictionary, is_fixed, own_dictionary, static_entry
from .objects import Instance, bound, dictionary, own_attribute, special
from .variables import (
    Call,
    Constant,
    DequeVariable,
    DictVariable,
    ListVariable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter


# Classes in C that set an attribute, and no more.
PLAIN = (object, BaseException, SimpleNamespace, partial)


def store(vm: Interpreter, owner: Instance, name: str, value: Variable | None) -> Call | None:
    """owner.name = value. Raises WouldRaise(AttributeError)."""
    hook = "__delattr__" if value is None else "__setattr__"
    entry = vm.classes.entry(owner.cls, hook)
    assert entry is not None
    if any(entry.where is cls for cls in PLAIN):
        return generic_store(vm, owner, name, value)
    method = special(vm, owner, hook)
    if type(entry.raw) is not FunctionType or method is None:
        raise Break("mutation", what=f"attribute {name!r} of a {owner.cls.__name__} object")
    return Call(method, [Constant(name), *([] if value is None else [value])])


def generic_store(
    vm: Interpreter, owner: Instance, name: str, value: Variable | None
) -> Call | None:
    """object.__setattr__(owner, name, value), or object.__delattr__(owner, name)."""
    shared = vm.classes.entry(owner.cls, name)
    if shared is not None and vm.classes.is_data_descriptor(shared.raw):
        return _through(vm, owner, name, shared, value)
    if not has_dictionary(owner.cls):
        raise _missing(owner, name)
    if value is None:
        found = own_attribute(vm, owner, name)
        if found is None:
            raise _missing(owner, name)
        vm.looker.presence.asked_for(found)
    write(vm, owner, name, value)
    return None


def _missing(owner: Instance, name: str) -> WouldRaise:
    return WouldRaise(AttributeError(f"{owner.cls.__name__!r} object has no attribute {name!r}"))


def _through(
    vm: Interpreter, owner: Instance, name: str, entry: Entry, value: Variable | None
) -> Call | None:
    """A data descriptor sets it."""
    raw, kind = entry.raw, type(entry.raw)
    given = [] if value is None else [value]
    if kind is property:
        accessor = "fdel" if value is None else "fset"
        function = getattr(raw, accessor)
        if function is None:
            raise WouldRaise(AttributeError(f"property {name!r} has no {accessor}"))
        return Call(
            vm.lazy(entry.source.attribute(accessor), function), [owner.variable, *given]
        )
    if kind is MemberDescriptorType and not is_fixed(entry.where):  # from __slots__
        if value is None:
            found = bound(vm, owner, name, entry)  # there must be something to delete
            assert isinstance(found, Variable)
            vm.looker.presence.asked_for(found)
        write(vm, owner, raw.__name__, value)
        return None
    setter = vm.classes.entry(kind, "__delete__" if value is None else "__set__")
    if setter is not None and type(setter.raw) is FunctionType:
        args = [vm.lazy(entry.source, raw), owner.variable, *given]
        return Call(vm.lazy(setter.source, setter.raw), args)
    raise Break("mutation", what=f"attribute {name!r} of a {owner.cls.__name__} object")


def write(vm: Interpreter, owner: Instance, name: str, value: Variable | None) -> None:
    """The object's own storage changes."""
    variable = owner.variable
    if not isinstance(variable, ObjectVariable):
        raise Break("mutation", what=f"attribute {name!r} of {owner.title}")
    in_slot = type(static_entry(variable.cls, name)[1]) is MemberDescriptorType
    if value is None and variable.outside and not in_slot and own_dictionary(variable.value):
        dictionary(vm, owner)  # which keeps the order: set again it would be the last
    if value is None:
        vm.looker.write(variable, deleting(vm.classes, name))
    else:
        vm.looker.write(variable, setting(vm.classes, variable.cls, name), value)
    if value is None and not variable.outside:
        del variable.attributes[name]
    else:
        variable.attributes[name] = value
    if variable.outside and variable.dictionary is not None and not in_slot:
        variable.dictionary.overlay(name, value)


PLAIN_DATA = (
    Constant,
    NumberVariable,
    TensorVariable,
    TupleVariable,
    ListVariable,
    DequeVariable,
    DictVariable,
    SetVariable,
    ObjectVariable,
)
DESCRIPTOR_HOOKS = ("__get__", "__set__", "__delete__")


def store_in_class(vm: Interpreter, owner: Constant, name: str, value: Variable | None) -> None:
    """cls.name = value, where that is plain data and the metaclass leaves it to `type`."""
    cls, meta = owner.value, vm.classes.of(owner.value)
    data, setter = vm.classes.entry(meta, name), vm.classes.entry(meta, "__setattr__")
    known = None if value is None else vm.look(value)
    if isinstance(known, ObjectVariable):
        binds = any(vm.classes.entry(known.cls, hook) for hook in DESCRIPTOR_HOOKS)
    else:
        binds = isinstance(known, Constant) and vm.classes.is_descriptor(known.value)
    if (
        not isinstance(known, PLAIN_DATA)
        or binds
        or is_fixed(cls)
        or name.startswith("__")
        or setter is None
        or setter.where is not type
        or data is not None
    ):
        raise Break("mutation", what=f"attribute {name!r} of class {cls.__name__}")
    assert value is not None
    vm.effects.add(f"setattr({{}}, {escape(repr(name))}, {{}})", owner, value)
    vm.classes.write(cls, name, value)


def setting(classes: Classes, cls: type, name: str) -> str:
    """The statement that sets an object's own attribute: {} is the object, then the value."""
    shared = static_entry(cls, name)[1]
    slot = type(shared) is MemberDescriptorType
    if not slot and classes.is_data_descriptor(shared):  # set through `__dict__`, then
        return f"dict.__setitem__({{}}.__dict__, {escape(repr(name))}, {{}})"
    plain = any(static_entry(cls, "__setattr__")[0] is kind for kind in PLAIN)
    if plain and name.isidentifier():
        return f"{{}}.{name} = {{}}"
    function = classes.builder.constant(object.__setattr__, "set_attribute")
    return f"{function}({{}}, {escape(repr(name))}, {{}})"


def deleting(classes: Classes, name: str) -> str:
    function = classes.builder.constant(object.__delattr__, "delete_attribute")
    return f"{function}({{}}, {escape(repr(name))})"
