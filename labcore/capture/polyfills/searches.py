"""Looking for an item, and comparing containers item by item: as in C, an object equals itself
without being asked, and the container's own item stands at the left of `==`."""

from __future__ import annotations

import sys
from typing import Any

from .methods import refuse


def contains(iterable: Any, item: Any) -> Any:
    for other in iterable:
        if other is item or other == item:
            return True
    return False


def count(iterable: Any, item: Any, /) -> Any:
    found = 0
    for other in iterable:
        if other is item or other == item:
            found += 1
    return found


def index(items: Any, item: Any, start: Any = 0, stop: Any = sys.maxsize, /) -> Any:
    place, end = position(start, len(items)), position(stop, len(items))
    while place < end and place < len(items):
        other = items[place]
        if other is item or other == item:
            return place
        place += 1
    missing(items, item, "index")


def remove(items: Any, item: Any, /) -> None:
    place, length = 0, len(items)
    while place < len(items):
        other = items[place]
        if other is item or other == item:
            if len(items) != length:
                refuse()
            del items[place]
            return
        place += 1
    missing(items, item, "remove")


def position(number: Any, length: Any) -> Any:
    """Where a search begins or ends, counted from the front."""
    if type(number) is not int:
        refuse()
    if number < 0:
        number += length
    return 0 if number < 0 else number


def missing(items: Any, item: Any, method: str) -> None:
    """Raises the ValueError of a search that finds nothing."""


def equal_lists(one: Any, other: Any) -> Any:
    """Lists and deques."""
    return len(one) == len(other) and difference(one, other) == len(one)


def equal_tuples(one: Any, other: Any) -> Any:
    """Their lengths are compared last."""
    return difference(one, other) == len(one) == len(other)


def equal_dicts(one: Any, other: Any) -> Any:
    if len(one) != len(other):
        return False
    for key, value in one.items():
        if key not in other:
            return False
        found = other[key]
        if not (value is found or value == found):
            return False
    return True


def difference(one: Any, other: Any) -> Any:
    """The first place where two sequences differ: at the latest where the shorter one ends."""
    place = 0
    while place < len(one) and place < len(other):
        mine, yours = one[place], other[place]
        if not (mine is yours or mine == yours):
            return place
        place += 1
    return place


def ordered(one: Any, other: Any, compare: Any) -> Any:
    """< and its like: the first items that differ decide, or else the lengths."""
    place = difference(one, other)
    if place < len(one) and place < len(other):
        return compare(one[place], other[place])
    return compare(len(one), len(other))
