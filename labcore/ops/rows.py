"""Operators that take, write or mark whole rows: `index_select index_add embedding one_hot
masked_fill` ...

In: a tensor, and integers that name places along one axis; or a mask.  Out: a new tensor.
Invariant: as in `gathers.py`: a place that does not exist raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from . import composites, factories, pointwise  # noqa: F401  their parts
from .arrays import empty, ndarray
from .derivatives import derivative, meta_of as facts
from .gathers import INTEGERS, grad_type, indexed
from .op import Table, register
from .parts import composite, decomposed
from .reductions import wrap_dim

ops = Table()

def _check_rows(name: str, input: TensorMeta, dim: int, index: TensorMeta) -> int:
    axis = wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    if index.dtype not in INTEGERS:
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index")
    return axis


def _index_select_meta(input: TensorMeta, dim: int, index: TensorMeta) -> TensorMeta:
    axis = _check_rows("index_select", input, dim, index)
    if not input.ndim:
        return TensorMeta.contiguous((), input.dtype)
    shape = (*input.shape[:axis], index.numel, *input.shape[axis + 1 :])
    return TensorMeta.contiguous(shape, input.dtype)


def _rows(index: ndarray, size: int) -> ndarray:
    index = np.atleast_1d(index)
    if ((index < 0) | (index >= size)).any():
        raise IndexError("index out of range in self")
    return index


def _index_select_kernel(out: TensorMeta, input: ndarray, dim: int, index: ndarray) -> ndarray:
    result, source = empty(out), np.atleast_1d(input)
    axis = wrap_dim(dim, input.ndim)
    taken = source.take(_rows(index, source.shape[axis]), axis)
    result[...] = taken.reshape(result.shape)
    return result


def _index_add_meta(
    input: TensorMeta, dim: int, index: TensorMeta, source: TensorMeta, alpha: Any = 1
) -> TensorMeta:
    axis = _check_rows("index_add", input, dim, index)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            "index_add_(): self and source must have the same scalar type"
        )
    part = (*input.shape[:axis], index.numel, *input.shape[axis + 1 :])
    if input.ndim and source.shape != part:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(input.shape)} source.shape = {list(source.shape)}"
        )
    return TensorMeta.contiguous(input.shape, input.dtype)


def _index_add_kernel(
    out: TensorMeta, input: ndarray, dim: int, index: ndarray, source: ndarray, alpha: Any = 1
) -> ndarray:
    result = empty(out)
    result[...] = input
    target, more = np.atleast_1d(result), np.atleast_1d(source)
    axis = wrap_dim(dim, input.ndim)
    rows = _rows(index, target.shape[axis])
    if alpha != 1:
        more = more * more.dtype.type(alpha)
    np.add.at(np.moveaxis(target, axis, 0), rows, np.moveaxis(more, axis, 0))
    return result


indexed("index_select", _index_select_kernel, _index_select_meta)
indexed("index_add", _index_add_kernel, _index_add_meta, adds=True)

derivative(
    "index_select",
    input=lambda grad, input_meta, dim, index: ops.index_add(
        ops.zeros(input_meta.shape, grad_type(grad)), dim, index, grad
    ),
)
derivative(
    "index_add",
    input=lambda grad: grad,
    source=lambda grad, source_meta, dim, index, alpha: ops.mul(
        ops.view(ops.index_select(grad, dim, index), source_meta.shape), alpha
    ),
)


@decomposed("F", kind="indexed")
def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """The rows of `weight` that `input` names. The row `padding_idx` gets no gradient."""
    table = facts(weight)
    if table.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if padding_idx is not None and not -table.shape[0] <= padding_idx < table.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    rows = ops.index_select(weight, 0, ops.reshape(input, (-1,)))
    return ops.view(rows, (*facts(input).shape, table.shape[1]))


def _embedding_rule(grad: Any, input: Any, weight_meta: Any, padding_idx: int | None) -> Any:
    if padding_idx is not None:
        padding_idx %= weight_meta.shape[0]
        grad = ops.where(ops.unsqueeze(ops.eq(input, padding_idx), -1), 0.0, grad)
    rows = ops.reshape(grad, (facts(input).numel, weight_meta.shape[1]))
    empty_table = ops.zeros(weight_meta.shape, grad_type(grad))
    return ops.index_add(empty_table, 0, ops.reshape(input, (-1,)), rows)


derivative("embedding", weight=_embedding_rule)


@composite("torch Tensor")
def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    if dim is None:
        return ops.gather(ops.reshape(input, (-1,)), 0, ops.reshape(indices, (-1,)))
    return ops.gather(input, dim, indices)


@composite("torch Tensor")
def repeat_interleave(input: Any, repeats: int, dim: int | None = None) -> Any:
    """Each element (or row along `dim`) so many times in a row."""
    if dim is None:
        input, dim = ops.reshape(input, (-1,)), 0
    if not isinstance(repeats, int):
        raise TypeError("repeat_interleave(): repeats must be a number; a tensor is not supported")
    shape = facts(input).shape
    axis = wrap_dim(dim, len(shape))
    wide = ops.expand(
        ops.unsqueeze(input, axis + 1), (*shape[: axis + 1], repeats, *shape[axis + 1 :])
    )
    whole = ops.clone(wide, True)  # also where it could be a view
    return ops.view(whole, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


@composite("F")
def one_hot(input: Any, num_classes: int = -1) -> Any:
    """1 at the class, 0 elsewhere, in a new last axis."""
    meta = facts(input)
    if meta.dtype is not dtypes.int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor."
        )
    if num_classes < 0:
        raise RuntimeError(
            "one_hot(): num_classes must be given: how many there are would depend on the values"
        )
    classes = ops._one_hot_classes(input, num_classes)
    return ops.to(ops.eq(ops.unsqueeze(classes, -1), ops.arange(num_classes)), dtypes.int64)


def _one_hot_classes_kernel(input: ndarray, count: int) -> ndarray:
    if input.size and input.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if input.size and input.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return np.array(input, order="C")


register(
    "_one_hot_classes",
    "indexed",
    _one_hot_classes_kernel,
    lambda input, count: TensorMeta.contiguous(input.shape, input.dtype),
)


@composite("torch Tensor")
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    if facts(mask).dtype is not dtypes.bool:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{facts(mask).dtype.name}"
        )
    kept = facts(input).dtype
    filled = ops.full((), value, kept) if not hasattr(value, "meta") else value
    return ops.contiguous(ops.where(mask, filled, input))

