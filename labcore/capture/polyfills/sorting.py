"""Sorting as CPython does it, comparison by comparison: the ranks compare by code of the user's.

Up to 63 items it finds the run that they begin with, and puts each of the others in its place among
those before it; longer lists are merged of several runs, and left to CPython.
"""

from __future__ import annotations

import sys
from typing import Any

LIMIT = 63


def order(ranks: list, reverse: Any) -> list:
    """The places of the ranks in sorted order."""
    count = len(ranks)
    if count > LIMIT:
        too_many()
    places = list(range(count))
    if reverse:  # so that equal ones keep their order
        places.reverse()
    for new in range(first_run(ranks, places), count):
        insert(ranks, places, new)
    if reverse:
        places.reverse()
    return places


def too_many() -> None:
    """A rule lets capture stop at the call."""


def insert(ranks: list, places: list, new: int) -> None:
    """The places before `new` are sorted."""
    place, low, high = places[new], 0, new
    while low < high:
        middle = (low + high) // 2
        if ranks[place] < ranks[places[middle]]:
            high = middle
        else:
            low = middle + 1
    del places[new]
    places.insert(low, place)


def falls(ranks: list, places: list, n: int) -> Any:
    return ranks[places[n]] < ranks[places[n - 1]]


def turn(places: list, first: int, last: int) -> None:
    places[first:last] = places[first:last][::-1]


def run_before_13(ranks: list, places: list) -> int:
    """How many places at the beginning are in order, when they are turned round if they all
    fall."""
    n = 1
    if len(places) > 1 and falls(ranks, places, n):
        while n < len(places) and (n == 1 or falls(ranks, places, n)):
            n += 1
        turn(places, 0, n)
        return n
    n = min(2, len(places))
    while n < len(places) and not falls(ranks, places, n):
        n += 1
    return n


def run_since_13(ranks: list, places: list) -> int:
    """The same; equal ones may stand among those that fall."""
    n = rising(ranks, places, 1)
    if n >= len(places):
        return len(places)
    if n > 1:
        if ranks[places[0]] < ranks[places[n - 1]]:
            return n
        turn(places, 0, n)  # all equal
    n = n + 1
    equal = 0
    while n < len(places):
        if falls(ranks, places, n):
            turn(places, n - equal - 1, n)
            equal = 0
        elif ranks[places[n - 1]] < ranks[places[n]]:
            break
        else:
            equal += 1
        n += 1
    turn(places, n - equal - 1, n)
    turn(places, 0, n)
    return rising(ranks, places, n)


def rising(ranks: list, places: list, n: int) -> int:
    while n < len(places) and not falls(ranks, places, n):
        n += 1
    return n


first_run = run_since_13 if sys.version_info >= (3, 13) else run_before_13
