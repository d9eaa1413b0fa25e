"""Filling what is made anew where a region ends: lists, dicts, cells, objects; and sets.

In: variables whose empty objects have a name already.  Out: lines that fill them.
Invariant: what is made is filled last, so it may contain each other, or itself. A set is made step
by step as it was made, for its order tells all that happened to it; keys with code of their own go
in after everything else, for they are read then.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..guards import GuardBuilder
from .bases import by_base
from .breaks import Break
from .keys import key_variable
from .looking import Looker
from .storing import setting
from .variables import (
    CellVariable,
    DequeVariable,
    DictVariable,
    FunctionVariable,
    KeyVariable,
    ListVariable,
    Mutable,
    ObjectVariable,
    SetVariable,
    TupleVariable,
    Variable,
)


class Filling:
    """The part of `Exit` that fills."""

    builder: GuardBuilder
    looker: Looker
    lines: list[str]
    _made: dict[Variable, str]
    _unfilled: list[Variable]
    _last: list[str]

    def build(self, variable: Variable) -> str:
        raise NotImplementedError

    def _named(self, hint: str, text: str) -> str:
        raise NotImplementedError

    def fill_all(self) -> None:
        while self._unfilled:
            self._fill(self._unfilled.pop(0))
        self.lines += self._last

    def _fill(self, variable: Variable) -> None:
        name = self._made[variable]
        if isinstance(variable, (ListVariable, DequeVariable)):
            items = [self.build(item) for item in self.looker.held(variable)]
            self.lines += [f"{name} += [{', '.join(items)}]"] if items else []
        elif isinstance(variable, DictVariable):
            pairs = [
                (self.build(key_variable(self.builder, key)), self.build(value))
                for key, value in variable.items.items()
            ]
            own = any(isinstance(key, KeyVariable) for key in variable.items)
            for key in variable.items:
                self._must_be_as_it_was(key)
            lines = self._last if own else self.lines  # adding such a key runs code that reads it
            lines += [f"{name}[{key}] = {value}" for key, value in pairs]
        elif isinstance(variable, FunctionVariable):
            for key, given in variable.attributes.items():
                self.lines.append(f"setattr({name}, {key!r}, {self.build(given)})")
        elif isinstance(variable, ObjectVariable):
            self._fill_contents(name, variable.contents)
            for key, item in variable.attributes.items():
                assert item is not None
                text = setting(self.looker.classes, variable.cls, key)
                self.lines.append(text.format(name, self.build(item)))
        elif isinstance(variable, CellVariable) and variable.content is not None:
            self.lines.append(f"{name}.cell_contents = {self.build(variable.content)}")

    def _fill_contents(self, name: str, held: Variable | None) -> None:
        """Of an object that is a list, dict or set as well."""
        if isinstance(held, ListVariable):
            items = [self.build(item) for item in self.looker.items(held)]
            whole = by_base(self.builder, held, "{}.extend({})")
            self.lines += [whole.format(name, f"[{', '.join(items)}]")] if items else []
        elif isinstance(held, DictVariable):
            for key, value in held.items.items():
                if isinstance(key, KeyVariable):
                    raise Break("operation", what="a key with code of its own in what leaves")
                place = self.build(key_variable(self.builder, key))
                text = by_base(self.builder, held, "{}[{}] = {}")
                self.lines.append(text.format(name, place, self.build(value)))
        elif isinstance(held, SetVariable):
            if any(isinstance(key, KeyVariable) for key in held.items):
                raise Break("operation", what="a key with code of its own in what leaves")
            self._repeat_steps(name, held)

    # ---- sets ----

    def _set(self, variable: SetVariable) -> str:
        """Made as it was made, step by step: its order tells all that happened to it."""
        if any(isinstance(key, KeyVariable) for key in variable.items):
            return self._set_of_own_keys(variable)
        text, given = variable.steps[0]
        self._check_operands(variable)
        name = self._named("set_", text.format(*map(self._as_it_was, given)))
        self._repeat_steps(name, variable)
        return name

    def _set_of_own_keys(self, variable: SetVariable) -> str:
        """Filled last of all, for adding a key runs code that reads it."""
        if variable.steps[0] != ("set()", ()):
            raise Break("operation", what="a set of keys with code of their own, made of another")
        name = self._named("set_", "set()")
        for key in variable.items:
            self._must_be_as_it_was(key)
        for template, parts in variable.steps[1:]:
            self._last.append(template.format(name, *map(self._as_it_was, parts)))
        return name

    def _check_operands(self, variable: SetVariable) -> None:
        """Raises Break for a set that is made of one that is filled last of all."""
        parts = [part for _, parts in variable.steps for part in parts]
        sets = [part.items for part in parts if isinstance(part, SetVariable)]
        if any(isinstance(key, KeyVariable) for items in sets for key in items):
            raise Break("operation", what="a set made of keys with code of their own")

    def _must_be_as_it_was(self, key: object) -> None:
        """Raises Break for a key that need not hash and compare as it did when it was put in."""
        if isinstance(key, KeyVariable):
            changed = any(owner.attributes != before for owner, before in key.state)
            deep = any(
                isinstance(value, Mutable) for owner, _ in key.state for value in _parts_of(owner)
            )
            if changed or deep or self.looker.effects.written:
                raise Break("operation", what="a key with code of its own in what leaves")

    def _repeat_steps(self, name: str, variable: SetVariable) -> None:
        for template, parts in variable.steps[1:]:
            self.lines.append(template.format(name, *map(self._as_it_was, parts)))

    def _as_it_was(self, part: Variable) -> str:
        """What a set was made of. Raises Break for one from outside that is another set by now."""
        if isinstance(part, SetVariable) and part in self.looker.effects.written:
            raise Break("operation", what="a set made of one that is changed")
        return self.build(part)


def _parts_of(owner: ObjectVariable) -> Iterator[Variable | None]:
    """What an object's attributes are, and what is in tuples there."""
    todo = [*owner.attributes.values()]
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, TupleVariable):
            todo += value.items
