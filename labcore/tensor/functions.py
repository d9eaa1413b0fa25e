"""Functions beside the operators: comparisons of whole tensors, and the settings of the process.

In: tensors, or a setting.  Out: Python values.
Invariant: a setting holds for all threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labcore import dtypes

from .cuda import to_host
from .modes import usual
from .tensor import Tensor


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def is_floating_point(input: Tensor) -> bool:
    return input.dtype.is_floating_point


def numel(input: Tensor) -> int:
    return input.array.size


def equal(input: Tensor, other: Tensor) -> bool:
    """The same shape and the same values; nan equals nothing."""
    return input.shape == other.shape and bool((to_host(input.array) == to_host(other.array)).all())


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Where is |input - other| at most atol + rtol * |other|?"""
    from .tensor import wrap

    return wrap(np.asarray(_close(input, other, rtol, atol, equal_nan)))


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Is |input - other| at most atol + rtol * |other| everywhere?"""
    return bool(_close(input, other, rtol, atol, equal_nan).all())


def _close(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}")
    a, b = to_host(input.array), to_host(other.array)
    with np.errstate(all="ignore"):
        if input.dtype.is_half or not input.dtype.is_floating_point:
            a, b = a.astype(np.float64), b.astype(np.float64)
        return np.isclose(a, b, rtol, atol, equal_nan)


# ---- settings -----------------------------------------------------------------------------------


def get_default_dtype() -> dtypes.dtype:
    return dtypes.default


def set_default_dtype(dtype: dtypes.dtype) -> None:
    """The type of Python floats, of `zeros(3)`, and of a division of integers."""
    if not isinstance(dtype, dtypes.dtype) or not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    usual.note(dtypes.default is dtypes.float32, False)
    dtypes.default = dtype
    usual.note(False, dtype is dtypes.float32)
