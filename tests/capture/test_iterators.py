"""Iterators across breaks: what is left of one is taken by the next region, and nothing twice."""

from __future__ import annotations

import itertools

import pytest

import labcore as torch

from .differential import check
from .subjects import x4


def enumerated(x, out):
    for n, t in enumerate([x, x + 1, x + 2]):
        y = t * 2
        print(end="")
        out.append((n, y))
    return x - 1


def zipped(x, out):
    for a, b in zip([x, x + 1, x + 2], "abc"):
        y = a * 2
        print(end="")
        out.append((b, y))
    return x - 1


def zip_of_enumerate(x, out):
    for (n, a), b in zip(enumerate([x, x + 1, x + 2], 5), (1, 2, 3, 4)):
        y = a * 2
        print(end="")
        out.append((n, y))
    return x - 1


def backwards(x, out):
    for t in reversed([x, x + 1, x + 2]):
        y = t * 2
        print(end="")
        out.append(y)
    return x - 1


def keys(x, out):
    for key, t in {"a": x, "b": x + 1, "c": x}.items():
        y = t * 2
        print(end="")
        out.append((key, y))
    return x - 1


@pytest.mark.parametrize("program", [enumerated, zipped, zip_of_enumerate, backwards, keys])
def test_a_loop_costs_three_graphs(program) -> None:
    """Before the break, the body, and what comes after the loop."""
    out = check(program, x4(), [])
    assert len(out.counter.graphs) == 3


def shared(x, first, second):
    total = x
    for a in first:
        print(end="")
        total = total + a
        for b in second:
            total = total * b
            break
    return total, list(first), list(second)


@pytest.mark.parametrize("same", [False, True])
def test_iterators_that_share(same) -> None:
    compiled = torch.compile(shared)
    for both in (False, same, False, same):
        results = []
        for function in (shared, compiled):
            it = iter([1, 2, 3, 4, 5])
            results.append(function(x4(), it, it if both else iter([6, 7])))
        assert results[0][1:] == results[1][1:]
        assert results[0][0].tolist() == results[1][0].tolist()


def grows(x):
    items = [1, 2]
    for n, i in enumerate(items):
        print(end="")
        if n < 3:
            items.append(i + 1)
        x = x * i
    return x, items


def dict_grows(x):
    table = {"a": 1}
    for key in table:
        print(end="")
        table[key + "x"] = 1
        x = x + 1
    return x


def opaque(x, out):
    for a in map(abs, itertools.chain([-1, 2], [-3])):
        print(end="")
        out.append(x * a)
    return x


def test_what_is_changed_while_it_is_iterated() -> None:
    check(grows, x4())
    check(dict_grows, x4())
    check(opaque, x4(), [])
