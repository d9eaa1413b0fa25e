"""Is this tensor laid out as the kernels that will read it were told?

Kernels get bare addresses, so a wrong layout is wrong memory.  Who is asked: what an operator
outside the program returned, and the inputs of a backward graph (they come from the user's
`backward()`, which no guard has seen). Inputs of other graphs were checked by guards; PyTorch's
wrappers check those here, too (`assert_size_stride`).
"""

from __future__ import annotations

from typing import Any

from ..dtypes import dtype


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
