"""What a program says of its tensors' sizes: `mark_dynamic maybe_mark_dynamic mark_static`.

In: a tensor and axes.  Out: a mark for each, read when a function that gets the tensor is captured.
Invariant: a mark goes with the tensor object, not with its data; it is kept in the tensor's layout,
so that a variant made without it is not the marked tensor's.
PyTorch also has `mark_unbacked`: one variant for all sizes from 0 on, which nobody may ask for.
Here shape rules, strides and loops rely on a symbol being at least 2 (a size of 1 broadcasts, and
has any stride), so that even `x * 2` asks; 0 and 1 are variants of their own.
"""

from __future__ import annotations

from typing import Any

from .layout import Mark
from .tensor import Tensor


def mark_of(tensor: Tensor, axis: int) -> Mark:
    """Its kind is "" for an axis that nothing was said about."""
    return next((mark for mark in tensor._layout.marks if mark.axis == axis), Mark(axis, ""))


def mark_dynamic(
    tensor: Tensor,
    index: int | list[int] | tuple[int, ...],
    *,
    min: int | None = None,
    max: int | None = None,
) -> None:
    """Sizes along these axes are to be symbols, from 2 on. A function that only works for the size
    it has is then an error, ConstraintViolationError; so is one that does not work for all sizes
    from `min` to `max`, and a size outside. What follows from that range needs no guard.

    Raises ValueError where no size is left between the two."""
    if min is not None and max is not None and min > max:
        raise ValueError(f"no size is at least {min} and at most {max}")
    _mark(tensor, index, "dynamic", min, max)


def maybe_mark_dynamic(tensor: Tensor, index: int | list[int] | tuple[int, ...]) -> None:
    """Sizes along these axes may be symbols; a function that needs the size it has gets it."""
    _mark(tensor, index, "maybe")


def mark_static(tensor: Tensor, index: int | list[int] | tuple[int, ...] | None = None) -> None:
    """Sizes along these axes (None: all) are constants, also after they have changed."""
    _mark(tensor, tuple(range(tensor.ndim)) if index is None else index, "static")


def _mark(
    tensor: Tensor, index: Any, kind: str, low: int | None = None, high: int | None = None
) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor, got {type(tensor).__name__}")
    axes = index if isinstance(index, (list, tuple)) else (index,)
    for axis in axes:
        if not -tensor.ndim <= axis < tensor.ndim:
            raise IndexError(f"axis {axis} of a tensor with {tensor.ndim} axes")
    new = {axis % tensor.ndim: Mark(axis % tensor.ndim, kind, low, high) for axis in axes}
    kept = [mark for mark in tensor._layout.marks if mark.axis not in new]
    tensor._layout = tensor._layout.marked(frozenset((*kept, *new.values())))
