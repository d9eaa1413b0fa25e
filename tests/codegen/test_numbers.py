"""Kernels that take numbers beside arrays: what the launcher makes of them, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from labcore.codegen.build import build

SOURCE = '''
@kernel
def numba_fill_0(x: "float32*", value: "float64", count: "int64"):
    for i0 in range(count):
        x[i0] = float32(value) + float32(count)
'''


@pytest.fixture(scope="module")
def fill():
    return build(SOURCE).launchers["numba_fill_0"]


def filled(fill, value, count):
    x = np.zeros(4, np.float32)
    fill(x, value, count)
    return x.tolist()


def test_numbers_reach_the_kernel(fill):
    assert filled(fill, 0.5, 3) == [3.5, 3.5, 3.5, 0.0]
    assert filled(fill, -1.0, 2) == [1.0, 1.0, 0.0, 0.0]  # -1.0 is what a failure looks like, too
    assert filled(fill, 7.0, -1) == [0.0] * 4
    assert filled(fill, 2, 1) == [3.0, 0.0, 0.0, 0.0]
    assert np.isnan(filled(fill, float("nan"), 1)[0])


@pytest.mark.parametrize(
    ("value", "count", "error"),
    [
        ("1", 3, TypeError),
        (None, 3, TypeError),
        (1.0, 2.5, TypeError),
        (1.0, 2**63, OverflowError),
        (10**400, 1, OverflowError),
    ],
)
def test_what_is_no_such_number_is_refused(fill, value, count, error):
    with pytest.raises(error):
        filled(fill, value, count)


def test_the_number_of_arguments_counts(fill):
    with pytest.raises(TypeError):
        fill(np.zeros(4, np.float32), 1.0)
    with pytest.raises(TypeError):
        fill(1.0, 1.0, 1)
