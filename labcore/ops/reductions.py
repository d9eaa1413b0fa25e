"""Operators that fold axes: `sum prod mean amax amin any all`.

In: an array, `dim` (None is all axes, or one, or several), `keepdim`.  Out: a contiguous array.
Invariant: sums of integers and bools are int64, sums of floats stay in their type.
Numpy adds pairwise and so does PyTorch, but in blocks of other sizes: last bits may differ from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import dtype
from ..graph import TensorMeta, contiguous_strides
from ..shapes import INTS
from .arrays import empty, in_float32, meta_of, ndarray
from .op import Op, naming, register

Dim = int | Sequence[int] | None


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from 0, or IndexError; a 0-d tensor has dimensions -1 and 0."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got "
            f"{dim})"
        )
    return dim % span


def reduced_axes(dim: Dim, ndim: int) -> tuple[int, ...]:
    """The axes to fold, without doubles. Raises RuntimeError when one is named twice."""
    if dim is None or (not isinstance(dim, INTS) and len(dim) == 0):
        return tuple(range(ndim))
    found: list[int] = []
    for one in (dim,) if isinstance(dim, INTS) else dim:
        axis = wrap_dim(one, ndim)
        if axis in found:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        found.append(axis)
    return tuple(sorted(found)) if ndim else ()


def _reduced(input: TensorMeta, dim: Dim, keepdim: bool, type_: dtype) -> TensorMeta:
    axes = reduced_axes(dim, input.ndim)
    kept = [
        1 if axis in axes else size
        for axis, size in enumerate(input.shape)
        if keepdim or axis not in axes
    ]
    return TensorMeta(tuple(kept), contiguous_strides(kept), type_, input.device)


def _fold(
    fold: Callable, input: ndarray, dim: Dim, keepdim: bool, out: TensorMeta, **more: Any
) -> ndarray:
    result = empty(out)
    with np.errstate(all="ignore"):
        fold(input, axis=reduced_axes(dim, input.ndim), keepdims=keepdim, out=result, **more)
    return result


def _sum_meta(
    input: TensorMeta, dim: Dim = None, keepdim: bool = False, dtype: dtype | None = None
) -> TensorMeta:
    natural = input.dtype if input.dtype.is_floating_point else dtypes.int64
    return _reduced(input, dim, keepdim, dtype or natural)


def _sum_kernel(
    input: ndarray, dim: Dim = None, keepdim: bool = False, dtype: dtype | None = None
) -> ndarray:
    out = sum_.meta(meta_of(input), dim, keepdim, dtype)
    return _fold(np.add.reduce, input, dim, keepdim, out, dtype=out.dtype.numpy)


def _mean_meta(
    input: TensorMeta, dim: Dim = None, keepdim: bool = False, dtype: dtype | None = None
) -> TensorMeta:
    type_ = dtype or input.dtype
    if not type_.is_floating_point:
        what = "Optional" if dtype else "Input"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point "
            f"or complex dtype. Got: {type_.title}"
        )
    return _reduced(input, dim, keepdim, type_)


def _mean_kernel(
    input: ndarray, dim: Dim = None, keepdim: bool = False, dtype: dtype | None = None
) -> ndarray:
    out = mean.meta(meta_of(input), dim, keepdim, dtype)
    total = _fold(np.add.reduce, input, dim, keepdim, out, dtype=out.dtype.numpy)
    count = input.size // max(total.size, 1) if total.size else 1
    with np.errstate(all="ignore"):
        return np.divide(total, out.dtype.numpy.type(count), out=total)


def _prod_kernel(
    input: ndarray, dim: int | None = None, keepdim: bool = False, dtype: dtype | None = None
) -> ndarray:
    out = prod_.meta(meta_of(input), dim, keepdim, dtype)
    return _fold(np.multiply.reduce, input, dim, keepdim, out, dtype=out.dtype.numpy)


def _floats(name: str, kernel: Callable, meta: Callable) -> Op:
    checked = naming(name, meta)
    return register(name, "reduction", in_float32(kernel, checked), checked)


prod_: Op = _floats("prod", _prod_kernel, _sum_meta)
sum_: Op = _floats("sum", _sum_kernel, _sum_meta)
mean: Op = _floats("mean", _mean_kernel, _mean_meta)


# ---- the largest, the smallest ------------------------------------------------------------------


def _extreme(name: str, ufunc: np.ufunc) -> Op:
    """`amax` and `amin`: nan wins, and an empty axis has no answer."""

    def meta(input: TensorMeta, dim: Dim = (), keepdim: bool = False) -> TensorMeta:
        everything = not isinstance(dim, INTS) and not dim
        if everything and input.numel == 0:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        named = (dim,) if isinstance(dim, INTS) else dim or ()
        for one in () if input.numel else named:
            if input.shape[wrap_dim(one, input.ndim)] == 0:
                raise IndexError(f"{name}(): Expected reduction dim {one} to have non-zero size.")
        return _reduced(input, dim, keepdim, input.dtype)

    def kernel(input: ndarray, dim: Dim = (), keepdim: bool = False) -> ndarray:
        return _fold(ufunc.reduce, input, dim, keepdim, checked(meta_of(input), dim, keepdim))

    checked = naming(name, meta)
    return register(name, "reduction", in_float32(kernel, checked), checked)


_extreme("amax", np.maximum)
_extreme("amin", np.minimum)


# ---- any, all -----------------------------------------------------------------------------------


def _truth(name: str, ufunc: np.ufunc) -> Op:
    """`any` and `all`. Here, and only here, an empty tuple of dimensions folds nothing."""

    def axes(dim: Dim, ndim: int) -> tuple[int, ...]:
        return (
            ()
            if dim is not None and not isinstance(dim, INTS) and not dim
            else reduced_axes(dim, ndim)
        )

    def meta(input: TensorMeta, dim: Dim = None, keepdim: bool = False) -> TensorMeta:
        folded = axes(dim, input.ndim)
        if input.ndim and not folded:
            return TensorMeta.contiguous(input.shape, dtypes.bool)
        return _reduced(input, folded, keepdim, dtypes.bool)

    def kernel(input: ndarray, dim: Dim = None, keepdim: bool = False) -> ndarray:
        result = empty(checked(meta_of(input), dim, keepdim))
        ufunc.reduce(input.astype(bool), axis=axes(dim, input.ndim), keepdims=keepdim, out=result)
        return result

    checked = naming(name, meta)
    return register(name, "reduction", kernel, checked)


_truth("any", np.logical_or)
_truth("all", np.logical_and)
