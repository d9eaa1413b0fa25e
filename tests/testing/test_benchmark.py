"""The timer, with a clock that is set by hand where figures are asserted."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.utils.benchmark import Measurement, Timer


def test_a_measurement_counts():
    found = Measurement(
        number_per_run=10, raw_times=[1.0, 3.0, 2.0, 4.0], stmt="f(x)", num_threads=2
    )
    assert found.times == [0.1, 0.3, 0.2, 0.4]
    assert (found.median, found.mean) == pytest.approx((0.25, 0.25)) and found.iqr == pytest.approx(
        0.15
    )
    assert repr(found) == (
        "<Measurement>\nf(x)\nsetup: \n  Median: 250.00 ms\n  IQR:    150.00 ms\n"
        "  4 measurements, 10 runs per measurement, 2 threads"
    )


def test_timeit_runs_as_often_as_asked():
    calls: list[int] = []
    found = Timer(
        "calls.append(torch.get_num_threads())", "calls.clear()", globals={"calls": calls}
    ).timeit(50)
    assert found.number_per_run == 50 and len(found.raw_times) == 1 and len(calls) == 50
    assert set(calls) == {1}, "one thread while it is measured"


def test_blocked_autorange_spends_the_time():
    before = torch.get_num_threads()
    found = Timer("x + 1", globals={"x": torch.ones(4)}, num_threads=2).blocked_autorange(
        min_run_time=0.02
    )
    assert sum(found.raw_times) >= 0.02 and found.number_per_run >= 10 and found.num_threads == 2
    assert 0 < found.median <= max(found.times) and torch.get_num_threads() == before


def test_a_failing_statement_gives_the_threads_back():
    before = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        Timer("1 / 0", num_threads=1).blocked_autorange()
    assert torch.get_num_threads() == before
