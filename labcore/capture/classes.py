"""Classes as Python's own lookup reads them: their dictionaries along the MRO.

In: a class and a name.  Out: the `Entry` that counts, raw, as it stands in that dictionary; under
guards that it still is the one.
Invariant: no code of the user's runs, neither `getattr` nor a metaclass is asked.  What is
guarded is how the entry acts (a function, this very descriptor, plain data); its value is bought
later, like any other.
Classes in C and the lab's own do not change, so they cost no guard.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable
from dataclasses import dataclass
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

from ..guards import GuardBuilder, Source, kinds, source
from .breaks import Break
from .variables import Variable

IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT
OURS = __name__.partition(".")[0]
# From `type` itself: a metaclass may answer for its classes.
mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_dictionary: Callable[[type], MappingProxyType[str, Any]] = type.__dict__["__dict__"].__get__
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
PLAIN_METACLASSES: tuple[type, ...] = (type, abc.ABCMeta, enum.EnumMeta)


@dataclass(frozen=True)
class Entry:
    """`raw` is what the dictionary of class `where` has; `source` leads to it. `written`: what the
    region itself has put there instead, which is plain data."""

    where: type
    raw: Any
    source: Source
    written: Variable | None = None


def static_entry(cls: type, name: str) -> tuple[type | None, Any]:
    """The class of the MRO that defines `name`, and its raw value; not guarded."""
    for place in mro(cls):
        own = _dictionary(place)
        if name in own:
            return place, own[name]
    return None, None


def has_dictionary(cls: type) -> bool:
    """May its instances be given any attribute?"""
    return type.__dict__["__dictoffset__"].__get__(cls) != 0


_read: set[int] = set()  # ids of classes of the lab whose Python is read like the user's


def read_class(cls: type) -> type:
    """Have capture read the Python of a class of the lab; a decorator."""
    _read.add(id(cls))
    return cls


def is_read(cls: type) -> bool:
    """Is it a class of the lab whose Python is read?"""
    return id(cls) in _read


def has_slots(cls: type) -> bool:
    return any("__slots__" in _dictionary(place) and _dictionary(place)["__slots__"]
               for place in mro(cls))


# What makes a tuple act as one: a class that changes none of it is a tuple with names.
_TUPLE_LIKE = (
    "__getattribute__ __getitem__ __iter__ __len__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ "
    "__ge__ __hash__ __add__ __mul__ __rmul__ __init__ __setattr__ __bool__ __radd__ __class__"
).split()


def is_named_tuple(cls: type) -> bool:
    """Are its instances tuples and nothing more, but for what their class has?"""
    if tuple not in mro(cls)[1:] or has_dictionary(cls):
        return False
    return all(static_entry(cls, name)[1] is static_entry(tuple, name)[1] for name in _TUPLE_LIKE)


def is_fixed(cls: type) -> bool:
    """Can nobody change this class?"""
    if is_read(cls):
        return False
    return bool(cls.__flags__ & IMMUTABLE_TYPE) or (
        str(_dictionary(cls).get("__module__")).partition(".")[0] == OURS
    )


class Classes:
    """The lookups of one capture; each is guarded where it is first made."""

    def __init__(self, builder: GuardBuilder) -> None:
        self.builder = builder
        self._entries: dict[tuple[int, str, int], Entry | None] = {}
        self._dictionaries: dict[int, str] = {}
        self._written: dict[tuple[int, str], Variable] = {}

    def write(self, cls: type, name: str, value: Variable) -> None:
        """cls.name = value, for plain data."""
        self._written[id(cls), name] = value
        self._entries.clear()

    def entry(self, cls: type, name: str, after: type | None = None) -> Entry | None:
        """What Python finds for `name` along the MRO of `cls`, or None. It begins `after` a class
        there, as super() does."""
        key = id(cls), name, id(after)
        if key not in self._entries:
            self._entries[key] = self._find(cls, name, after)
        return self._entries[key]

    def has(self, cls: type, name: str) -> bool:
        """Is there such an attribute? Under a guard of its own for a function, as long as nobody
        looks at it."""
        found = self.entry(cls, name)
        if found is None:
            return False
        if type(found.raw) is FunctionType and not is_fixed(found.where):
            title, own = found.where.__name__, self._named(found.where)
            code, words = f"{name!r} in {own}", f"class {title} has no attribute {name!r} any more"
            expected, origin = f"the attribute {name!r}", self.builder.origin
            self.builder.add(
                kinds.condition("HASATTR", title, code, own, expected, words, origin)
            )
        return True

    def of(self, value: Any) -> type:
        """The class of what is known by identity: a class, an enum's member, a module. Guarded
        where a program may assign another one to it."""
        kind = type(value)
        if kind is not ModuleType and is_fixed(kind):
            return kind
        name = getattr(value, "__name__" if issubclass(kind, (type, ModuleType)) else "_name_", "")
        name = str(name or kind.__name__)
        own, cls = self.builder.constant(value, name), self.builder.constant(kind, kind.__name__)
        self.builder.add(kinds.type_match(name, own, value, cls, self.builder.origin))
        return kind

    def is_data_descriptor(self, raw: Any) -> bool:
        return any(self.has(type(raw), name) for name in ("__set__", "__delete__"))

    def goes_first(self, raw: Any) -> bool:
        """Is it asked before the instance's own attributes are?"""
        return self.is_data_descriptor(raw) and self.is_descriptor(raw)

    def is_descriptor(self, raw: Any) -> bool:
        return self.has(type(raw), "__get__")

    def is_abstract(self, cls: type) -> bool:
        """Has it abstract methods left? ABCMeta decides that once, a program may again."""
        found, name = bool(_flags(cls) & ABSTRACT), cls.__name__
        if not is_fixed(cls):
            flags, own = self.builder.constant(_flags, "flags"), self.builder.constant(cls, name)
            code = f"{'' if found else 'not '}{flags}({own}) & {ABSTRACT}"
            expected = "abstract" if found else "not abstract"
            words, origin = f"class {name} is no longer {expected}", self.builder.origin
            self.builder.add(
                kinds.condition("CLASS_ATTRIBUTE", name, code, own, expected, words, origin)
            )
        return found

    def _find(self, cls: type, name: str, after: type | None) -> Entry | None:
        line = mro(cls)
        self.same_line(cls)
        first = 0 if after is None else 1 + [id(c) for c in line].index(id(after))
        for place in line[first:]:
            written = self._written.get((id(place), name))
            if written is not None:
                return Entry(place, None, source.constant(name, "None"), written)
            own = _dictionary(place)
            if name in own:
                return self._hit(place, name, own[name])
            if not is_fixed(place):
                self._absent(place, name)
        return None

    def _hit(self, place: type, name: str, raw: Any) -> Entry:
        title = f"{place.__name__}.{name}"
        if is_fixed(place):
            return Entry(place, raw, source.constant(title, self.builder.constant(raw, name)))
        where = f"{self._named(place)}[{name!r}]"
        if type(raw) is not FunctionType:  # a function is guarded by its code, when it is looked at
            acts, shown = self._acts(where, raw)
            self.builder.add(
                kinds.class_attribute(title, acts, where, shown, self.builder.origin)
            )
        return Entry(place, raw, Source(title, where, fallible=True))

    def _acts(self, where: str, raw: Any) -> tuple[str, str]:
        """(a condition that it still acts alike, what that is): this very descriptor, or plain
        data of this type."""
        kind = type(raw)
        if self.is_descriptor(raw):
            return f"{where} is {self.builder.constant(raw, kind.__name__)}", kind.__name__
        return f"type({where}) is {self.builder.constant(kind, kind.__name__)}", kind.__name__

    def _absent(self, place: type, name: str) -> None:
        title, own = place.__name__, self._named(place)
        code, words = f"{name!r} not in {own}", f"class {title} now has the attribute {name!r}"
        expected, origin = f"no attribute {name!r}", self.builder.origin
        self.builder.add(
            kinds.condition("NOT_PRESENT_IN_DICT", title, code, own, expected, words, origin)
        )

    def same_line(self, cls: type) -> None:
        """The bases of a class may be exchanged, unless `object` is its only one."""
        line = mro(cls)
        if len(line) <= 2 or is_fixed(cls):
            return
        if type(cls) not in PLAIN_METACLASSES and _answers_itself(type(cls)):
            raise Break("operation", what=f"class {cls.__name__}, whose metaclass answers for it")
        name = cls.__name__
        bases, own = self.builder.constant(line, f"{name}_mro"), self.builder.constant(cls, name)
        code, words = f"{own}.__mro__ is {bases}", f"class {name} has other bases now"
        origin = self.builder.origin
        self.builder.add(kinds.condition("ID_MATCH", name, code, own, "these bases", words, origin))

    def _named(self, place: type) -> str:
        """The check's name of a class's dictionary."""
        if id(place) not in self._dictionaries:
            hint = f"{place.__name__}_dict"
            self._dictionaries[id(place)] = self.builder.constant(_dictionary(place), hint)
        return self._dictionaries[id(place)]


def _answers_itself(meta: type) -> bool:
    return (
        static_entry(meta, "__getattribute__")[0] is not type
        or static_entry(meta, "__mro__")[0] is not type
    )


def own_dictionary(value: Any) -> dict[str, Any] | None:
    """A real object's own attributes; None when it has no dictionary. Attribute lookup does not ask
    the methods of a subclass of dict that stands in for it."""
    kind = type(static_entry(type(value), "__dict__")[1])
    if kind not in (GetSetDescriptorType, MemberDescriptorType):
        return None
    own = object.__getattribute__(value, "__dict__")
    return own if type(own) is dict else dict.copy(own)


def is_unset(slot: MemberDescriptorType, owner: Any) -> bool:
    """Has the object nothing in this slot? Whatever its class does about that is not run."""
    try:
        slot.__get__(owner)
    except AttributeError:
        return True
    return False
