"""Attributes of instances and classes, found as CPython finds them.

In: an object's or a class's variable and a name.  Out: the attribute's variable; or a `Call`,
where Python would call a function of the user's (a property, a descriptor, `__getattr__`), for
the interpreter to inline.
Invariant: the order is CPython's: data descriptors of the class, the instance, the class,
`__getattr__`; each step rests on a guard that it still goes the same way.
"""

from __future__ import annotations

import abc
import enum
import functools
from collections import namedtuple
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import (
    ClassMethodDescriptorType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    SimpleNamespace,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from ..guards import Source, kinds, source
from ..guards.source import escape
from ..tensor.replaced import Watched
from .bases import EXACT
from .breaks import Break, WouldRaise
from .classes import Entry, has_dictionary, has_slots, is_unset, own_dictionary, static_entry
from .variables import (
    Call,
    Constant,
    DictVariable,
    FunctionVariable,
    MethodVariable,
    ObjectVariable,
    SuperVariable,
    TupleVariable,
    Variable,
)

if TYPE_CHECKING:
    from .interpreter.core import Interpreter

Found = Variable | Call
CACHED: type = type(functools.lru_cache(lambda: None))
_PAIR = namedtuple("_PAIR", "first")  # its fields are descriptors of a class without a name
PLAIN_LOOKUPS = tuple(
    static_entry(kind, "__getattribute__")[1]
    for kind in (
        object, BaseException, SimpleNamespace, functools.partial, CACHED, GeneratorType,
        ContextVar, *EXACT,
    )  # fmt: skip
)
PLAIN = (type, abc.ABCMeta, Watched)  # metaclasses that leave everything to `type`
METHODS_IN_C = (WrapperDescriptorType, MethodDescriptorType)
# What a class gives as it stands.
GIVE_THEMSELVES = (FunctionType, CACHED, property, MemberDescriptorType, *METHODS_IN_C)
TYPE_FACTS = frozenset("__name__ __qualname__ __module__ __mro__ __bases__ __base__".split())


@dataclass(frozen=True)
class Instance:
    """A variable as attribute lookup sees it. `value`: the real object, if it is from outside."""

    variable: Variable
    cls: type
    value: Any = None
    source: Source | None = None
    attributes: dict[str, Variable | None] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.source.name if self.source is not None else f"a new {self.cls.__name__}"


def instance(vm: Interpreter, variable: Variable) -> Instance | None:
    """None for what is no object of a user's class."""
    if isinstance(variable, ObjectVariable):
        return Instance(
            variable, variable.cls, variable.value, variable.source, variable.attributes
        )
    if isinstance(variable, Constant) and issubclass(type(variable.value), enum.Enum):
        member = variable.value
        title = f"{type(member).__name__}.{member._name_}"
        home = variable.home or vm.builder.constant(member, title.replace(".", "_"))
        return Instance(variable, vm.classes.of(member), member, source.constant(title, home))
    return None


def asked(vm: Interpreter, variable: Variable) -> Instance | None:
    """An object of the user's; a class is one, too, if its metaclass has methods of its own."""
    known = instance(vm, variable)
    if known is None and isinstance(variable, Constant):
        meta = type(variable.value)
        if issubclass(meta, type) and vm.classes.of(variable.value) not in PLAIN:
            return Instance(variable, meta)
    return known


# ---- instances ----------------------------------------------------------------------------------


def find(vm: Interpreter, owner: Instance, name: str) -> Found:
    """owner.name. Raises WouldRaise(AttributeError) where nothing answers."""
    cls = owner.cls
    lookup = vm.classes.entry(cls, "__getattribute__")
    if lookup is None or not any(lookup.raw is plain for plain in PLAIN_LOOKUPS):
        raise Break("attribute", name=name, what=f"a {cls.__name__} object")
    fallback = vm.classes.entry(cls, "__getattr__")
    try:
        found = generic(vm, owner, name, hooked=fallback is not None)
    except WouldRaise as missing:
        if fallback is None or not isinstance(missing.error, AttributeError):
            raise
        return Call(method_of(vm, owner, "__getattr__", fallback), [Constant(name)])
    if isinstance(found, Call) and fallback is not None:  # its AttributeError asks, too
        found.otherwise = Call(method_of(vm, owner, "__getattr__", fallback), [Constant(name)])
    return found


def generic(vm: Interpreter, owner: Instance, name: str, hooked: bool = False) -> Found:
    """object.__getattribute__(owner, name). `hooked`: reading a missing one would run code."""
    shared = vm.classes.entry(owner.cls, name)
    if shared is not None and vm.classes.goes_first(shared.raw):
        return bound(vm, owner, name, shared, hooked)
    hooked |= shared is not None and hasattr(type(shared.raw), "__get__")
    own = own_attribute(vm, owner, name, hooked)
    if own is not None:
        return own
    if shared is None:
        text = f"{owner.cls.__name__!r} object has no attribute {name!r}"
        raise WouldRaise(AttributeError(text, name=name))
    return bound(vm, owner, name, shared)


def special(vm: Interpreter, owner: Instance, name: str) -> Variable | None:
    """The method that an instruction calls: the class's, whatever the instance has. None: it has
    none. Raises Break where calling it is more than that."""
    entry = vm.classes.entry(owner.cls, name)
    return None if entry is None else method_of(vm, owner, name, entry)


def method_of(vm: Interpreter, owner: Instance, name: str, entry: Entry) -> Variable:
    method = bound(vm, owner, name, entry)
    if isinstance(method, Call):
        raise Break("attribute", name=name, what=f"a {owner.cls.__name__} object")
    return method


def own_attribute(
    vm: Interpreter, owner: Instance, name: str, hooked: bool = False
) -> Variable | None:
    """What the instance itself has, or None."""
    if name in owner.attributes or owner.source is None:
        return owner.attributes.get(name)
    plain = not hooked and name.isidentifier()
    if plain and vm.classes.entry(owner.cls, name) is None:
        try:  # not by its __dict__: an object whose dict was asked for is slower from then on
            value = object.__getattribute__(owner.value, name)
        except AttributeError:
            pass
        else:
            return vm.lazy(owner.source.attribute(name), value)
    own = own_dictionary(owner.value)
    if own is None:
        return None
    if name in own:
        if plain:
            return vm.lazy(owner.source.attribute(name), own[name])
        text = f"dict.__getitem__({{}}.__dict__, {escape(repr(name))})"
        return vm.lazy(Source(f"{owner.title}.{name}", text, owner.source, True), own[name])
    home = vm.builder.load(owner.source)
    words = f"{owner.title!r} now has its own attribute {name!r}"
    code = f"not dict.__contains__({home}.__dict__, {name!r})"
    expected = f"no own attribute {name!r}"
    vm.builder.add(
        kinds.condition(
            "NOT_PRESENT_IN_DICT", owner.title, code, home, expected, words, vm.builder.origin
        )
    )
    return None


def bound(
    vm: Interpreter, owner: Instance, name: str, entry: Entry, hooked: bool = False
) -> Found:
    """What a class's entry gives when it is read through an instance. `hooked`: as above."""
    raw, kind = entry.raw, type(entry.raw)
    if entry.written is not None:
        return entry.written
    if isinstance(owner.variable, TupleVariable):
        if kind is type(_PAIR.first):
            return owner.variable.items[raw.__reduce__()[1][0]]
        if kind in METHODS_IN_C and entry.where is tuple:
            return MethodVariable(owner.variable, name)
    if kind is FunctionType or kind is CACHED or kind in METHODS_IN_C:
        return MethodVariable(owner.variable, name, vm.look(vm.lazy(entry.source, raw)))
    if kind is staticmethod:
        return vm.lazy(entry.source.attribute("__func__"), raw.__func__)
    if kind is classmethod:
        return _class_method(vm, owner.cls, name, entry)
    if kind is property:
        if raw.fget is None:
            text = f"property {name!r} of {owner.cls.__qualname__!r} object has no getter"
            raise WouldRaise(AttributeError(text))
        return Call(vm.lazy(entry.source.attribute("fget"), raw.fget), [owner.variable])
    if kind is functools.cached_property and raw.attrname == name and has_dictionary(owner.cls):
        return _cached(vm, owner, name, entry)
    if kind is MemberDescriptorType and name != "__dict__":
        return _slot(vm, owner, raw, hooked)
    if kind is enum.property and entry.where is enum.Enum and name in ("name", "value"):
        return generic(vm, owner, f"_{name}_")
    if name == "__dict__" and kind in (GetSetDescriptorType, MemberDescriptorType):
        return dictionary(vm, owner)
    if raw is vars(object)["__class__"]:
        return class_constant(vm, owner.cls)
    getter = vm.classes.entry(kind, "__get__")
    if getter is None:
        return vm.lazy(entry.source, raw)
    if type(getter.raw) is FunctionType and kind is not functools.cached_property:
        args = [vm.lazy(entry.source, raw), owner.variable, class_constant(vm, owner.cls)]
        return Call(vm.lazy(getter.source, getter.raw), args)
    raise Break("attribute", name=name, what=f"a {owner.cls.__name__} object")


def dictionary(vm: Interpreter, owner: Instance) -> Variable:
    """owner.__dict__. From now on a change of one is a change of the other (see `storing.py` and
    `contents.py`)."""
    variable = owner.variable
    inside = owner.source is None
    if type(variable) is not ObjectVariable or inside and has_slots(owner.cls):
        raise Break("attribute", name="__dict__", what=f"a {owner.cls.__name__} object")
    if variable.dictionary is None:
        items: Any = owner.attributes
        made = DictVariable(items) if inside else _given_dictionary(vm, owner)
        made.owner, variable.dictionary = variable, made
    return variable.dictionary


def _given_dictionary(vm: Interpreter, owner: Instance) -> DictVariable:
    """Of an object from outside, with what the region has changed of it. Raises Break for one that
    was read or changed as a dict meanwhile, when nobody knew whose it is."""
    assert owner.source is not None
    where, written = owner.source.attribute("__dict__"), vm.effects.written
    own = object.__getattribute__(owner.value, "__dict__")
    stale = bool(owner.attributes) and id(own) in vm.looker.known
    found = vm.look(vm.lazy(where, own))
    stale |= isinstance(found, DictVariable) and (found.owner is not None or found in written)
    if stale or not isinstance(found, DictVariable):
        raise Break("attribute", name="__dict__", what=f"a {owner.cls.__name__} object, changed")
    for name, value in owner.attributes.items():
        if type(static_entry(owner.cls, name)[1]) is not MemberDescriptorType:
            found.overlay(name, value)
    return found


def _cached(vm: Interpreter, owner: Instance, name: str, entry: Entry) -> Call:
    """The function's value becomes an attribute of the instance's own, found first from then on."""
    from .storing import write  # late: it builds on this

    function = vm.lazy(entry.source.attribute("func"), entry.raw.func)
    keep = lambda value: write(vm, owner, name, value)
    return Call(function, [owner.variable], keep=keep)


def _slot(
    vm: Interpreter, owner: Instance, raw: MemberDescriptorType, hooked: bool
) -> Variable:
    """A `__slots__` entry: data, at a fixed place in the object."""
    name = raw.__name__
    if owner.source is None or name in owner.attributes:
        found = owner.attributes.get(name)
        if found is None:
            raise WouldRaise(AttributeError(name))
        return found
    home, slot = vm.builder.load(owner.source), vm.builder.constant(raw, f"{name}_slot")
    try:
        value = raw.__get__(owner.value)
    except AttributeError as error:
        code = f"{vm.builder.constant(is_unset, 'is_unset')}({slot}, {home})"
        words, expected = f"{owner.title!r} now has {name!r}", f"no attribute {name!r}"
        origin = vm.builder.origin
        vm.builder.add(
            kinds.condition("HASATTR", owner.title, code, home, expected, words, origin)
        )
        raise WouldRaise(error) from None
    if not hooked:
        return vm.lazy(owner.source.attribute(name), value)
    where = Source(f"{owner.title}.{name}", f"{slot}.__get__({{}})", owner.source, True)
    return vm.lazy(where, value)


def find_super(vm: Interpreter, owner: SuperVariable, name: str) -> Found:
    """super().name: the MRO behind a class is asked, never the instance."""
    entry = vm.classes.entry(owner.cls, name, after=owner.after)
    if entry is None or name == "__class__":
        if hasattr(super, name):
            raise Break("attribute", name=name, what="a super object")
        raise WouldRaise(AttributeError(f"'super' object has no attribute {name!r}", name=name))
    if owner.of_class:
        return through_class(vm, owner.cls, name, entry)
    known = asked(vm, owner.owner)
    if known is None:
        raise Break("attribute", name=name, what="a super object")
    return bound(vm, known, name, entry)


def class_constant(vm: Interpreter, cls: type) -> Constant:
    return Constant(cls, home=vm.builder.constant(cls, cls.__name__))


def _class_method(vm: Interpreter, cls: type, name: str, entry: Entry) -> Variable:
    function = vm.look(vm.lazy(entry.source.attribute("__func__"), entry.raw.__func__))
    if not isinstance(function, FunctionVariable):
        raise Break("attribute", name=name, what=f"class {cls.__name__}")
    return MethodVariable(class_constant(vm, cls), name, function)


# ---- classes ------------------------------------------------------------------------------------


def find_in_class(vm: Interpreter, owner: Constant, name: str) -> Found:
    """cls.name: its metaclass may have a data descriptor, or answer when nothing else does."""
    cls, meta = owner.value, vm.classes.of(owner.value)
    if issubclass(meta, enum.EnumMeta) and name in cls.__members__:
        return member(vm, cls.__members__[name])
    lookup = vm.classes.entry(meta, "__getattribute__")
    if lookup is None or lookup.where is not type:
        raise Break("attribute", name=name, what=f"class {cls.__name__}")
    of_meta = vm.classes.entry(meta, name)
    if of_meta is not None and vm.classes.goes_first(of_meta.raw):
        return _of_type(vm, owner, name, of_meta)
    shared = vm.classes.entry(cls, name)
    if shared is not None:
        return through_class(vm, cls, name, shared)
    if of_meta is not None:
        return bound(vm, Instance(owner, meta), name, of_meta)
    if vm.classes.entry(meta, "__getattr__") is not None:
        raise Break("attribute", name=name, what=f"class {cls.__name__}")
    text = f"type object {cls.__name__!r} has no attribute {name!r}"
    raise WouldRaise(AttributeError(text, name=name))


def member(vm: Interpreter, value: enum.Enum) -> Constant:
    """A member of an enum, which it is for ever."""
    hint = f"{type(value).__name__}_{value._name_}"
    return Constant(value, home=vm.builder.constant(value, hint))


def _of_type(vm: Interpreter, owner: Constant, name: str, of_meta: Entry) -> Variable:
    """What `type` itself knows of a class."""
    if name == "__class__":
        return class_constant(vm, type(owner.value))
    if name not in TYPE_FACTS or of_meta.where is not type:
        raise Break("attribute", name=name, what=f"class {owner.value.__name__}")
    home = owner.home or vm.builder.constant(owner.value, owner.value.__name__)
    where = source.constant(owner.value.__name__, home)
    return vm.lazy(where.attribute(name), getattr(owner.value, name))


def through_class(vm: Interpreter, cls: type, name: str, entry: Entry) -> Found:
    """What a class's entry gives when it is read through the class."""
    raw, kind = entry.raw, type(entry.raw)
    if entry.written is not None:
        return entry.written
    if kind is staticmethod:
        return vm.lazy(entry.source.attribute("__func__"), raw.__func__)
    if kind is classmethod:
        return _class_method(vm, cls, name, entry)
    if kind is ClassMethodDescriptorType:
        return MethodVariable(class_constant(vm, cls), name)
    getter = vm.classes.entry(kind, "__get__")
    if getter is None or kind in GIVE_THEMSELVES:
        return vm.lazy(entry.source, raw)
    if type(getter.raw) is FunctionType:
        args = [vm.lazy(entry.source, raw), Constant(None), class_constant(vm, cls)]
        return Call(vm.lazy(getter.source, getter.raw), args)
    raise Break("attribute", name=name, what=f"class {cls.__name__}")
