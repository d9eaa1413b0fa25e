"""Which objects have to stay different ones.

In: what a region has looked at, changed and used as keys.  Out: guards that no two of them are one
object where that would show.  That two were one is guarded where the second is met (`looking.py`).
Invariant: objects that were only read may become one; nobody could tell. (What the program asks
`is` of is guarded where it asks.)
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from ..guards import kinds
from .breaks import Break
from .bytecode import V13
from .classes import own_dictionary
from .contents import apart, goes_over
from .variables import (
    DictVariable,
    ListVariable,
    LiveIterator,
    Mutable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
)

if TYPE_CHECKING:
    from .looking import Looker


def keep_apart(looker: Looker, inputs_are_written: bool) -> None:
    """Raises Break for what is one object in a way that capture does not follow."""
    _each_its_own(looker)
    _dictionaries_apart(looker)
    _no_shared_dictionary(looker)
    _iterators_apart(looker)
    _tensors_apart(looker, inputs_are_written)


def _tensors_apart(looker: Looker, inputs_are_written: bool) -> None:
    """Each tensor is another one, except that what is only read of objects' attributes, as a
    model's parameters are, may be one tensor in two places: that gives the same numbers, and the
    same gradients. PyTorch leaves parameters out, too; what the call itself brings is another
    variant there whenever it is one tensor twice."""
    told = inputs_are_written or any(isinstance(v, TensorVariable) for v in looker.distinct)
    tensors = [
        (tensor.home, tensor.source.name)
        for tensor in looker.tensors
        if tensor.source and (told or not tensor.source.is_attribute)
    ]
    if len(tensors) > 1:
        names = ", ".join(name for _, name in tensors)
        words = f"{names}: one tensor is passed more than once"
        _different(looker, "NO_TENSOR_ALIASING", tensors, "different tensors", words)


def _each_its_own(looker: Looker) -> None:
    """An object that is changed, or is a key, must not be what another one was taken for."""
    alone: set[Any] = {*looker.effects.written, *looker.distinct}
    groups: dict[Any, list[Mutable]] = {}
    for variable in looker.known.values():
        if isinstance(variable, Mutable):
            groups.setdefault(type(variable.value), []).append(variable)
    for group in groups.values():
        if len(group) > 1 and any(variable in alone for variable in group):
            homes = [(v.home or looker.builder.load(v.place), v.place.name) for v in group]
            names = ", ".join(name for _, name in homes)
            words = f"{names}: one {group[0].kind} is reached twice now"
            _different(looker, "DUPLICATE_INPUT", homes, "different", words)


def _different(
    looker: Looker, type_: str, objects: list[tuple[str, str]], expected: str, words: str
) -> None:
    homes, names = [home for home, _ in objects], ", ".join(name for _, name in objects)
    code = f"{homes[0]} is not {homes[1]}"
    if len(homes) > 2:
        tensors = type_ == "NO_TENSOR_ALIASING"  # two of them are one key if they are one object
        keys = homes if tensors else [f"id({home})" for home in homes]
        code = f"len({{{', '.join(keys)}}}) == {len(homes)}"
    origin = looker.builder.met_at(homes[-1])
    looker.builder.add(kinds.condition(type_, names, code, homes[0], expected, words, origin))


def _dictionaries_apart(looker: Looker) -> None:
    """A dict is no object's `__dict__`, when one of the two changes."""
    known = looker.known.values()
    dicts = [v for v in known if isinstance(v, DictVariable)]
    owners = [v for v in known if isinstance(v, ObjectVariable) and v.cls.__dictoffset__]
    written = looker.effects.written
    for one in dicts:
        for owner in owners:
            if one is not owner.dictionary and (one in written or owner in written):
                if own_dictionary(owner.value) is one.value:
                    raise Break("mutation", what=f"the __dict__ of {owner.place.name}")
                code = f"{owner.home}.__dict__ is not {one.home}"
                names = f"{one.place.name}, {owner.place.name}.__dict__"
                words = f"{one.place.name!r} is the dict of {owner.place.name!r} now"
                origin = looker.builder.met_at(one.home)
                looker.builder.add(
                    kinds.condition(
                        "DUPLICATE_INPUT", names, code, one.home, "different", words, origin
                    )
                )


def _no_shared_dictionary(looker: Looker) -> None:
    """Two objects do not have one `__dict__`, when it changes. Raises Break where they do."""
    known = looker.known.values()
    owners = [v for v in known if isinstance(v, ObjectVariable) and v.cls.__dictoffset__]
    if len(owners) < 2 or not any(owner in looker.effects.written for owner in owners):
        return
    names = ", ".join(owner.place.name for owner in owners)
    if not have_own_dictionaries(*(owner.value for owner in owners)):
        raise Break("mutation", what=f"a __dict__ that two of {names} share")
    function = looker.builder.constant(have_own_dictionaries, "have_own_dictionaries")
    code, home = f"{function}({', '.join(owner.home for owner in owners)})", owners[-1].home
    words, origin = f"{names}: two share their __dict__ now", looker.builder.met_at(home)
    expected = "a __dict__ each"
    looker.builder.add(
        kinds.condition("DUPLICATE_INPUT", names, code, home, expected, words, origin)
    )


def have_own_dictionaries(*objects: Any) -> bool:
    """Has each of some different objects a `__dict__` of its own, or none?"""
    holders: dict[int, list[Any]] = {}  # of a dict, as their own or as an attribute
    for value in objects:
        for held in _dictionaries(value):
            others = holders.setdefault(id(held), [])
            if any(other is not value and _one_dictionary(other, value) for other in others):
                return False
            others.append(value)
    return True


def _dictionaries(value: Any) -> list[Any]:
    """An object's `__dict__`, perhaps among others. Before Python 3.13 it is only looked for: who
    asks for it makes it, and all attributes slower."""
    if V13:
        return [own_dictionary(value)]
    return [each for each in gc.get_referents(value) if type(each) is dict]


def _one_dictionary(one: Any, other: Any) -> bool:
    own = own_dictionary(one)
    return own is not None and own is own_dictionary(other)


def _iterators_apart(looker: Looker) -> None:
    """What is taken from one iterator is not taken from another, nor from what changes."""
    moved = looker.moved()
    for written in looker.effects.written:
        if isinstance(written, (ListVariable, DictVariable, SetVariable, ObjectVariable)):
            for iterator in moved:
                _not_iterated(looker, written, iterator)
    if len(moved) > 1 or any(type(iterator.value) is zip for iterator in moved):
        homes = ", ".join(iterator.home for iterator in moved)
        code = f"{looker.builder.constant(apart, 'apart')}({homes})"
        names = ", ".join(iterator.source.name for iterator in moved)
        words = f"{names}: one iterator takes from another"
        origin = looker.builder.met_at(moved[-1].home)
        looker.builder.add(
            kinds.condition("ITERATOR_MATCH", names, code, moved[0].home, "apart", words, origin)
        )


def _not_iterated(looker: Looker, changed: Mutable, iterator: LiveIterator) -> None:
    """A real iterator that is peeked at goes over something else than what changes; or over this,
    and then the region stopped there."""
    if goes_over(iterator.value, changed.value):
        return
    function, name = looker.builder.constant(goes_over, "goes_over"), changed.place.name
    own = isinstance(changed, ObjectVariable) and own_dictionary(changed.value) is not None
    each = [changed.home, *([f"{changed.home}.__dict__"] if own else [])]
    code = " and ".join(f"not {function}({iterator.home}, {home})" for home in each)
    words = f"{name!r} is being iterated now"
    origin = looker.builder.met_at(changed.home)
    looker.builder.add(
        kinds.condition("ITERATOR_MATCH", name, code, changed.home, "not iterated", words, origin)
    )
