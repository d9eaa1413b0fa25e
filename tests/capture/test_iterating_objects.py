"""Objects that iterate, and attributes asked by name, where an exception is part of the answer."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check
from .subjects import x4

SEEN = []


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Holding:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class NoIterator:
    def __iter__(self):
        return 3


class Failing:
    def __iter__(self):
        return self

    def __next__(self):
        raise KeyError("no more")


class Asked:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)

    @property
    def broken(self):
        return self._missing

    @property
    def whole(self):
        return 5

    @property
    def failing(self):
        raise KeyError("other")


class Bare:
    @property
    def broken(self):
        return self.missing


def loops(x):
    for i in Countdown(3):
        x = x + i
    for i in Holding(2, 3):
        x = x * i
    else:
        x = x - 1
    return x, [i for i in Countdown(2)], {i: x for i in Holding("a")}


def nested_loops(x):
    for i in Countdown(3):
        for j in Countdown(i):
            x = x + i * j
            if j == 0 and i == 2:
                break
    return x


def by_next(x):
    it = Countdown(1)
    return x, iter(it) is it, next(it), next(it, "end"), next(it, None)


def stops(x):
    try:
        return next(Countdown(0))
    except StopIteration as stop:
        return x + 1, stop.value


def by_name(x):
    a, b = Asked(), Bare()
    return (
        x, getattr(a, "_no", 2), hasattr(a, "_no"), hasattr(a, "yes"), a.broken, a.whole,
        getattr(a, "broken", 1), getattr(b, "broken", 1), hasattr(b, "broken"), hasattr(b, "items"),
    )  # fmt: skip


def caught(x):
    try:
        return Bare().broken
    except AttributeError:
        return x * 2


@pytest.mark.parametrize("function", [loops, nested_loops, by_next, stops, by_name, caught])
def test_captured_whole(function):
    captured(function, x4())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [i for i in NoIterator()],
        lambda x: [i for i in Failing()],
        lambda x: next(Holding(1)),
        lambda x: next(Countdown(0)),
        lambda x: getattr(Asked(), "failing", 1),
        lambda x: hasattr(Asked(), "failing"),
        lambda x: Bare().broken,
    ],
)
def test_what_is_not_waited_for_raises(function):
    check(function, x4())


def test_an_iterator_from_outside_moves_on():
    def f(x, it):
        return x * next(it) + next(it)

    compiled = torch.compile(f, backend="eager", fullgraph=True)
    for _ in range(2):
        it = Countdown(5)
        assert compiled(x4(), it).tolist() == [7.0, -5.0, 15.0, 3.0] and it.n == 3


def test_a_loop_over_an_object_with_a_break_inside():
    counter = CompileCounter()

    def f(x):
        for i in Countdown(4):
            SEEN.append(str(print))
            print(end="")
            x = x + i
        return x * 2

    compiled = torch.compile(f, backend=counter)
    for calls in (1, 2):
        assert compiled(x4()).tolist() == f(x4()).tolist()
        assert len(SEEN) == 8 * calls
