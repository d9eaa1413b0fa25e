"""guard_matrix: the answers of all variants, the same as a watched call gets, and no call made."""

from __future__ import annotations

import re

import pytest

import labcore as torch
from labcore import trace
from labcore.compiler import guard_matrix, reset


@pytest.fixture(autouse=True)
def _fresh_ids():
    reset()


def block(x, bias):
    return torch.relu(x + bias) * 2


def ones(n, **kwargs):
    return torch.ones(n, **kwargs), torch.ones(n)


def compiled(fn=block, **options):
    return torch.compile(fn, backend="eager", **{"dynamic": False, **options})


def test_every_variant_is_asked_up_to_its_first_failing_guard():
    fn = compiled()
    fn(*ones(4))
    fn(*ones(8))
    told = guard_matrix(fn)(*ones(4))
    assert [row.variant for row in told.rows] == ["0/1", "0/0"]
    assert (told.rows[0].fits, told.rows[1].fits, told.answer) == (False, True, "0/0")
    failed = told.rows[0].failed
    assert failed is not None and failed is told.rows[0].checks[-1]
    assert (failed.text, failed.expected, failed.actual) == ("x.size() == (8,)", "(8,)", "(4,)")
    assert failed.origin is not None and failed.origin.code == "x + bias"
    assert len(told.rows[1].checks) == len(told.rows[1].guards)


def test_the_answers_are_the_events_of_a_watched_call():
    fn = compiled()
    for n in (4, 8, 16):
        fn(*ones(n))
    for n in (4, 16, 32, 8):
        before = guard_matrix(fn)(*ones(n))
        with trace.record() as recorder:
            fn(*ones(n))
        asked = [check for row in before.rows for check in row.checks]
        told = recorder.of(trace.GuardCheck)
        for check in asked:
            check.call = told[0].call
        assert asked[: len(told)] == told
        assert before.answer == "".join(e.compile_id for e in recorder.of(trace.Execute) if e.hit)


def test_nothing_is_called_compiled_or_moved_to_the_front():
    seen = []

    def noting(x):
        seen.append(1)
        return x * 2

    fn = compiled(noting)
    fn(torch.ones(4))
    fn(torch.ones(8))
    with trace.record() as recorder:
        first = guard_matrix(fn)(torch.ones(4))
        second = guard_matrix(fn)(torch.ones(16))
    assert len(seen) == 2 and len(recorder) == 0
    assert [row.variant for row in first.rows] == [row.variant for row in second.rows]
    assert second.answer == ""


def test_a_guard_behind_a_failing_one_is_not_asked():
    def first_row(x, n):
        return x[0] * n if x.shape[0] > 2 else x

    fn = compiled(first_row)
    fn(torch.ones(4, 4), 2)
    (row,) = guard_matrix(fn)("no tensor", 2).rows
    assert not row.fits and len(row.checks) < len(row.guards)


def test_the_text_has_a_line_a_variant():
    fn = compiled()
    fn(*ones(4))
    lines = str(guard_matrix(fn)(*ones(8))).splitlines()
    assert lines[0] == "block(float32[8], float32[8]): 1 variant, none fits"
    failed = r"  \[0/0\] ✓✓✕·+  x\.size\(\) == \(4,\): expected \(4,\), actual \(8,\); line \d+: "
    assert re.fullmatch(failed + r"x \+ bias", lines[1])
    assert re.fullmatch(r"  \[0/0\] ✓+  fits", str(guard_matrix(fn)(*ones(4))).splitlines()[1])


def test_before_the_first_call_there_is_no_row():
    assert str(guard_matrix(compiled())(*ones(4))) == (
        "block(float32[4], float32[4]): 0 variants, none fits"
    )


def test_arguments_are_bound_as_a_call_binds_them():
    def spread(x, *more, scale=2, **named):
        return x * scale + more[0] + named["bias"]

    fn = compiled(spread)
    four = torch.ones(4)
    fn(four, four, bias=four)
    assert guard_matrix(fn)(four, four, bias=four).answer == "0/0"
    assert guard_matrix(fn)(four, four, bias=four, scale=2).answer == "0/0"
    assert guard_matrix(fn)(four, four, bias=four, scale=3).answer == ""
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        guard_matrix(fn)()


class Scaling:
    factor = 2

    def run(self, x):
        return x * self.factor

    def __call__(self, x):
        return x * self.factor


def test_methods_and_objects_have_their_self():
    scaling, x = Scaling(), torch.ones(4)
    for fn in (compiled(scaling.run), compiled(scaling)):
        fn(x)
        assert guard_matrix(fn)(x).answer
        scaling.factor += 1
        assert not guard_matrix(fn)(x).answer


def test_a_variant_that_runs_eagerly_says_so():
    def wrong(x):
        return x + torch.ones(3)

    fn = compiled(wrong)
    with pytest.raises(RuntimeError, match="The size of tensor"):
        fn(torch.ones(4))
    (row,) = guard_matrix(fn)(torch.ones(4)).rows
    assert row.fits and row.result == "eager" and str(row).endswith("  fits: runs eagerly")


def test_what_was_never_compiled_is_refused():
    with pytest.raises(TypeError, match="block has no variants"):
        guard_matrix(block)
    with pytest.raises(TypeError, match="int has no variants"):
        guard_matrix(3)
