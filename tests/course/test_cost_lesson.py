"""Lesson 14: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import os
from statistics import mean
from time import perf_counter

import pytest

import labcore as torch
from labcore.testing import course

PASSED = "Public checks passed."


def right(fn, calls, clock):
    times = []
    for call in calls:
        begin = clock()
        fn(call)
        times.append(clock() - begin)
    return times[0], min(times), sum(t > 2 * min(times) for t in times)


def averaged(fn, calls, clock):
    begin = clock()
    for call in calls:
        fn(call)
    return 5.0, (clock() - begin) / len(calls), 2


def warmed_up(fn, calls, clock):
    fn(16)
    return right(fn, calls, clock)


def second_is_warm(fn, calls, clock):
    first, _, variants = right(fn, calls[:1], clock)
    begin = clock()
    fn(calls[1])
    warm = clock() - begin
    return first, warm, 1 + sum(right(fn, [n], clock)[0] > 1 for n in calls[2:]) + (warm > 1)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (right, PASSED),
        (averaged, "One average mixes calls that compile with calls that do not."),
        (warmed_up, "A warm-up compiles, too"),
        (lambda *a: (5.0, 1.0, 2), "Nothing was called"),
        (lambda fn, calls, clock: right(fn, calls, perf_counter), "That is another clock"),
        (second_is_warm, "a warm one has a size that came before"),
        (lambda *a: (*right(*a)[:2], 1), "Not only the first call compiles"),
        (lambda *a: (*right(*a)[:2], 3), "Going back to a size compiles nothing"),
        (lambda *a: mean([5, 1]), "first, warm and variants"),
        (lambda *a: ..., "Not begun"),
    ],
)
def test_bench(answer, word):
    assert word in repr(course.bench(answer))


def renamed(x, bias):
    total = x + bias
    return total.relu() * 2


def same(x, bias):
    return (x + bias).relu() * 2


def as_handed_out(x, bias):
    return torch.relu(x + bias) * 2


def other(x, bias):
    return (x + bias).relu() * 3


def parameters_renamed(a, b):
    return (a + b).relu() * 2


@pytest.mark.parametrize(
    ("keeps", "misses", "word"),
    [
        (renamed, other, PASSED),
        (renamed, parameters_renamed, PASSED),
        (same, other, "NO  keeps: is edited"),
        (as_handed_out, other, "That is block as it was"),
        (lambda x, bias: torch.relu(x + bias) * 2, other, "That is block as it was"),
        (other, other, "It computes something else"),
        (renamed, same, "Names of variables, comments and lines are not in the key"),
        (..., other, "Not begun"),
        (renamed, 3, "a function"),
    ],
)
def test_edits(keeps, misses, word):
    before = os.environ.get("LAB_CACHE_DIR")
    assert word in repr(course.edits(keeps, misses))
    assert os.environ.get("LAB_CACHE_DIR") == before


def steps(compiling, eager, compiled):
    return compiling / (eager - compiled) if eager > compiled else "never"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (steps, PASSED),
        (lambda c, e, w: torch.ones(2), "expected a number of steps"),
        (lambda c, e, w: c / e, "what comes in is the difference"),
        (lambda c, e, w: c / (e - w) if e != w else "never", "A negative number of steps"),
        (lambda c, e, w: c / (e - w) if e > w else float("inf"), "nothing ever comes in"),
        (lambda c, e, w: ..., "Not begun"),
    ],
)
def test_break_even(answer, word):
    assert word in repr(course.break_even(answer))
