"""Strides without data."""
from __future__ import annotations

import pytest

from labcore import devices, dtypes
from labcore.graph import TensorMeta, contiguous_strides


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((4,), (1,)), ((2, 3), (3, 1)), ((2, 0, 3), (3, 3, 1)), ((1, 5, 1), (5, 1, 1))],
)
def test_contiguous_strides(shape, strides) -> None:
    assert contiguous_strides(shape) == strides


def test_contiguity_ignores_axes_of_one() -> None:
    assert TensorMeta((1, 4), (99, 1), dtypes.float32).is_contiguous
    assert not TensorMeta((4, 2), (1, 4), dtypes.float32).is_contiguous
    assert TensorMeta((0, 4), (1, 9), dtypes.float32).is_contiguous


def test_sizes_and_text() -> None:
    meta = TensorMeta.contiguous((2, 3), dtypes.float64)
    assert (meta.numel, meta.nbytes, meta.ndim, str(meta)) == (6, 48, 2, "float64[2, 3]")
    assert meta.with_grad(True).requires_grad


def test_a_device_that_is_not_here_says_so() -> None:
    assert devices.device("cpu") == devices.cpu and str(devices.cpu) == "cpu"
    with pytest.raises(RuntimeError, match="device 'tpu' is not available"):
        devices.device("tpu")


def test_numpy_types_find_their_own() -> None:
    import numpy as np
    assert [dtypes.from_numpy(t.numpy) for t in dtypes.ALL] == list(dtypes.ALL)
    with pytest.raises(TypeError, match="int16.*supported types are: float32"):
        dtypes.from_numpy(np.dtype(np.int16))
