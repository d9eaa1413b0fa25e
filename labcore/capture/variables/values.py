"""Values as capture knows them.

Invariant: a `Lazy` has not been looked at, so nothing about it is guarded; whoever looks (see
`looking.py`) pays with a guard.
`home` is the variable of the generated code that holds the value, or "" for one that was made
inside.
PyTorch has some eighty VariableTracker classes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...graph import Node, TensorMeta
from ...guards import Source


@dataclass(eq=False, slots=True)
class Variable:
    """Base: something on the symbolic stack."""

    home: str = field(default="", kw_only=True)

    @property
    def kind(self) -> str:
        """What it is, for people."""
        return type(self).__name__.removesuffix("Variable").lower()


@dataclass(eq=False, slots=True)
class Mutable(Variable):
    """Base: what can be changed in place. One from outside has its `value`, which stays as it
    was, and `source`; what the region changed of it is in the fields of its class. `whole`: the
    object of a user's class whose contents these are."""

    value: Any = field(default=None, kw_only=True)
    source: Source | None = field(default=None, kw_only=True)
    whole: ObjectVariable | None = field(default=None, kw_only=True)

    @property
    def outside(self) -> bool:
        """Did it exist before the region?"""
        return self.value is not None

    @property
    def place(self) -> Source:
        """The source of one from outside."""
        assert self.source is not None
        return self.source


@dataclass(eq=False, slots=True)
class Lazy(Variable):
    """A value that exists at the call and was not looked at; `seen` is what it turned out to be."""

    source: Source
    value: Any
    seen: Variable | None = None


@dataclass(eq=False, slots=True)
class Constant(Variable):
    """A Python value that is part of the variant: an atom, a builtin, a class, a module, an
    operator."""

    value: Any

    @property
    def kind(self) -> str:
        return type(self.value).__name__


@dataclass(eq=False, slots=True)
class TensorVariable(Variable):
    """A tensor: an input (`value`, and its placeholder once an operator reads it) or a node of
    the graph. `grad` is what the region set it to."""

    meta: TensorMeta
    node: Node | None = None
    source: Source | None = None
    value: Any = None
    grad: Variable | None = None

    @property
    def kind(self) -> str:
        return "Tensor"


@dataclass(eq=False, slots=True)
class TupleVariable(Variable):
    """A tuple, from outside (with a home) or built inside. `value` is the one from outside; `cls`
    is tuple, Size, or a named tuple's class."""

    items: list[Variable]
    value: Any = None
    cls: type = field(default=tuple, kw_only=True)


@dataclass(eq=False, slots=True)
class ListVariable(Mutable):
    """A list. `items` is None until somebody reads one from outside, so its length is not
    guarded; what it was given before that waits in `tail`."""

    items: list[Variable] | None
    tail: list[Variable] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class DequeVariable(Mutable):
    """A collections.deque, kept as a list is; `items` is a real one, with the same limit."""

    items: deque[Variable] | None
    tail: list[Variable] = field(default_factory=list)

    @property
    def maxlen(self) -> int | None:
        limit: int | None = (self.value if self.items is None else self.items).maxlen
        return limit


@dataclass(eq=False, slots=True)
class BytearrayVariable(Mutable):
    """A bytearray; `items` is a real one, with what happened to it."""

    items: bytearray


@dataclass(eq=False, slots=True)
class DictVariable(Mutable):
    """A dict, by key (see `keys.py`). One from outside is not `complete` until somebody asks which
    keys there are: `items` are those written meanwhile, `gone` those deleted, and `changes` all of
    it in order, with None for a deletion. `cls` may be OrderedDict, or defaultdict, whose `factory`
    gives what is missing. `owner`: the object whose `__dict__` it is; if that was made inside,
    `items` are its attributes themselves."""

    items: dict[Any, Variable]
    complete: bool = True
    gone: set[Any] = field(default_factory=set)
    changes: list[tuple[Any, Variable | None]] = field(default_factory=list)
    cls: type = field(default=dict, kw_only=True)
    factory: Variable | None = field(default=None, kw_only=True)
    owner: ObjectVariable | None = field(default=None, kw_only=True)

    @property
    def kind(self) -> str:
        return self.cls.__name__

    def overlay(self, key: Any, value: Variable | None) -> None:
        """The key has a value now; or, with None, it is deleted."""
        if value is None:
            self.items.pop(key, None)
        else:
            self.items[key] = value
        if not self.complete:
            self.changes.append((key, value))
            (self.gone.add if value is None else self.gone.discard)(key)


@dataclass(eq=False, slots=True)
class SetVariable(Mutable):
    """A set, by key (see `keys.py`): `items` is a real set, to which happens what happens to the
    one it stands for, so that it goes through its elements in CPython's order. One from outside is
    not `complete` until somebody asks for all: `items` are those put in, `gone` those taken out.
    One made inside has the `steps` that made it: an expression, then what was done to it."""

    items: set[Any]
    complete: bool = True
    gone: set[Any] = field(default_factory=set)
    steps: list[tuple[str, tuple[Variable, ...]]] = field(default_factory=lambda: [("set()", ())])

    def frozen(self) -> SetVariable:
        """The set as it is now, for one that is made of it: what happens to this one later does not
        matter. One from outside is itself."""
        return self if self.outside else SetVariable(self.items, steps=[*self.steps])


@dataclass(eq=False, slots=True)
class KeyVariable(Variable):
    """A key that hashes or compares by code of the user's: `number` is the hash of the object `of`,
    and `asks` tells whether that equals another key (or raises, see `keys.py`). A tuple has its
    `parts`. `state`: the objects in it, each with its attributes as they were."""

    of: Variable
    number: int
    asks: Callable[[Variable, Any], bool]
    parts: tuple[Any, ...] | None = None
    state: list[tuple[ObjectVariable, dict[str, Variable | None]]] = field(default_factory=list)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if self is other or isinstance(other, KeyVariable) and self.of is other.of:
            return True
        if self.parts is not None:
            return self.parts == (other.parts if isinstance(other, KeyVariable) else other)
        return self.asks(self.of, other)


@dataclass(eq=False, slots=True)
class IdVariable(Variable):
    """id(of): a number that is only known when the program runs; equal for one object. A key is the
    one such variable of its object, with Python for the number as its `home`."""

    of: Variable


@dataclass(eq=False, slots=True)
class ModeVariable(Variable):
    """The lab's flags for grad mode and inference mode; their values are the region's `modes`."""


@dataclass(eq=False, slots=True)
class SliceVariable(Variable):
    """`start:stop:step` in a subscript, or an object slice(start, stop, step)."""

    NAMES: ClassVar = ("start", "stop", "step")
    parts: Sequence[Variable]
    value: Any = field(default=None, kw_only=True)


@dataclass(eq=False, slots=True)
class IteratorVariable(Variable):
    """An iterator made inside, over `items`: a list's own, so it sees what the list is given later.

    `step` is -1 for reversed(). Once it is exhausted it stays so.  `sequence` is what it came from,
    when a real iterator can be made of that.
    """

    items: list[Variable]
    index: int = 0
    step: int = 1
    sequence: Variable | None = None

    @property
    def kind(self) -> str:
        return "iterator"

    def advance(self) -> Variable | None:
        """The next item, or None at the end."""
        if not 0 <= self.index < len(self.items):
            self.items, self.sequence = [], None
            return None
        found = self.items[self.index]
        self.index += self.step
        return found


@dataclass(eq=False, slots=True)
class KeysVariable(IteratorVariable):
    """An iterator over a dict's keys, values or items, a set or a deque: a real one over what the
    variable holds, so that it sees, and says, what CPython's does when they change meanwhile.
    `item` gives the variable for a key."""

    keys: Iterator[Any] = field(kw_only=True)
    item: Callable[[Any], Variable] = field(kw_only=True)

    def advance(self) -> Variable | None:
        for key in self.keys:
            return self.item(key)
        return None


@dataclass(eq=False, slots=True)
class LiveIterator(Variable):
    """An iterator from outside that `peeking` can look into: peeked at under guards, advanced where
    the region ends. `taken` items so far; `ended`: and then it was exhausted."""

    value: Any
    source: Source
    taken: int = 0
    ended: bool = False

    @property
    def kind(self) -> str:
        return "iterator"


@dataclass(eq=False, slots=True)
class ViewVariable(Variable):
    """keys(), values() or items() of a dict, as the dict is when they are looked at."""

    owner: DictVariable
    name: str


@dataclass(eq=False, slots=True)
class ObjectVariable(Mutable):
    """An object of class `cls`: from outside, its type guarded and each attribute when it is read;
    or made inside, and then without a value. `attributes` are those written inside, None a deleted
    one; `dictionary` is its `__dict__`, once somebody asked for that, and `contents` what it holds
    as an instance of a builtin class as well (see `bases.py`)."""

    cls: type
    attributes: dict[str, Variable | None] = field(default_factory=dict)
    dictionary: DictVariable | None = None
    contents: Variable | None = None

    @property
    def kind(self) -> str:
        return f"{self.cls.__name__} object"


@dataclass(eq=False, slots=True)
class NamespaceVariable(Mutable):
    """A module's globals. `names` are those written inside, None a deleted one."""

    names: dict[str, Variable | None] = field(default_factory=dict)
