"""Operators whose result is the input itself, a view of it, or a copy: `reshape flatten t
contiguous to`.

In: anything with a `.meta` (a tensor, a node) when composed; arrays or metas like every other
operator otherwise.
Out: what PyTorch would return: `x.contiguous()` of a contiguous x *is* x, and so is
`x.to(x.dtype)`.
Invariant: `compose` calls operators only; kernel and meta agree with what it composes.
PyTorch names such operators CompositeImplicitAutograd and takes them apart before autograd, as the
lab does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..dtypes import dtype
from ..graph import TensorMeta, same_shape
from .arrays import empty, meta_of, ndarray, put, with_strides
from .broadcast import dense_strides
from .op import Op, naming, register
from .reductions import wrap_dim
from .views import infer_size, transpose, view, view_strides


def _copied(input: ndarray, out: TensorMeta) -> ndarray:
    result = empty(out)
    with np.errstate(all="ignore"):
        put(result, input)
    return result


# ---- the copies ---------------------------------------------------------------------------------


def _clone_meta(input: TensorMeta, contiguous: bool = False) -> TensorMeta:
    if contiguous:
        return TensorMeta.contiguous(input.shape, input.dtype)
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


def _to_meta(input: TensorMeta, dtype: dtype) -> TensorMeta:
    return TensorMeta(input.shape, dense_strides(input), dtype)


def _copy_op(name: str, meta: Callable) -> Op:
    """Register an operator that copies: every element as it is, or converted."""
    checked = naming(name, meta)

    def kernel(input: ndarray, *args: Any, **kwargs: Any) -> ndarray:
        return _copied(input, checked(meta_of(input), *args, **kwargs))

    return register(name, "pointwise", kernel, checked)


clone = _copy_op("clone", _clone_meta)
to_copy = _copy_op("_to_copy", _to_meta)


# In a graph, for what was written where nothing is recorded: other numbers, the same history.
with_history = register(
    "_with_history",
    "pointwise",
    lambda input, values: values,
    lambda input, values: values,
)


# In a graph, under no_grad: what it gives is no longer connected with what it was computed from.
stop_gradient = register(
    "_stop_gradient", "factory", lambda input: input, lambda input: input.with_grad(False)
)


# ---- the composites -----------------------------------------------------------------------------


def _composite(name: str, meta: Callable, kernel: Callable, compose: Callable) -> Op:
    return register(name, "composite", kernel, meta, compose=compose)


def _contiguous_meta(input: TensorMeta) -> TensorMeta:
    return input if input.is_contiguous else _clone_meta(input, contiguous=True)


def _contiguous_kernel(input: ndarray) -> ndarray:
    out = _contiguous_meta(meta_of(input))
    return input if meta_of(input).is_contiguous else _copied(input, out)


_composite(
    "contiguous",
    _contiguous_meta,
    _contiguous_kernel,
    lambda input: input if input.meta.is_contiguous else clone(input, True),
)


def _to_kernel(input: ndarray, dtype: dtype) -> ndarray:
    return input if input.dtype == dtype.numpy else to_copy.kernel(input, dtype)


_composite(
    "to",
    lambda input, dtype: input if input.dtype is dtype else _to_meta(input, dtype),
    _to_kernel,
    lambda input, dtype: input if input.meta.dtype is dtype else to_copy(input, dtype),
)


def _reshape_copy_meta(input: TensorMeta, shape: Sequence[int]) -> TensorMeta:
    return TensorMeta.contiguous(infer_size(shape, input.numel), input.dtype)


def _reshape_copy_kernel(input: ndarray, shape: Sequence[int]) -> ndarray:
    out = reshape_copy.meta(meta_of(input), shape)
    return with_strides(_copied(input, _clone_meta(meta_of(input), contiguous=True)), out)


# What `reshape` does where no view has the wanted shape. The result is no view: nobody has a tensor
# that it would be one of.
reshape_copy = register("_reshape_copy", "copy", _reshape_copy_kernel, _reshape_copy_meta)


def _reshape_meta(input: TensorMeta, shape: Sequence[int]) -> TensorMeta:
    sizes = infer_size(shape, input.numel)
    strides = view_strides(input, sizes)
    if strides is None:
        return _reshape_copy_meta(input, sizes)
    return TensorMeta(sizes, strides, input.dtype)


def _reshape_kernel(input: ndarray, shape: Sequence[int]) -> ndarray:
    out = reshape.meta(meta_of(input), shape)
    if view_strides(meta_of(input), out.shape) is None:
        return _reshape_copy_kernel(input, shape)
    return with_strides(input, out)


def _reshape(input: Any, shape: Sequence[int]) -> Any:
    sizes = reshape.meta(input.meta, shape).shape
    return (reshape_copy if view_strides(input.meta, sizes) is None else view)(input, sizes)


reshape: Op = _composite("reshape", _reshape_meta, _reshape_kernel, _reshape)


def flat_shape(shape: Sequence[int], start_dim: int, end_dim: int) -> tuple[int, ...]:
    """`shape` with the axes from start_dim to end_dim, both included, made one."""
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return (1,)
    return (*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :])


def _flatten_meta(input: TensorMeta, start_dim: int = 0, end_dim: int = -1) -> TensorMeta:
    shape = flat_shape(input.shape, start_dim, end_dim)
    return input if same_shape(shape, input.shape) else _reshape_meta(input, shape)


def _flatten_kernel(input: ndarray, start_dim: int = 0, end_dim: int = -1) -> ndarray:
    shape = flatten.meta(meta_of(input), start_dim, end_dim).shape
    return input if shape == input.shape else _reshape_kernel(input, shape)


def _flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = flatten.meta(input.meta, start_dim, end_dim).shape
    return input if same_shape(shape, input.meta.shape) else reshape(input, shape)


flatten: Op = _composite("flatten", _flatten_meta, _flatten_kernel, _flatten)


def _t_meta(input: TensorMeta) -> TensorMeta:
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return transpose.meta(input, 0, 1) if input.ndim == 2 else input


def _t(input: Any) -> Any:
    t.meta(input.meta)
    return transpose(input, 0, 1) if input.meta.ndim == 2 else input


def _t_kernel(input: ndarray) -> ndarray:
    return with_strides(input, t.meta(meta_of(input)))


t: Op = _composite("t", _t_meta, _t_kernel, _t)
