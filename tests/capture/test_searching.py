"""index, count, remove, `in`, == and < of sequences whose items are tensors or answer by methods
of their own."""

from __future__ import annotations

from collections import OrderedDict, deque

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check


class Point:
    """Equal by its number; notes who was asked about whom."""

    asked: list[str] = []

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        self.asked.append(f"{self.number} == {getattr(other, 'number', other)}")
        return isinstance(other, Point) and abs(self.number - other.number) < 0.5

    def __lt__(self, other):
        self.asked.append(f"{self.number} < {other.number}")
        return self.number < other.number

    def __ge__(self, other):
        return not self < other

    __hash__ = None


def x2():
    return torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])


def tensors_by_identity(x, y):
    items, queue = [x, y], deque([x, y])
    found = items.index(x), (x, y).index(x), queue.index(x), x in items, x in (x,), x in queue
    items.remove(x)
    queue.remove(x)
    return *found, items, queue, x in {"a": x}.values(), ("a", x) in {"a": x}.items()


def beside_what_is_no_tensor(x, y):
    return (
        x in [None, "a", x], [None, x].index(x), ("s", x).count("s"), [x, None].count(None),
        None in [x, None], [x, "a"].index("a"), [x, 1] == [x, 2], (x, 1) < (x, 2),
        [x, 2] >= [x, 1, 3], {"a": x} == {"a": x}, x * 2,
    )  # fmt: skip


def the_users_methods(x, y):
    p, q, r = Point(1), Point(1.25), Point(2)
    given = deque([p, r])
    given.remove(Point(2.125))
    return (
        p in [q], r in (p, q), [p, r].index(Point(2)), [p, r].count(q), p in deque([q]),
        [p, r] == [q, Point(2)], (p,) != (q,), {1: p} == {1: q}, deque([p]) == deque([q, r]),
        (p, 1) == (q,), [p] == [q, 1], len(given), Point(5) in iter([p, q]), x + y,
    )  # fmt: skip


def ordered_by_methods(x, y):
    p, q, r = Point(1), Point(1.25), Point(2)
    return [p] < [r], (p, r) >= (q, r), [p, 1] < [q, 2], (p,) < (q, 1), deque([r]) < deque([p]), x


def from_outside(x, y, items):
    places = items.index(y), [y, y].count(y), y in items, (x, items) == (x, items)
    items.remove(y)
    return places, len(items), x * 2


@pytest.mark.parametrize(
    "function",
    [tensors_by_identity, beside_what_is_no_tensor, the_users_methods, ordered_by_methods],
)
def test_without_a_break(function):
    captured(function, *x2())


@pytest.mark.parametrize("function", [the_users_methods, ordered_by_methods])
def test_asked_in_order(function):
    compiled = torch.compile(function, backend="eager")
    logs = []
    for called in (function, compiled, compiled):
        Point.asked.clear()
        called(*x2())
        logs.append([*Point.asked])
    assert logs[0] == logs[1] == logs[2] and logs[0]


def test_a_list_from_outside():
    (x, y), outcomes = x2(), []
    for called in (from_outside, torch.compile(from_outside, backend="eager", fullgraph=True)):
        items = [y, x, y]
        outcomes.append((called(x, y, items)[:2], [item is x for item in items]))
    assert outcomes[0] == outcomes[1] == (((0, 2, True, True), 2), [True, False])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: [1, 2].index(3),
        lambda x, y: [x, 2].index(None),
        lambda x, y: (1, 2).index(3),
        lambda x, y: (x, 2).index(None),
        lambda x, y: [1, 2].remove(3),
        lambda x, y: deque([1]).remove(4),
        lambda x, y: deque([1]).index("a"),
        lambda x, y: [1, 2, 1].index(1, 1, 2),
        lambda x, y: [1, 2, 1].index(1, "a"),
        lambda x, y: [1].index(),
        lambda x, y: [1].count(1, 2),
        lambda x, y: [x, y].index(y),  # which is y == x, and so many truths
        lambda x, y: y in [x],
        lambda x, y: [x] == [y],
        lambda x, y: (x, 1) < (y, 1),
        lambda x, y: [1, x] < ["a", x],
    ],
)
def test_errors(function):
    check(function, *x2())

    def caught(x, y):
        try:
            return function(x, y), x + 1
        except (ValueError, TypeError, RuntimeError) as error:
            return type(error), str(error), y + 1

    check(caught, *x2())


def test_texts_of_errors_are_known():
    def texts(x, y):
        said = []
        for items in ([1], (1,), deque([1])):
            try:
                items.index(x.ndim + 3)
            except ValueError as error:
                said.append(str(error))
        return said, x + y

    captured(texts, *x2())


def test_data_is_a_break():
    x, y = torch.ones(()), torch.zeros(())
    for function in (
        lambda x, y: (y in [x], x + 1),
        lambda x, y: ([x, y].index(y), x + 1),
        lambda x, y: ([x].count(y), x + 1),
        lambda x, y: ([x] == [y], x + 1),
    ):
        assert [b.break_id for b in check(function, x, y).breaks] == ["data-dependent-branch"]


def ordered_dicts(x, y):
    one, other = OrderedDict(a=Point(1), b=Point(2)), {"a": Point(1), "b": Point(2)}
    return one == other, x + 1


def changes_meanwhile(x, y):
    class_ = Shrinks
    items = [1, 2, 3]
    return class_(items) in items, items, x + 1


class Shrinks:
    """Takes away an item whenever it is asked."""

    def __init__(self, items):
        self.items = items

    def __eq__(self, other):
        self.items.pop()
        return False

    __hash__ = None


@pytest.mark.parametrize("function", [ordered_dicts, changes_meanwhile])
def test_corners(function):
    captured(function, *x2())


def numbers(x, n):
    return (
        [n, x] < [n + 1, x], n in [1, n], [n, x].index(n), (n, 3, n).count(n), (n, x) == (n, x),
        (x, n) == (x, n * 2), n is n, x * n,
    )  # fmt: skip


def test_numbers_that_vary_stay_symbols():
    counter = CompileCounter()
    compiled = torch.compile(numbers, backend=counter)
    x, _ = x2()
    for n in range(3, 9):
        want, got = numbers(x, n), compiled(x, n)
        assert got[:-1] == want[:-1] and got[-1].tolist() == want[-1].tolist()
    assert counter.frame_count == 2
