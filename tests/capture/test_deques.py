"""Deques made inside and from outside, changed, iterated and compared as by CPython."""

from __future__ import annotations

import copy
import heapq
from collections import deque

import pytest

from labcore.compiler import compile as lab_compile

from .test_effects import both, x4


def every_method(x, d):
    d.append(x)
    d.appendleft(x + 1)
    d.extend((1, 2))
    d.extendleft([3, 4])
    d.insert(1, "second") if d.maxlen is None else None
    got = [d.pop(), d.popleft()]
    d.rotate(2)
    d.rotate()
    d.rotate(-1)
    d.reverse()
    d += [5, 6]
    d *= 2
    d[0] = x * 2
    d[-1] = got
    del d[1]
    return x + len(d), d[0], d[-1], got, d.maxlen, list(d)


def made(x, d):
    m = deque([1, 2], maxlen=3)
    m.append(x)
    m.append(4)
    m.appendleft(0)
    empty, copied = deque(), m.copy()
    copied.clear()
    return m, m.maxlen, empty, empty.maxlen, copied, copied.maxlen, deque(d, 2), copy.copy(m), x * 2


def itself(x, d):
    m = deque([x])
    m.append(m)
    d.append(m)
    d.extend(d)
    d.extendleft(d)
    return m, x + 1


def unread(x, d):
    d.append(x + 1)
    d.append(x + 2)
    return d.pop() + 1


def cleared(x, d):
    d.clear()
    d.append(x)
    return bool(d), not deque(), len(d)


def questions(x, d):
    e = deque([*d], maxlen=40)
    n = deque([3, 1, 3])
    return (
        (d == e, d != e, d == list(d), e == deque(e), n < deque([3, 2]), n >= n, [n] == [e]),
        (3 in n, 9 in n, n.count(3), n.index(3), n.index(3, 1), n.index(3, -1, 3)),
        (e + n).maxlen, (n + e).maxlen, e + n, n * 2, 2 * deque([1, 2, 3], 4), deque([1], 2) * 5,
        (type(n) is deque, isinstance(n, list), hasattr(n, "maxlen"), hasattr(n, "sort")),
        (repr(n), str(deque([1], 2)), f"{n}", sum(n), max(n), sorted(n), list(reversed(n))),
        [*n, *e], x * len(n), tuple(n), dict(enumerate(n)), list(zip(n, "ab")),
    )  # fmt: skip


def matched(x, d):
    match deque([x, 2]):
        case [a, b]:
            return a * b
    return x


def removed(x, d):
    n = deque([1, 2, 3, 2])
    n.remove(2)
    d.append(7)
    d.remove(7)
    return n, x * 2


def counted(x, d):
    for item in d:
        x = x + item
    for n, item in enumerate(reversed(d)):
        x = x * n + item
    return x


def searched(x, d):
    queue, seen = deque([(0, x)]), []
    while queue:
        depth, value = queue.popleft()
        seen.append(depth)
        if depth < 3:
            queue.append((depth + 1, value + 1))
            queue.appendleft((depth + 2, value * 2))
    return value, seen


def generated(x, d):
    d.extend(x + n for n in range(2))
    d.extendleft(n for n in range(2))
    return deque((n for n in range(4)), 2), x + 1


def two_names(x, d, e):
    d.append(1)
    return len(e), x + 1


CAPTURED = (
    every_method, made, itself, unread, cleared, questions, matched, removed, counted, searched,
    generated,
)  # fmt: skip


@pytest.mark.parametrize("function", CAPTURED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("maxlen", [None, 5, 2])
def test_deques(function, maxlen):
    both(function, lambda: (x4(), deque([3, 1, 2], maxlen)), calls=1)
    both(function, lambda: (x4(), deque([], maxlen)), calls=1)


def appended_while_iterated(x, d):
    for item in d:
        d.append(item)
    return x


def rotated_while_iterated(x, d):
    m = deque([1, 2])
    for _ in m:
        m.rotate(1)
    return x


def assigned_while_iterated(x, d):
    m = deque([1, 2])
    for item in m:
        m[0] = item + 1
    return x, m


def popped_at_the_end(x, d):
    m = deque([1])
    for _ in m:
        m.pop()
    return x


def extended_by_its_iterator(x, d):
    d.extend(iter(d))
    return x


def caught_while_iterated(x, d):
    m = deque([x, 1])
    try:
        for item in m:
            m.appendleft(item)
    except RuntimeError:
        x = x + 1
    return x, m


def empty(x, d):
    deque().pop()


def left_of_empty(x, d):
    deque([], 3).popleft()


def out_of_range(x, d):
    return deque([x])[3]


def assigned_out_of_range(x, d):
    d[9] = x


def sliced(x, d):
    return d[0:1]


def full(x, d):
    deque([1, 2], 2).insert(0, x)


def absent(x, d):
    d.append(8)
    d.remove(x if d is None else 77)


def no_index(x, d):
    return deque([1]).index(2)


def negative(x, d):
    return deque([x], -1)


def added_to_a_list(x, d):
    return deque([1]) + [2]


def no_attribute(x, d):
    return deque([1]).sort


def no_heap(x, d):
    heapq.heappush(d, 1)


def attributes_of_the_type(x, d):
    values = d, [1], {"a": 1}, {1}, (1,)
    classes = [value.__class__ is type(value) for value in values]
    missing = [hasattr(value, name) for value in values for name in ("mro", "__name__")]
    return classes, missing, [value.__hash__ is None for value in values[:4]], x + 1


RAISING = (
    appended_while_iterated, rotated_while_iterated, assigned_while_iterated, popped_at_the_end,
    extended_by_its_iterator, caught_while_iterated, empty, left_of_empty, out_of_range,
    assigned_out_of_range, sliced, full, absent, no_index, negative, added_to_a_list, no_attribute,
    attributes_of_the_type,
)  # fmt: skip


@pytest.mark.parametrize("function", RAISING, ids=lambda function: function.__name__)
def test_errors_of_deques(function):
    both(function, lambda: (x4(), deque([3, 1, 2])), calls=1)


def test_a_deque_is_no_heap():
    both(no_heap, lambda: (x4(), deque([3, 1, 2])), calls=1, expected_breaks=["unknown-call"])


def test_a_deque_is_guarded_by_what_was_read():
    """Its type and limit; its length only where that matters."""
    count = both(unread, lambda: (x4(), deque([1])), calls=4).frame_count
    assert count == 1  # though it is longer every time


def test_a_limit_or_a_class_of_its_own_is_another_variant():
    class Own(deque):
        def append(self, item):
            super().append(item * 100)

    compiled = lab_compile(every_append)
    for make in (lambda: deque([1, 2], 3), lambda: deque([1, 2], 2), lambda: Own([1, 2])):
        eager, given = make(), make()
        assert every_append(x4(), eager)[1:] == compiled(x4(), given)[1:]
        assert list(eager) == list(given) and type(eager) is type(given)


def every_append(x, d):
    d.append(7)
    return x * 2, len(d), d.maxlen, list(d)


def test_one_deque_under_two_names():
    def twice():
        one = deque([1])
        return x4(), one, one

    both(two_names, twice, calls=2)
    both(two_names, lambda: (x4(), deque([1]), deque([1])), calls=2)
    both(two_names, lambda: (x4(), deque([1], 4), deque([1])), calls=1)
