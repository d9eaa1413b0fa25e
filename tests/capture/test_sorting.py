"""Sorts that compare by code of the user's: the same comparisons in the same order as CPython's."""

from __future__ import annotations

import functools
from random import Random

import pytest

import labcore as torch
from labcore.capture.polyfills.sorting import LIMIT, order

from .test_effects import both


class Item:
    def __init__(self, rank, number, log):
        self.rank, self.number, self.log = rank, number, log

    def __lt__(self, other):
        self.log.append((self.number, other.number))
        return self.rank < other.rank

    def __repr__(self):
        return f"{self.rank}#{self.number}"


def items(seed, count, log):
    random = Random(seed)
    ranks = [random.randrange(random.choice((1, 2, 4, 100))) for _ in range(count)]
    if random.random() < 0.3:
        ranks.sort(reverse=random.random() < 0.5)
    return [Item(rank, number, log) for number, rank in enumerate(ranks)]


@pytest.mark.parametrize("reverse", [False, True])
def test_comparisons(reverse):
    for seed in range(1500):
        count = Random(seed).choice((0, 1, 2, 3, 4, 5, 8, 13, 30, LIMIT))
        expected, found = [], []
        right = sorted(items(seed, count, expected), reverse=reverse)
        given = items(seed, count, found)
        assert repr([given[place] for place in order(given, reverse)]) == repr(right)
        assert found == expected


@pytest.mark.parametrize("count", [1, 2, 7, 12])
def test_captured(count):
    def f(x, given, log):
        given.sort(reverse=True)
        ranks = [item.rank for item in sorted(given)]
        least = min(given).rank
        return x * least, ranks, len(log), sorted(given, key=lambda item: -item.rank)[0].rank

    def make():
        log = []
        return torch.ones(3), items(count, count, log), log

    both(f, make, calls=2)


def test_compared_by_a_function():
    def f(x, log):
        def compare(a, b):
            log.append((a, b))
            return a - b

        return sorted([3, 1, 2, 1, 5, 0], key=functools.cmp_to_key(compare)), x + 1

    both(f, lambda: (torch.ones(3), []), calls=2)


def test_many():
    def f(x, given):
        return sorted(given)[0].rank, x + 1

    make = lambda: (torch.ones(3), items(0, LIMIT + 1, []))
    both(f, make, calls=1, expected_breaks=["operation"])
