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


def test_three_passes() -> None:
    assert course.three_passes(separate).passed
    assert "accesses for N=4: expected 28, found 28" in repr(course.three_passes(separate))
    result = course.three_passes(fused)
    assert not result.passed and "You fused" in repr(result)
    assert "accesses for N=4: expected 28, found 12" in repr(result)


def test_three_passes_wants_the_right_values() -> None:
    def forgets_relu(memory, x, bias):
        y = separate(memory, x, bias)
        y[0] = -2.0
        return y

    assert not course.three_passes(forgets_relu).passed


@pytest.mark.parametrize(("counts", "word"), [
    ([0, 1, 1], "Public checks passed."), ([1, 1, 1], "Wrapping compiles nothing"),
    ([0, 1, 2], "nothing was captured again"), ([0, 0, 0], "The original function was called"),
    ([5, 5, 5], "Not yet"),
])
def test_lazy(counts, word) -> None:
    assert word in repr(course.lazy(lambda: counts))
    assert course.lazy(lambda: counts).passed == (counts == [0, 1, 1])


def nearer(got, eager, reference):
    worst = max(abs(e - r) for e, r in zip(eager, reference))
    return all(abs(g - r) <= 2 * worst for g, r in zip(got, reference))


def test_same() -> None:
    assert course.same(nearer).passed
    assert "which one is nearer" in repr(course.same(lambda got, eager, reference: got == eager))
    everything = lambda got, eager, reference: all(abs(g - e) <= 1.0 for g, e in zip(got, eager))
    assert "forgives everything" in repr(course.same(everything))


def test_an_exercise_not_begun_says_so() -> None:
    for result in (
        course.three_passes(lambda *a: ...),
        course.lazy(lambda: ...),
        course.same(lambda *a: ...),
    ):
        assert not result.passed
        assert repr(result).startswith("Not begun")


def test_formulas_are_checked_against_the_compilers_ledger() -> None:
    assert course.formulas(lambda n: ((4 * n, 3 * n), (7 * n, 4 * n))).passed
    result = course.formulas(lambda n: ((4 * n, 3 * n), (7 * n, 3 * n)))
    assert not result.passed and "handed out has to be stored" in repr(result)


def test_a_report_has_to_ask_the_clock() -> None:
    measured = lambda n, clock: (7 / 3, clock("three passes", n) / clock("one pass", n))
    assert course.report(measured).passed
    assert "no clock was asked" in repr(course.report(lambda n, clock: (7 / 3, 7 / 3)))


def test_launch_cost() -> None:
    assert course.launch_cost((32.5, 5)).passed
    assert "Three times 5" in repr(course.launch_cost((15, 5)))
    assert "Not begun" in repr(course.launch_cost(...)) and "Not begun" in repr(
        course.report(lambda n, clock: ...)
    )
    assert "Not begun" in repr(course.formulas(lambda n: ...))
