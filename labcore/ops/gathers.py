"""Operators that read and write at places given by a tensor: `gather index_select embedding
scatter scatter_add index_add`.

In: a tensor, an axis, integers that name places along it.  Out: a new tensor; nothing is written in
place.
Invariant: an index that does not exist raises. That is why these have no loops: a loop cannot
raise, so a graph calls their kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from . import composites, factories, pointwise  # noqa: F401  their parts
from .arrays import empty, meta_of, ndarray
from .broadcast import dense_strides
from .derivatives import derivative, meta_of as facts
from .op import Op, Table, naming, register
from .parts import composite, decomposed
from .reductions import wrap_dim

ops = Table()
INTEGERS = (dtypes.int64, dtypes.int32)


def _register(name: str, kernel: Callable, meta: Callable) -> Op:
    """An operator whose kernel is given the layout that the meta rule found."""
    checked = naming(name, meta)

    def checking(*args: Any, **kwargs: Any) -> ndarray:
        named = {key: meta_of(value) for key, value in kwargs.items()}
        out = checked(*meta_of(args), **named)
        with np.errstate(all="ignore"):
            return kernel(out, *args, **kwargs)

    return register(name, "indexed", checking, checked)


# ---- gather and scatter: an index for each element -----------------------------------------------


def _check_index(name: str, input: TensorMeta, dim: int, index: TensorMeta, other: Any) -> None:
    """Is it an index of the same number of axes, none longer than it may be?"""
    axis = wrap_dim(dim, input.ndim)
    if index.dtype not in INTEGERS:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as "
            f"{'input' if other is None else 'self'} tensor"
        )
    if not index.numel:
        return
    for at, size in enumerate(index.shape):
        if at != axis and size > input.shape[at]:
            what = "input" if other is None else "self"
            raise RuntimeError(
                f"Size does not match at dimension {at} expected index {list(index.shape)} to be "
                f"no larger than {'self' if other is None else what} {list(input.shape)} apart "
                f"from dimension {axis}"
            )
        if isinstance(other, TensorMeta) and size > other.shape[at]:
            raise RuntimeError(
                f"Expected index {list(index.shape)} to be no larger than self "
                f"{list(input.shape)} apart from dimension {axis} and to be no larger size than "
                f"src {list(other.shape)}"
            )


def _check_bounds(index: ndarray, size: int, axis: int) -> None:
    wrong = (index < 0) | (index >= size)
    if wrong.any():
        raise RuntimeError(
            f"index {index[wrong].flat[0]} is out of bounds for dimension {axis} with size {size}"
        )


def _places(input: ndarray, dim: int, index: ndarray) -> tuple[ndarray, ...]:
    """An index that numpy understands: for each element of `index` its place in `input`."""
    axis = wrap_dim(dim, input.ndim)
    _check_bounds(index, input.shape[axis], axis)
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[axis] = index
    return tuple(grid)


def _gather_meta(input: TensorMeta, dim: int, index: TensorMeta) -> TensorMeta:
    _check_index("gather", input, dim, index, None)
    return TensorMeta.contiguous(index.shape, input.dtype)


def _gather_kernel(out: TensorMeta, input: ndarray, dim: int, index: ndarray) -> ndarray:
    result = empty(out)
    if index.size:
        flat, where = np.atleast_1d(input), np.atleast_1d(index)
        result[...] = flat[_places(flat, dim, where)].reshape(result.shape)
    return result


_register("gather", _gather_kernel, _gather_meta)


def _scatter_meta(input: TensorMeta, dim: int, index: TensorMeta, src: Any) -> TensorMeta:
    _check_index("scatter", input, dim, index, src)
    if isinstance(src, TensorMeta) and src.dtype is not input.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


def _scattering(write: Callable[[ndarray, tuple, Any], None]) -> Callable[..., ndarray]:
    def kernel(out: TensorMeta, input: ndarray, dim: int, index: ndarray, src: Any) -> ndarray:
        result = empty(out)
        result[...] = input
        if index.size:
            target, where = np.atleast_1d(result), np.atleast_1d(index)
            if isinstance(src, ndarray):
                src = np.atleast_1d(src)[tuple(slice(n) for n in where.shape)]
            write(target, _places(target, dim, where), src)
        return result

    return kernel


def _assign(target: ndarray, places: tuple, src: Any) -> None:
    target[places] = src


def _add(target: ndarray, places: tuple, src: Any) -> None:
    np.add.at(target, places, src)


_register("scatter", _scattering(_assign), _scatter_meta)
_register("scatter_add", _scattering(_add), _scatter_meta)

derivative(
    "gather",
    input=lambda grad, input_meta, dim, index: ops.scatter_add(
        ops.zeros(input_meta.shape, grad_type(grad)), dim, index, grad
    ),
)
derivative(
    "scatter",
    input=lambda grad, dim, index: ops.scatter(grad, dim, index, 0),
    src=lambda grad, src_meta, dim, index: _source(ops.gather(grad, dim, index), src_meta),
)
derivative(
    "scatter_add",
    input=lambda grad: grad,
    src=lambda grad, src_meta, dim, index: _source(ops.gather(grad, dim, index), src_meta),
)


def grad_type(grad: Any) -> Any:
    return facts(grad).dtype


def _source(grad: Any, src: Any) -> Any:
    """The gradient of a source of which only the part as large as the index was used."""
    for axis, (have, size) in enumerate(zip(facts(grad).shape, src.shape)):
        if have != size:
            shape = (*facts(grad).shape[:axis], size, *facts(grad).shape[axis + 1 :])
            grad = ops.slice_scatter(ops.zeros(shape, grad_type(grad)), grad, axis, 0, have)
    return grad


# ---- whole rows ----------------------------------------------------------------------------------


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
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


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


_register("index_select", _index_select_kernel, _index_select_meta)
_register("index_add", _index_add_kernel, _index_add_meta)

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
    rows = ops.index_select(weight, 0, ops.reshape(input, (-1,)))
    return ops.view(rows, (*facts(input).shape, table.shape[1]))


def _embedding_rule(grad: Any, input: Any, weight_meta: Any, padding_idx: int | None) -> Any:
    if padding_idx is not None:
        padding_idx %= weight_meta.shape[0]
        grad = ops.where(ops.unsqueeze(ops.eq(input, padding_idx), -1), 0.0, grad)
    rows = ops.reshape(grad, (-1, weight_meta.shape[1]))
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
    return ops.reshape(wide, (*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]))


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
    return ops.where(mask, filled, input)

