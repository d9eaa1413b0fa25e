"""The check of a tensor's layout before a kernel reads it."""

from __future__ import annotations

import pytest

from labcore import dtypes
from labcore.runtime.layout import assert_layout
from labcore.tensor import empty_strided

F = dtypes.float32


@pytest.mark.parametrize(
    ("shape", "stride", "wanted"),
    [
        ((4,), (1,), (1,)),
        ((2, 3), (3, 1), (3, 1)),
        ((2, 3), (1, 2), (1, 2)),
        ((1, 3), (3, 1), (1, 1)),  # the stride of a size of 1 does not matter
        ((0, 3), (3, 1), (1, 7)),
        ((), (), ()),
    ],
)
def test_what_leads_to_the_same_elements_passes(shape, stride, wanted):
    assert_layout(empty_strided(shape, stride, F), "x", shape, wanted, F)


@pytest.mark.parametrize(
    ("shape", "stride", "dtype"),
    [
        ((5,), (1,), F),
        ((4,), (2,), F),
        ((4,), (1,), dtypes.int32),
        ((4, 1), (1, 1), F),
    ],
)
def test_what_does_not_is_named(shape, stride, dtype):
    with pytest.raises(
        AssertionError,
        match=r"^x: compiled code expects float32\[4\] with strides \(1,\), but got ",
    ):
        assert_layout(empty_strided(shape, stride, dtype), "x", (4,), (1,), F)
