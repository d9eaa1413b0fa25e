"""What lists, dicts, sets and iterators hold: read under guards, changed in the variable only.

In: a container's variable.  Out: variables of what is in it, as it is at this point of the program.
Invariant: what was read is guarded, not what was reached: an append asks for no length, `d[k] = v`
for no keys.  Guards are asked at the start of a region, so they are about the object as it came in.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ..guards import GuardBuilder, Source, kinds
from .bases import by_base
from .breaks import Break, WouldRaise
from .classes import has_slots, own_dictionary
from .effects import Effects
from .keys import held, is_constant_key, key_text, key_variable
from .numbers import Numbers, Varying, lifted
from .peeking import apart, goes_over, peek
from .presence import Presence
from .variables import (
    DequeVariable,
    DictVariable,
    IdVariable,
    KeyVariable,
    Lazy,
    ListVariable,
    LiveIterator,
    Mutable,
    NumberVariable,
    ObjectVariable,
    SetVariable,
    Variable,
)

NUMBERS = (int, float, complex)


class Contents:
    """The part of `Looker` that reads containers."""

    builder: GuardBuilder
    varying: Varying
    numbers: Numbers
    presence: Presence
    known: dict[int, Variable]
    ids: dict[Variable, IdVariable]
    effects: Effects

    def lazy(self, source: Source, value: Any) -> Lazy:
        raise NotImplementedError

    def look(self, variable: Variable) -> Variable:
        raise NotImplementedError

    def length(self, name: str, home: str, length: int) -> None:
        self.varying.refuse(f"len({name})")
        self.builder.add(kinds.length_match(name, home, length, self.builder.origin))

    def write(self, owner: Mutable, template: str, *parts: Variable) -> None:
        """`owner` changes now; the real one does at the end of the region. Raises Break where a
        real iterator is on its way through it: that would see other items; and for a `__dict__`
        whose object has other attributes besides, or that changes otherwise than key by key."""
        whose = owner.owner if isinstance(owner, DictVariable) and owner.outside else None
        if whose is not None and (has_slots(whose.cls) or "[" not in template):
            raise Break("mutation", what=f"the __dict__ of {whose.place.name}")
        live = [v for v in self.known.values() if isinstance(v, LiveIterator)]
        if owner.outside and any(_goes_over(iterator, owner.whole or owner) for iterator in live):
            raise Break("mutation", what=f"a {owner.kind} that is being iterated")
        if owner.whole is not None:
            template = by_base(self.builder, owner, template)
        self.effects.write(owner, template, *parts)
        if isinstance(owner, SetVariable) and not owner.outside:
            owner.steps.append((template, parts))

    # ---- lists and deques ----

    def symbolic_length(self, variable: ListVariable | DequeVariable) -> Variable | None:
        """len() of a list or deque from outside that was seen to have other lengths: an input."""
        if not variable.outside or variable.items is not None:
            return None
        source, length = variable.place.length(), len(variable.value)
        if not self.numbers.wanted(source, length):
            return None
        found = self.look(self.lazy(source, length))
        assert isinstance(found, NumberVariable)
        return lifted(found.number + len(variable.tail)) if variable.tail else found

    def items(self, variable: ListVariable) -> list[Variable]:
        """A list's items, guarding its length now that it matters."""
        if variable.items is None:
            variable.items, variable.tail = [*self._given_items(variable), *variable.tail], []
        return variable.items

    def queue(self, variable: DequeVariable) -> deque[Variable]:
        """A deque's items, as `items`."""
        if variable.items is None:
            items = [*self._given_items(variable), *variable.tail]
            variable.items, variable.tail = deque(items, variable.maxlen), []
        return variable.items

    def held(self, variable: ListVariable | DequeVariable) -> Sequence[Variable]:
        """The items of either."""
        if isinstance(variable, DequeVariable):
            return self.queue(variable)
        return self.items(variable)

    def _given_items(self, variable: ListVariable | DequeVariable) -> list[Lazy]:
        """The items that one from outside came in with."""
        source = variable.place
        self.length(source.name, variable.home, len(variable.value))
        return [self.lazy(source.item(n), v) for n, v in enumerate(variable.value)]

    def append(self, variable: ListVariable, value: Variable) -> None:
        """`variable.append(value)`."""
        self.write(variable, "{}.append({})", value)
        (variable.tail if variable.items is None else variable.items).append(value)

    # ---- real iterators ----

    def moved(self) -> list[LiveIterator]:
        """Those that something was taken from."""
        live = [v for v in self.known.values() if isinstance(v, LiveIterator)]
        return [iterator for iterator in live if iterator.taken or iterator.ended]

    def next_item(self, iterator: LiveIterator) -> Variable | None:
        """The next item of a real iterator, or None; guarded by there being one."""
        if iterator.ended:
            return None
        written = [changed for changed in self.effects.written if changed.outside]
        if any(_goes_over(iterator, changed) for changed in written):
            raise Break("mutation", what="what is being iterated")
        others = [moved.value for moved in self.moved() if moved is not iterator]
        if not apart(iterator.value, *others):
            raise Break("operation", what="an iterator that another one takes from")
        ahead = peek(iterator.value, iterator.taken + 1)
        name, taken = iterator.source.name, iterator.taken
        function = self.builder.constant(peek, "peek")
        items = Source(f"next of {name}", f"{function}({{}}, {taken + 1})", iterator.source, True)
        home, more = self.builder.load(items), len(ahead) > taken
        code = f"len({home}) {'>' if more else '<='} {taken}"
        words = f"{name!r} has {'no' if more else 'one'} more item"
        expected = f"{'one' if more else 'no'} more item"
        self._condition("ITERATOR_MATCH", name, code, home, expected, words)
        self.effects.add("next({})" if more else "next({}, None)", iterator)
        if not more:
            iterator.ended = True
            return None
        iterator.taken += 1
        return self.lazy(Source(name, f"{{}}[{taken}]", items), ahead[taken])

    # ---- dicts: key by key, until somebody asks for all of them ----

    def has_key(self, variable: DictVariable, key: Any) -> bool:
        """`key in variable`."""
        self._all_keys(variable, key)
        if variable.complete or key in variable.items or key in variable.gone:
            return key in variable.items
        return self._had_key(variable, key)

    def _all_keys(self, variable: DictVariable, key: Any) -> None:
        """A key with code of its own may equal any of them."""
        self._apart_from_ids(variable, key)
        if isinstance(key, KeyVariable) and not variable.complete:
            self.dict_items(variable)

    def _apart_from_ids(self, variable: DictVariable | SetVariable, *keys: Any) -> None:
        """Raises Break where an id would stand beside a number of the program's: whether they are
        equal is another matter at each call."""
        together = [*variable.items, *keys] if self.ids else []
        if any(isinstance(key, IdVariable) for key in together):
            if any(isinstance(key, NUMBERS) for key in together):
                raise Break("operation", what="an id among numbers, as a key")

    def _settle(self, variable: DictVariable | SetVariable, key: Any) -> None:
        """A key with code of its own, or among such, has to be found before anything changes.
        Raises Break for a container from outside: at the end of the region the code would run."""
        if isinstance(key, KeyVariable):
            if variable.outside:
                raise Break("mutation", what=f"a {variable.kind}, by a key with code of its own")
        self._apart_from_ids(variable, key)
        _ = key in variable.items

    def _had_key(self, variable: DictVariable | SetVariable, key: Any) -> bool:
        """Did one from outside have the key when it came in?"""
        if isinstance(key, Variable) and not key.home:
            return False
        hit = held(key) in variable.value
        name, home, text = variable.place.name, variable.home, key_text(self.builder, key)
        code = f"{text} {'' if hit else 'not '}in {home}"
        words = f"{name!r} {'no longer' if hit else 'now'} has the key {text}"
        expected = f"{'' if hit else 'no '}key {text}"
        self._condition("DICT_CONTAINS", name, code, home, expected, words)
        return hit

    def item(self, variable: DictVariable, key: Any) -> Variable:
        """`variable[key]`. Raises WouldRaise when it has no such key."""
        self._all_keys(variable, key)
        if key in variable.items:
            return variable.items[key]
        gone = variable.complete or key in variable.gone
        if not gone and (variable.cls is defaultdict or variable.whole is not None):
            self.has_key(variable, key)  # first, for reading what is missing would run code
        if gone or held(key) not in variable.value:
            self.has_key(variable, key)
            raise WouldRaise(KeyError(held(key)), exact=not isinstance(key, Variable))
        return self.presence.asked_for(self._given(variable, key))

    def _given(self, variable: DictVariable, key: Any) -> Lazy:
        """The item that one from outside came in with."""
        text = key_text(self.builder, key)
        source = variable.place.item_at(text)
        return self.lazy(source, variable.value[held(key)])

    def dict_items(self, variable: DictVariable) -> dict[Any, Variable]:
        """All items in order, guarding which keys there were."""
        if not variable.complete:
            self.keys(variable.place.name, variable.home, variable.value)
            ordered = variable.cls is OrderedDict  # which has ways of its own to go through it
            items: dict[Any, Variable] = OrderedDict() if ordered else {}
            items.update((key, self._given(variable, key)) for key in variable.value)
            for key, value in variable.changes:
                if value is None:
                    del items[key]
                else:
                    items[key] = value
            variable.items, variable.complete = items, True
            variable.gone.clear()
            variable.changes.clear()
        self._apart_from_ids(variable)
        return variable.items

    def keys(self, name: str, home: str, value: Collection[Any]) -> None:
        """Guard which keys there are, and their order."""
        if not all(map(is_constant_key, value)):
            raise Break("operation", what=f"iteration over {name!r}, whose keys are objects")
        self.varying.refuse(f"keys({name})")
        keys = wanted = list(value)
        compared = home
        texts = bool(keys) and all(type(key) is str for key in keys)
        if not texts:
            wanted = list(map(kinds.exact, keys))
            compared = f"map({self.builder.constant(kinds.exact, 'exact')}, {home})"
        constant, origin = self.builder.constant(wanted, f"{name}_keys"), self.builder.origin
        code = f"list({compared}) == {constant}"
        if texts:  # and none of a class of its own, such as an enum's
            code += f" and {{*map(type, {home})}} == {self.builder.constant({str}, 'texts')}"
        self.builder.add(kinds.keys_match(name, home, keys, code, origin))

    def mapping_length(self, variable: DictVariable) -> int:
        """len(variable); of one from outside that was not changed it guards no more than that."""
        if variable.complete or variable.changes:
            return len(self.dict_items(variable))
        self.length(variable.place.name, variable.home, len(variable.value))
        return len(variable.value)

    def set_item(self, variable: DictVariable, key: Any, value: Variable) -> None:
        """`variable[key] = value`."""
        self._settle(variable, key)
        self.write(variable, "{}[{}] = {}", key_variable(self.builder, key), value)
        self._overlay(variable, key, value)

    def delete_item(self, variable: DictVariable, key: Any) -> Variable:
        """`del variable[key]`: what it was. Raises WouldRaise when there is none."""
        found = self.item(variable, key)
        self._settle(variable, key)
        self.write(variable, "del {}[{}]", key_variable(self.builder, key))
        self._overlay(variable, key, None)
        return found

    def _overlay(self, variable: DictVariable, key: Any, value: Variable | None) -> None:
        variable.overlay(key, value)
        if variable.owner is not None and variable.outside:
            variable.owner.attributes[key] = value

    # ---- sets ----

    def is_member(self, variable: SetVariable, key: Any) -> bool:
        """`key in variable`."""
        self._apart_from_ids(variable, key)
        if isinstance(key, KeyVariable):  # which may equal any of them
            return key in self.elements(variable)
        if variable.complete or key in variable.items or key in variable.gone:
            return key in variable.items
        return self._had_key(variable, key)

    def elements(self, variable: SetVariable) -> set[Any]:
        """All of a set's keys. Raises Break for one from outside that was changed: the order in
        which it goes through its elements depends on more than what they are; and for ids."""
        if any(isinstance(key, IdVariable) for key in variable.items):
            raise Break("operation", what="all elements of a set of ids")
        if not variable.complete:
            if variable.items or variable.gone:
                raise Break("operation", what="all elements of a set that was changed")
            self.keys(variable.place.name, variable.home, variable.value)
            return variable.value
        return variable.items

    def one_by_one(self, variable: SetVariable) -> Iterator[Any]:
        """The keys of a set that may change meanwhile, as CPython goes through it. Raises Break
        when one from outside does: nothing in here has its order then."""
        if variable.complete:
            return iter(variable.items)
        return self._unchanged(variable)

    def _unchanged(self, variable: SetVariable) -> Iterator[Any]:
        for key in self.elements(variable):
            if variable.complete or variable.items or variable.gone:
                break
            yield key
        if variable.complete or variable.items or variable.gone:
            raise Break("mutation", what="a set that is being iterated")

    def ordered(self, variable: SetVariable) -> list[Variable]:
        """A set's elements in their order. Raises Break when that is by where objects lie in
        memory."""
        keys = list(self.elements(variable))
        if len(keys) > 1 and any(map(_lies_somewhere, keys)):
            raise Break("operation", what="iteration over a set of objects")
        return [key_variable(self.builder, key) for key in keys]

    def set_length(self, variable: SetVariable) -> int:
        """len(variable)."""
        if variable.complete:
            self._apart_from_ids(variable)
            return len(variable.items)
        self.length(variable.place.name, variable.home, len(variable.value))
        more = sum(not self._had_key(variable, key) for key in variable.items)
        return len(variable.value) + more - sum(self._had_key(variable, k) for k in variable.gone)

    def put_in(self, variable: SetVariable, key: Any) -> None:
        """`variable.add(key)`."""
        self._settle(variable, key)
        self.write(variable, "{}.add({})", key_variable(self.builder, key))
        variable.items.add(key)
        variable.gone.discard(key)

    def take_out(self, variable: SetVariable, key: Any) -> None:
        """`variable.discard(key)`."""
        self._settle(variable, key)
        self.write(variable, "{}.discard({})", key_variable(self.builder, key))
        variable.items.discard(key)
        if not variable.complete:
            variable.gone.add(key)

    def _condition(
        self, type_: str, name: str, code: str, home: str, expected: str, words: str
    ) -> None:
        self.builder.add(
            kinds.condition(type_, name, code, home, expected, words, self.builder.origin)
        )


def _goes_over(iterator: LiveIterator, changed: Mutable) -> bool:
    """Is it on its way through what changes: the object itself, or its `__dict__`?"""
    own = own_dictionary(changed.value) if isinstance(changed, ObjectVariable) else None
    return any(goes_over(iterator.value, each) for each in (changed.value, own))


def _lies_somewhere(key: Any) -> bool:
    """Is its hash its place in memory?"""
    if isinstance(key, KeyVariable) and key.parts is not None:
        return any(map(_lies_somewhere, key.parts))
    return isinstance(key, Variable) and not isinstance(key, KeyVariable)
