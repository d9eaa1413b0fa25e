"""Iterators of `builtins`. As there, the iterables are asked for their iterators at once, and for
items only when one is wanted."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from .methods import refuse

builtin_index, builtin_iter, builtin_next = operator.index, iter, next
MISSING: Any = object()


def map(function: Any, iterable: Any, /, *iterables: Any) -> Iterator:
    return mapped(function, tuple([builtin_iter(one) for one in (iterable, *iterables)]))


def mapped(function: Any, iterators: tuple) -> Iterator:
    while True:
        items: list = []
        for iterator in iterators:
            item = builtin_next(iterator, MISSING)
            if item is MISSING:
                return
            items.append(item)
        yield function(*items)


def filter(function: Any, iterable: Any, /) -> Iterator:
    return filtered(function, builtin_iter(iterable))


def filtered(function: Any, iterator: Iterator) -> Iterator:
    for item in iterator:
        if item if function is None or function is bool else function(item):
            yield item


def enumerate(iterable: Any, start: Any = 0) -> Iterator:
    if type(start) is not int:
        start = builtin_index(start)
    return enumerated(builtin_iter(iterable), start)


def enumerated(iterator: Iterator, number: Any) -> Iterator:
    for item in iterator:
        number += 1  # first, so that between two items it is the next one's
        yield number - 1, item


def zip(*iterables: Any, strict: Any = False) -> Iterator:
    return zipped(tuple([builtin_iter(iterable) for iterable in iterables]), strict)


def zipped(iterators: tuple, strict: Any) -> Iterator:
    while iterators:
        row: list = []
        for iterator in iterators:
            item = builtin_next(iterator, MISSING)
            if item is MISSING:
                if strict:
                    check_lengths(iterators, len(row))
                return
            row.append(item)
        yield tuple(row)


def check_lengths(iterators: tuple, ended: int) -> None:
    """One of them ended: raises ValueError unless it is the first, and all others end too."""
    if ended:
        others = "argument 1" if ended == 1 else f"arguments 1-{ended}"
        raise ValueError(f"zip() argument {ended + 1} is shorter than {others}")
    for n in range(1, len(iterators)):
        if builtin_next(iterators[n], MISSING) is not MISSING:
            others = "argument 1" if n == 1 else f"arguments 1-{n}"
            raise ValueError(f"zip() argument {n + 1} is longer than {others}")


def reversed(sequence: Any, /) -> Iterator:
    """Of an object that has only a length and items."""
    return reversed_items(sequence, len(sequence) - 1)


def reversed_items(sequence: Any, place: int) -> Iterator:
    while place >= 0:
        try:
            item = sequence[place]
        except (IndexError, StopIteration):
            return
        place -= 1
        yield item


def items_by_index(sequence: Any) -> Iterator:
    """Iteration over an object that has no `__iter__`."""
    place = 0
    while True:
        try:
            item = sequence[place]
        except (IndexError, StopIteration):
            return
        yield item
        place += 1


def called_until(function: Any, sentinel: Any) -> Iterator:
    """iter(function, sentinel)."""
    while True:
        try:
            item = function()
        except StopIteration:
            return
        if sentinel is item or sentinel == item:
            return
        yield item


def next(iterator: Any, default: Any, /) -> Any:
    """Of an object whose class has `__next__`."""
    try:
        return builtin_next(iterator)
    except StopIteration:
        return default


def with_items(function: Any, iterable: Any, /, *after: Any, **names: Any) -> Any:
    """For a function that first takes all items, and changes nothing before it has them."""
    return function([item for item in iterable], *after, **names)  # noqa: C416


def with_items_second(function: Any, first: Any, iterable: Any, /, **names: Any) -> Any:
    """For one whose second argument they are."""
    return function(first, [item for item in iterable], **names)  # noqa: C416


def with_list(function: Any, iterable: Any, /, *after: Any, **names: Any) -> Any:
    """For one that first makes a list of them."""
    return function([*iterable], *after, **names)


def extend(items: Any, iterable: Any, /) -> Any:
    iterator = builtin_iter(iterable)
    if type(items) is list:
        room_for(iterable)
    for item in iterator:
        items.append(item)


def room_for(iterable: Any) -> None:
    """A list asks how many items there will be, in vain: a rule asks the user's code."""


def ask_length(iterable: Any) -> None:
    try:
        len(iterable)
    except TypeError:
        refuse()


def ask_hint(iterable: Any) -> None:
    try:
        found = type(iterable).__length_hint__(iterable)
    except TypeError:
        return
    if found is not NotImplemented and (type(found) is not int or found < 0):
        refuse()


def extend_left(items: Any, iterable: Any, /) -> None:
    for item in iterable:
        items.appendleft(item)


def update_set(elements: set, *iterables: Any) -> None:
    for iterable in iterables:
        for element in iterable:
            elements.add(element)


def update_dict(items: dict, pairs: Any, /, **names: Any) -> None:
    for key, value in pairs:
        items[key] = value
    items.update(**names)


def update_from(items: dict, source: Any, /, **names: Any) -> None:
    """Of an object of the user's, which is a mapping if it has keys()."""
    if hasattr(source, "keys"):
        merge(items, source)
    else:
        for key, value in source:
            items[key] = value
    items.update(**names)


def merge(items: dict, source: Any) -> None:
    """`**source`."""
    for key in [*builtin_iter(source.keys())]:
        items[key] = source[key]


def dict_from(source: Any, /, **names: Any) -> dict:
    """Of an object of the user's."""
    items: dict = {}
    update_from(items, source, **names)
    return items


def _count_elements(mapping: Any, iterable: Any, /) -> None:
    """What a Counter counts with."""
    mapping_get = mapping.get
    for element in iterable:
        mapping[element] = mapping_get(element, 0) + 1
