"""match: each pattern asks what CPython asks, and objects answer by their own methods."""

from __future__ import annotations

import collections.abc
import dataclasses

import pytest

from labcore.compiler import disable

from .differential import captured, check
from .subjects import x4

LOG = []


@dataclasses.dataclass
class Pair:
    first: object
    second: object = 2


class Lazy:
    __match_args__ = ("size", "missing")

    @property
    def size(self):
        return 3


class Wrong:
    __match_args__ = ["size"]


class Row(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]


@disable
def note(what):
    LOG.append(what)


class Noting:
    @property
    def size(self):
        note("asked")
        return 5


def by_kind(x, subject):
    match subject:
        case Pair(a, second=[b, *_]):
            return x * a + b
        case Pair(first=a):
            return x - a
        case Lazy(size, missing):
            return x * size * missing
        case Lazy(size=3 as size):
            return x + size
        case [first, *_, last]:
            return x * first - last
        case {"w": int(w), **rest} if rest:
            return x * w, rest
        case {}:
            return x, "mapping"
        case str() | bytes():
            return x, subject
        case float(f):
            return x * f
    return None


SUBJECTS = [
    Pair(3, (4, 5)),
    Pair(3),
    Lazy(),
    [1, 2, 3],
    (5, 6),
    Row(7, 8, 9),
    {"w": 3, "v": 4},
    {"w": 3},
    "text",
    1.5,
    7,
    None,
    {1, 2},
    range(2, 5),
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=[str(n) for n in range(len(SUBJECTS))])
def test_the_case_that_fits(subject):
    captured(by_kind, x4(), subject)


def two_subpatterns(x, subject):
    match subject:
        case Wrong(size):
            return x * size
        case Pair(a, b, c):
            return x, a, b, c
        case Pair(a, first=b):
            return x, a, b
        case int(a, b):
            return x, a, b


@pytest.mark.parametrize("subject", [Wrong(), Pair(1), 3], ids=["args", "count", "kinds"])
def test_what_a_pattern_raises(subject):
    assert not check(two_subpatterns, x4(), subject).breaks


def test_a_class_that_is_none():
    def f(x, kind):
        match x:
            case kind():
                return x
        return None

    assert not check(f, x4(), 3).breaks


def test_a_break_inside_of_a_pattern_is_one_of_the_whole_instruction():
    def f(x, subject):
        y = x * 2
        match subject:
            case Noting(size=5):
                return y + 1
        return y

    LOG.clear()
    report = check(f, x4(), Noting())
    assert LOG == ["asked"] * 3
    assert report.counter.frame_count == 2
