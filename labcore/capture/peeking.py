"""Real iterators, looked into without taking anything from them.

In: an iterator that CPython made.  Out: its next items, what it goes over, and whether that can be
told.
Invariant: `__reduce__`, which copies an iterator, says it all; it runs no code of the user's for
the types listed here.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import islice
from typing import Any

_DICT: dict[Any, Any] = {}
_TEXTS: tuple[Any, ...] = ("", "\xe9", b"")
IN_ORDER = (type(iter([])), type(iter(())), type(iter(range(1))), *(type(iter(t)) for t in _TEXTS))
BACKWARDS: type = type(reversed(list[Any]()))
COPIED: tuple[type, ...] = (  # which tell what is left, and not whose it is
    *(type(iter(view)) for view in (_DICT, _DICT.values(), _DICT.items())),
    *(type(reversed(view)) for view in (_DICT, _DICT.values(), _DICT.items())),
    type(iter(set[Any]())),
)
OF_ITERATORS = (enumerate, zip)


def leaves(iterator: Any) -> list[Any]:
    """The iterators that a row of it takes from. Raises TypeError for one that has to be run."""
    kind = type(iterator)
    if kind in IN_ORDER or kind is BACKWARDS or kind in COPIED:
        return [iterator]
    if kind not in OF_ITERATORS:
        raise TypeError(f"a {kind.__name__} tells its items only by giving them")
    parts = iterator.__reduce__()
    if len(parts) > 2:
        raise TypeError("a strict zip ends with an error")
    columns = parts[1][:1] if kind is enumerate else parts[1]
    return [leaf for column in columns for leaf in leaves(column)]


def apart(*iterators: Any) -> bool:
    """Does taking from one leave all the others alone?"""
    found = [id(leaf) for iterator in iterators for leaf in leaves(iterator)]
    return len({*found}) == len(found)


def can_peek(iterator: Any) -> bool:
    """Not when the next step of it is an error, as what it goes over was changed: that is
    CPython's to tell, which miscounts what is left in a set (and then raises a ValueError)."""
    try:
        alone = apart(iterator)  # first, for it asks nothing of the user's objects
        peek(iterator, 0)
        return alone
    except (TypeError, RuntimeError, ValueError):
        return False


def peek(iterator: Any, count: int) -> list[Any]:
    """The next items, at most `count`. Raises TypeError for an iterator that has to be run."""
    return list(islice(_ahead(iterator), count))


def _ahead(iterator: Any) -> Iterator[Any]:
    kind, parts = type(iterator), iterator.__reduce__()
    if kind is enumerate:
        return enumerate(_ahead(parts[1][0]), parts[1][1])
    if kind is zip:
        leaves(iterator)
        return zip(*map(_ahead, parts[1]))
    if kind not in IN_ORDER and kind is not BACKWARDS and kind not in COPIED:
        raise TypeError(f"a {kind.__name__} tells its items only by giving them")
    items, at = parts[1][0], parts[2] if len(parts) > 2 and parts[2] else 0
    if kind is BACKWARDS and parts[0] is reversed:
        return iter(_part(items, slice(at, None, -1)) if at >= 0 else [])
    return iter(_part(items, slice(at, None)))


def _part(items: Any, which: slice) -> Any:
    """Items of a sequence, by the builtin class's own method."""
    base = next(base for base in (list, tuple, range, str, bytes) if issubclass(type(items), base))
    return base.__getitem__(items, which)


def goes_over(iterator: Any, value: Any) -> bool:
    """Is it on its way through this list, tuple, dict or set?"""
    if issubclass(type(value), (dict, set)):  # whose iterators only the collector looks into
        inside = [leaf for leaf in leaves(iterator) if type(leaf) in COPIED]
        return any(held is value for leaf in inside for held in gc.get_referents(leaf))
    return any(leaf.__reduce__()[1][0] is value for leaf in leaves(iterator))
