"""The exercises' checks accept a right answer, and name the belief behind each wrong one."""
from __future__ import annotations

import pytest

from labcore.testing import course


def separate(memory, x, bias):
    n = len(x)
    t1, t2, y = memory.new(n), memory.new(n), memory.new(n)
    for i in range(n):
        t1[i] = x[i] + bias[i]
    for i in range(n):
        t2[i] = max(t1[i], 0.0)
    for i in range(n):
        y[i] = t2[i] * 2
    return y


def fused(memory, x, bias):
    y = memory.new(len(x))
    for i in range(len(x)):
        y[i] = max(x[i] + bias[i], 0.0) * 2
    return y


def in_place(memory, x, bias):
    y = memory.new(len(x))
    for i in range(len(x)):
        y[i] = x[i] + bias[i]
    for i in range(len(x)):
        y[i] = max(y[i], 0.0)
    for i in range(len(x)):
        y[i] = y[i] * 2
    return y


def reads_twice(memory, x, bias):
    t1, t2, y = memory.new(len(x)), memory.new(len(x)), memory.new(len(x))
    for i in range(len(x)):
        t1[i] = x[i] + bias[i]
    for i in range(len(x)):
        t2[i] = t1[i] if t1[i] > 0 else 0.0
    for i in range(len(x)):
        y[i] = t2[i] * 2
    return y


def test_three_passes():
    result = course.three_passes(separate)
    assert result.passed and "accesses, N=4: expected 28, found 28" in repr(result)
    result = course.three_passes(fused)
    assert not result.passed and "You fused" in repr(result)
    assert "accesses, N=4: expected 28, found 12" in repr(result)
    assert "You wrote over an array" in repr(course.three_passes(in_place))
    assert "keep it in a variable" in repr(course.three_passes(reads_twice))


def test_three_passes_wants_the_right_values():
    def forgets_relu(memory, x, bias):
        y = separate(memory, x, bias)
        y[0] = -2.0
        return y

    assert not course.three_passes(forgets_relu).passed
    told = repr(course.three_passes(lambda memory, x, bias: [0.0]))
    assert "expected an array from memory.new, found a list" in told


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ([0, 1, 1], "Public checks passed."),
        ([1, 1, 1], "Wrapping compiles nothing"),
        ([0, 1, 2], "nothing was captured again"),
        ([0, 0, 0], "The original function was called"),
        ([5, 5, 5], "Not yet"),
        (1, "expected 3 numbers, found 1"),
        ([0, 1], "expected 3 numbers, found 2: [0, 1]"),
        (None, "is a `return` missing?"),
    ],
)
def test_lazy(counts, word):
    assert word in repr(course.lazy(lambda: counts))
    assert course.lazy(lambda: counts).passed == (counts == [0, 1, 1])


def worst(values, reference):
    return max(abs(v - r) for v, r in zip(values, reference))


JUDGES = {
    "Public checks passed.": lambda got, eager, ref: worst(got, ref) <= 2 * worst(eager, ref),
    "Not even eager passes": lambda got, eager, ref: got == ref,
    "which one is nearer": lambda got, eager, ref: got == eager,
    "Eager is no authority": lambda got, eager, ref: worst(got, eager) <= 1.3e-7,
    "forgives everything": lambda got, eager, ref: worst(got, eager) <= 1.0,
    "knows nothing of eager's own error": lambda got, eager, ref: worst(got, ref) <= 1e-3,
    "expected True or False, found 3": lambda got, eager, ref: 3,
}


@pytest.mark.parametrize("word", JUDGES)
def test_same(word):
    result = course.same(JUDGES[word])
    assert word in repr(result) and result.passed == word.startswith("Public")


def test_an_exercise_not_begun_says_so():
    checks = (course.three_passes, course.lazy, course.same, course.formulas, course.report)
    for check in checks:
        assert repr(check(lambda *a: ...)).startswith("Not begun: replace the ... in this cell")
    assert "Not begun" in repr(course.launch_cost(...)) and "Not begun" in repr(course.lazy(...))
    assert "Not begun" in repr(course.launch_cost((..., 5)))
    assert "Not begun" in repr(course.formulas(lambda n: (..., ...)))


def test_a_students_error_is_a_fact():
    def wrong(memory, x, bias):
        return x.shape

    told = repr(course.three_passes(wrong))
    assert "AttributeError: 'CountingList' object has no attribute 'shape'" in told
    assert "at `return x.shape`" in told
    assert "hand over the function" in repr(course.lazy([0, 1, 1]))
    assert not course.three_passes(wrong).passed


def test_formulas_are_checked_against_the_compilers_ledger():
    assert course.formulas(lambda n: ((4 * n, 3 * n), (7 * n, 4 * n))).passed
    result = course.formulas(lambda n: ((4 * n, 3 * n), (7 * n, 3 * n)))
    assert not result.passed and "handed out has to be stored" in repr(result)
    assert "two pairs" in repr(course.formulas(lambda n: 7 * n))
    assert "expected 2 numbers, found 7" in repr(course.formulas(lambda n: (7, (1, 2))))


def test_a_report_has_to_ask_the_clock():
    measured = lambda n, clock: (7 / 3, clock("three passes", n) / clock("one pass", n))
    assert course.report(measured).passed
    rounded = lambda n, clock: (2.333, clock("three passes", n) / clock("one pass", n))
    assert course.report(rounded).passed
    assert "it needs no clock" in repr(course.report(lambda n, clock: (7 / 3, 7 / 3)))
    upside_down = lambda n, clock: (7 / 3, clock("one pass", n) / clock("three passes", n))
    assert "Upside down" in repr(course.report(upside_down))
    told = repr(course.report(lambda n, clock: (7 / 3, clock("eager", n))))
    assert "the clock times 'three passes' and 'one pass', not 'eager'" in told


def test_launch_cost():
    assert course.launch_cost((32.5, 5)).passed
    assert course.launch_cost((32.49999999999, 5.0)).passed
    assert "Three times 5" in repr(course.launch_cost((15, 5)))
    assert "expected 2 numbers, found 32.5" in repr(course.launch_cost(32.5))
