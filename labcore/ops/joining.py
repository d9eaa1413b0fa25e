"""Operators that put tensors together: `cat stack slice_scatter select_scatter`.

In: several tensors.  Out: a new tensor; the scatters copy `input` and write `src` into a part of
it.
Invariant: nothing is written in place; the scatters are the pure form of writing through a view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import TensorMeta, same_shape
from .arrays import empty, meta_of, ndarray
from .broadcast import dense_strides
from .op import naming, register
from .promote import result_type
from .reductions import wrap_dim
from .views import select, slice_


def _cat_meta(tensors: Sequence[TensorMeta], dim: int = 0) -> TensorMeta:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for position, meta in enumerate(tensors):
        if not meta.shape:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {position}) cannot be concatenated"
            )
    real = [(i, m) for i, m in enumerate(tensors) if m.shape != (0,)]
    if not real:  # empty 1-D tensors join anything, in any dimension
        return TensorMeta.contiguous((0,), result_type(*tensors))
    first = real[0][1]
    axis = wrap_dim(dim, first.ndim)
    for position, meta in real:
        _check_joins(first, meta, axis, position)
    shape = list(first.shape)
    shape[axis] = sum(m.shape[axis] for _, m in real)
    return TensorMeta.contiguous(shape, result_type(*tensors))


def _check_joins(first: TensorMeta, meta: TensorMeta, axis: int, position: int) -> None:
    if meta.ndim != first.ndim:
        raise RuntimeError(
            f"Tensors must have same number of dimensions: got {first.ndim} and {meta.ndim}"
        )
    for other in range(first.ndim):
        if other != axis and meta.shape[other] != first.shape[other]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size "
                f"{first.shape[other]} but got size {meta.shape[other]} for tensor number "
                f"{position} in the list."
            )


def _cat_kernel(tensors: Sequence[ndarray], dim: int = 0) -> ndarray:
    out = empty(_cat(meta_of(list(tensors)), dim))
    parts = [a for a in tensors if a.shape != (0,)]
    if parts:
        np.concatenate(parts, axis=dim, out=out, casting="unsafe")
    return out


def _stack_meta(tensors: Sequence[TensorMeta], dim: int = 0) -> TensorMeta:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    axis = wrap_dim(dim, first.ndim + 1)
    for position, meta in enumerate(tensors):
        if not same_shape(meta.shape, first.shape):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry "
                f"0 and {list(meta.shape)} at entry {position}"
            )
    return TensorMeta.contiguous(
        (*first.shape[:axis], len(tensors), *first.shape[axis:]), result_type(*tensors)
    )


def _stack_kernel(tensors: Sequence[ndarray], dim: int = 0) -> ndarray:
    out = empty(_stack(meta_of(list(tensors)), dim))
    np.stack(tensors, axis=dim, out=out, casting="unsafe")
    return out


_cat, _stack = naming("cat", _cat_meta), naming("stack", _stack_meta)
register("cat", "other", _cat_kernel, _cat)
register("stack", "other", _stack_kernel, _stack)


# ---- writing through a view, without writing ----------------------------------------------------


def _scattered(input: TensorMeta, part: TensorMeta, src: TensorMeta) -> TensorMeta:
    """The copy keeps its input's strides, gaps too: it stands for the input after the write."""
    if not same_shape(src.shape, part.shape):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    repeats = any(n > 1 and s == 0 for n, s in zip(input.shape, input.stride))
    return TensorMeta(input.shape, dense_strides(input) if repeats else input.stride, input.dtype)


def _select_scatter_meta(input: TensorMeta, src: TensorMeta, dim: int, index: int) -> TensorMeta:
    return _scattered(input, select.meta(input, dim, index), src)


def _slice_scatter_meta(
    input: TensorMeta,
    src: TensorMeta,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> TensorMeta:
    return _scattered(input, slice_.meta(input, dim, start, end, step), src)


def _scatter(name: str, view: Any, meta: Any) -> None:
    checked = naming(name, meta)

    def kernel(input: ndarray, src: ndarray, *args: Any, **kwargs: Any) -> ndarray:
        out = empty(checked(meta_of(input), meta_of(src), *args, **kwargs))
        with np.errstate(all="ignore"):
            out[...] = input
            np.copyto(view.kernel(out, *args, **kwargs), src, casting="unsafe")
        return out

    register(name, "other", kernel, checked)


_scatter("select_scatter", select, _select_scatter_meta)
_scatter("slice_scatter", slice_, _slice_scatter_meta)
