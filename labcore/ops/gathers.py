"""Operators that read and write at places given by tensors: `gather scatter scatter_add`, and what
`x[index]` is.

In: a tensor, an axis, integers that name places along it.  Out: a new tensor; nothing is written in
place.
Invariant: an index that does not exist raises. A compiled graph's loops only stop at one, and the
call is made again in eager mode, which tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from .arrays import empty, in_float32, meta_of, ndarray
from .broadcast import broadcast_shapes, dense_strides
from .derivatives import derivative, meta_of as facts
from .op import Op, Table, naming, register
from .reductions import wrap_dim

ops = Table()
INTEGERS = (dtypes.int64, dtypes.int32)


def indexed(name: str, kernel: Callable, meta: Callable, adds: bool = False) -> Op:
    """An operator whose kernel is given the layout that the meta rule found; `adds`: it computes
    with what it is given."""
    checked = naming(name, meta)

    def checking(*args: Any, **kwargs: Any) -> ndarray:
        named = {key: meta_of(value) for key, value in kwargs.items()}
        out = checked(*meta_of(args), **named)
        with np.errstate(all="ignore"):
            return kernel(out, *args, **kwargs)

    run = in_float32(checking, checked) if adds else checking
    return register(name, "indexed", run, checked)


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
    if isinstance(other, TensorMeta) and max(index.ndim, 1) != max(other.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for at, size in enumerate(index.shape):
        if at != axis and size > input.shape[at]:
            raise RuntimeError(
                f"Size does not match at dimension {at} expected index {list(index.shape)} to be "
                f"no larger than self {list(input.shape)} apart from dimension {axis}"
            )
        if isinstance(other, TensorMeta) and size > (other.shape or (1,))[at]:
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


indexed("gather", _gather_kernel, _gather_meta)


def _scatter_meta(input: TensorMeta, dim: int, index: TensorMeta, src: Any) -> TensorMeta:
    _check_index("scatter", input, dim, index, src)
    if isinstance(src, TensorMeta) and src.dtype is not input.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    return TensorMeta.contiguous(input.shape, input.dtype)


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


indexed("scatter", _scattering(_assign), _scatter_meta)
indexed("scatter_add", _scattering(_add), _scatter_meta, adds=True)

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


# ---- an index for each axis ----------------------------------------------------------------------

Indices = Sequence[Any]


def _indexed_shape(input: TensorMeta, indices: Indices) -> tuple[int, ...]:
    """The indices' common shape in place of the axes they index; in front if others lie between."""
    at = [axis for axis, index in enumerate(indices) if index is not None]
    try:
        shape = broadcast_shapes(*[indices[axis].shape for axis in at])
    except RuntimeError:
        shapes = ", ".join(str(list(indices[axis].shape)) for axis in at)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    rest = [n for axis, n in enumerate(input.shape) if axis not in at]
    start = at[0] if at == list(range(at[0], at[-1] + 1)) else 0
    return (*rest[:start], *shape, *rest[start:])


def _index_meta(input: TensorMeta, indices: Indices) -> TensorMeta:
    return TensorMeta.contiguous(_indexed_shape(input, indices), input.dtype)


def _index_put_meta(
    input: TensorMeta, indices: Indices, src: TensorMeta, accumulate: bool = False
) -> TensorMeta:
    shape = _indexed_shape(input, indices)
    if broadcast_shapes(src.shape, shape) != shape:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(src.shape)} cannot be broadcast to "
            f"indexing result of shape {list(shape)}"
        )
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


def _for_numpy(input: ndarray, indices: Indices) -> tuple:
    """The index as numpy takes it. Raises IndexError for a place that does not exist."""
    for axis, index in enumerate(indices):
        size = input.shape[axis]
        wrong = None if index is None else (index < -size) | (index >= size)
        if wrong is not None and wrong.any():
            raise IndexError(
                f"index {index[wrong].flat[0]} is out of bounds for dimension {axis} with size "
                f"{size}"
            )
    return tuple(slice(None) if index is None else index for index in indices)


def _index_kernel(out: TensorMeta, input: ndarray, indices: Indices) -> ndarray:
    result = empty(out)
    result[...] = input[_for_numpy(input, indices)]
    return result


def _index_put_kernel(
    out: TensorMeta, input: ndarray, indices: Indices, src: ndarray, accumulate: bool = False
) -> ndarray:
    result = empty(out)
    result[...] = input
    (_add if accumulate else _assign)(result, _for_numpy(input, indices), src)
    return result


indexed("_index", _index_kernel, _index_meta)
indexed("_index_put", _index_put_kernel, _index_put_meta, adds=True)

derivative(
    "_index",
    input=lambda grad, input_meta, indices: ops._index_put(
        ops.zeros(input_meta.shape, grad_type(grad)), indices, grad, True
    ),
)
derivative(
    "_index_put",
    input=lambda grad, indices, accumulate: grad
    if accumulate
    else ops._index_put(grad, indices, ops.zeros((), grad_type(grad))),
    src=lambda grad, indices: ops._index(grad, indices),
)
