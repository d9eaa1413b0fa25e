"""What makes one value, or a list, of an iterable's items."""

from __future__ import annotations

from typing import Any

from ..classes import read_class
from .sorting import order

builtin_sum, builtin_min, builtin_max = sum, min, max
MISSING: Any = object()
NUMBERS = (int, float, complex, bool)


def any(iterable: Any, /) -> bool:
    for item in iterable:
        if item:
            return True
    return False


def all(iterable: Any, /) -> bool:
    for item in iterable:
        if not item:
            return False
    return True


def sum(iterable: Any, /, start: Any = 0) -> Any:
    """Numbers in front are added by the builtin: it compensates the sum of floats."""
    iterator = iter(iterable)
    total, front, beyond = start, [], False
    if not is_number(start):
        total, beyond = builtin_sum([], start), True  # which refuses texts
    for item in iterator:
        if beyond:
            total = total + item
        elif is_number(item):
            front.append(item)
        else:
            total = builtin_sum(front, total) + item
            beyond = True
    return total if beyond else builtin_sum(front, total)


def is_number(value: Any) -> bool:
    """Is it one that the builtin `sum` takes the short way with?"""
    return type(value) in NUMBERS


def min(*args: Any, key: Any = None, default: Any = MISSING) -> Any:
    if len(args) != 1 and default is not MISSING:
        return builtin_min(*args, default=None)  # which refuses it
    iterator = iter(args[0] if len(args) == 1 else args)
    best = rank = MISSING
    for item in iterator:
        new = item if key is None else key(item)
        if rank is MISSING or new < rank:
            best, rank = item, new
    if rank is MISSING:
        return builtin_min(()) if default is MISSING else default
    return best


def max(*args: Any, key: Any = None, default: Any = MISSING) -> Any:
    if len(args) != 1 and default is not MISSING:
        return builtin_max(*args, default=None)  # which refuses it
    iterator = iter(args[0] if len(args) == 1 else args)
    best = rank = MISSING
    for item in iterator:
        new = item if key is None else key(item)
        if rank is MISSING or new > rank:
            best, rank = item, new
    if rank is MISSING:
        return builtin_max(()) if default is MISSING else default
    return best


def sorted(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list:
    items = [*iterable]
    ranks = items if key is None else [key(item) for item in items]
    return [items[place] for place in order(ranks, reverse)]


def sort(items: list, *, key: Any = None, reverse: Any = False) -> None:
    found = sorted(items, key=key, reverse=reverse)
    modified = len(items) != len(found)
    items[:] = found
    if modified:
        raise ValueError("list modified during sort")


@read_class
class Compared:
    """What cmp_to_key makes of an item."""

    def __init__(self, compare: Any, item: Any) -> None:
        self.compare, self.item = compare, item

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.item, other.item) > 0


def cmp_to_key(mycmp: Any) -> Any:
    return lambda item: Compared(mycmp, item)
