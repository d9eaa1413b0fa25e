"""Layouts while a program runs: is a tensor laid out as the kernels that will read it were told,
and an array's memory seen under another one.

Kernels get bare addresses, so a wrong layout is wrong memory.  Who is asked: what an operator
outside the program returned, and the inputs of a backward graph (they come from the user's
`backward()`, which no guard has seen). Inputs of other graphs were checked by guards; PyTorch's
wrappers check those here, too (`assert_size_stride`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import dtype
from ..tensor.storage import flat


def assert_layout(
    tensor: Any, name: str, shape: tuple[int, ...], stride: tuple[int, ...], dtype: dtype
) -> None:
    """Raise AssertionError unless the tensor has this shape, these strides and this dtype."""
    if tensor.shape == shape and tensor._stride == stride and tensor.dtype is dtype:
        return
    if (
        tensor.shape == shape
        and tensor.dtype is dtype
        and _same_steps(tensor._stride, stride, shape)
    ):
        return
    raise AssertionError(
        f"{name}: compiled code expects {dtype.name}{list(shape)} with strides {stride}, "
        f"but got {tensor.dtype.name}{list(tensor.shape)} with strides {tensor._stride}"
    )


def _same_steps(stride: tuple[int, ...], wanted: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """The stride of an axis of size 1 does not matter, nor any of an empty tensor."""
    return 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, stride, wanted))


def strided(
    array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], start: int = 0
) -> np.ndarray:
    """An array's memory, from its element `start` on, under this layout; strides are in elements.
    """
    memory, size = flat(array), array.itemsize
    begin = start * size if 0 not in shape else 0
    return np.ndarray(shape, memory.dtype, memory, begin, [s * size for s in strides])
