"""Operators that walk along one axis in order: `argmax argsort cumsum flip` and their kin.

In: a tensor and an axis.  Out: a new tensor, of places (int64) or of values.
Invariant: nan is larger than everything; of equal elements the first comes first. Values are had by
`gather` at the places, in `labcore.tensor.several`: so no operator has two results, and the
gradient of a sort is that of its gather.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph import TensorMeta
from .arrays import empty, in_float32, meta_of, ndarray
from .broadcast import dense_strides
from .derivatives import derivative, meta_of as facts
from .op import Op, Table, naming, register
from .parts import check_float, composite
from .reductions import reduced_axes, wrap_dim

ops = Table()


def _along(name: str, kernel: Callable, meta: Callable) -> Op:
    """An operator whose kernel gives the values for the layout that the meta rule found."""
    checked = naming(name, meta)

    def laid_out(input: ndarray, *args: Any, **kwargs: Any) -> ndarray:
        result = empty(checked(meta_of(input), *args, **kwargs))
        if result.size:
            with np.errstate(all="ignore"):
                found = kernel(np.atleast_1d(input), *args, **kwargs)
            result[...] = found.reshape(result.shape)
        return result

    return register(name, "other", in_float32(laid_out, checked), checked)


# ---- places --------------------------------------------------------------------------------------


def _arg_extreme(name: str, find: Callable[..., Any]) -> None:
    def meta(input: TensorMeta, dim: int | None = None, keepdim: bool = False) -> TensorMeta:
        if input.dtype is dtypes.bool:
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            if not input.numel:
                raise IndexError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                )
            return TensorMeta.contiguous((1,) * input.ndim if keepdim else (), dtypes.int64)
        axis = wrap_dim(dim, input.ndim)
        if input.ndim and input.shape[axis] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {axis} to have non-zero size."
            )
        rest = input.shape[axis + 1 :]
        shape = (*input.shape[:axis], *((1,) if keepdim and input.ndim else ()), *rest)
        return TensorMeta.contiguous(shape, dtypes.int64)

    _along(name, lambda input, dim=None, keepdim=False: np.asarray(find(input, dim)), meta)


_arg_extreme("argmax", np.argmax)
_arg_extreme("argmin", np.argmin)


def _argsort_meta(
    input: TensorMeta, dim: int = -1, descending: bool = False, stable: bool = False
) -> TensorMeta:
    wrap_dim(dim, input.ndim)
    return TensorMeta(input.shape, dense_strides(input), dtypes.int64)


def _argsort(
    input: ndarray, dim: int = -1, descending: bool = False, stable: bool = False
) -> ndarray:
    """Descending: the order of the array read backwards, so that equal ones keep their order."""
    if not descending:
        return np.argsort(input, dim, "stable")
    backwards = np.argsort(np.flip(input, dim), dim, "stable")
    return input.shape[dim] - 1 - np.flip(backwards, dim)


_along("argsort", _argsort, _argsort_meta)


def _check_k(name: str, input: TensorMeta, k: int, dim: int) -> int:
    axis = wrap_dim(dim, input.ndim)
    if not 0 <= k <= (input.shape[axis] if input.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return axis


def _argtopk_meta(
    input: TensorMeta, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> TensorMeta:
    axis = _check_k("topk", input, k, dim)
    shape = (*input.shape[:axis], k, *input.shape[axis + 1 :]) if input.ndim else ()
    return TensorMeta.contiguous(shape, dtypes.int64)


def _argtopk(
    input: ndarray, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ndarray:
    return np.take(_argsort(input, dim, largest), range(k), dim)


_along("_argtopk", _argtopk, _argtopk_meta)

# ---- running folds -------------------------------------------------------------------------------


def _cumsum_meta(input: TensorMeta, dim: int, dtype: DType | None = None) -> TensorMeta:
    wrap_dim(dim, input.ndim)
    natural = input.dtype if input.dtype.is_floating_point else dtypes.int64
    return TensorMeta.contiguous(input.shape, dtype or natural)


def _running(fold: np.ufunc) -> Callable[..., ndarray]:
    def kernel(input: ndarray, dim: int, dtype: DType | None = None) -> ndarray:
        """Summed in float64, as PyTorch does, and rounded at each place."""
        type_ = _cumsum_meta(meta_of(input), dim, dtype).dtype.numpy
        wide = np.dtype(np.float64) if type_.kind == "f" else type_
        return np.asarray(fold.accumulate(input.astype(type_), axis=dim, dtype=wide))

    return kernel


_along("cumsum", _running(np.add), _cumsum_meta)
_along("cumprod", _running(np.multiply), _cumsum_meta)


def _flip_meta(input: TensorMeta, dims: Sequence[int] | int) -> TensorMeta:
    if not (isinstance(dims, (tuple, list)) and not dims):
        reduced_axes(dims, input.ndim)
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


def _flip(input: ndarray, dims: Sequence[int] | int) -> ndarray:
    return np.flip(input, dims if isinstance(dims, int) else tuple(dims))


_along("flip", _flip, _flip_meta)


def _cumsum_back(input: ndarray, dim: int) -> ndarray:
    return np.flip(_running(np.add)(np.flip(input, dim), dim), dim)


_along("_cumsum_back", _cumsum_back, lambda input, dim: _cumsum_meta(input, dim))
derivative("cumsum", input=lambda grad, dim: ops._cumsum_back(grad, dim))
derivative("_cumsum_back", input=lambda grad, dim: ops.cumsum(grad, dim))
derivative("flip", input=lambda grad, dims: ops.flip(grad, dims))


# ---- products ------------------------------------------------------------------------------------


def _others(input: ndarray, dim: int) -> ndarray:
    """The product of all others along the axis: of those before times those after."""
    before, after = np.ones_like(input), np.ones_like(input)
    size = input.shape[dim]
    first, last = (range(size - 1), range(1, size))
    ahead, rest = np.moveaxis(before, dim, 0), np.moveaxis(after, dim, 0)
    values = np.moveaxis(input, dim, 0)
    if size > 1:
        ahead[last] = np.multiply.accumulate(values[first], axis=0)
        rest[first] = np.multiply.accumulate(values[:0:-1], axis=0)[::-1]
    return before * after


def _same(input: TensorMeta, dim: int) -> TensorMeta:
    return TensorMeta(input.shape, dense_strides(input), input.dtype)


_along("_product_of_others", _others, _same)


def _prod_rule(grad: Any, input: Any, dim: int | None, keepdim: bool) -> Any:
    """grad times the product of all others, which no zero can spoil."""
    shape = facts(input).shape
    if dim is None:
        others = ops.reshape(ops._product_of_others(ops.reshape(input, (-1,)), 0), shape)
        return ops.mul(grad, others)
    if not keepdim and shape:
        grad = ops.unsqueeze(grad, wrap_dim(dim, len(shape)))
    return ops.mul(grad, ops._product_of_others(input, dim))


def _cumprod_backward(input: ndarray, grad: ndarray, dim: int) -> ndarray:
    """For each place the sum over all later results, each without the factor of this place."""
    values, grads = np.moveaxis(input, dim, 0), np.moveaxis(grad, dim, 0)
    found = np.empty_like(values)
    for place in range(len(values)):
        without = values.copy()
        without[place] = 1
        later = np.multiply.accumulate(without, axis=0)[place:]
        found[place] = (later * grads[place:]).sum(0)
    return np.moveaxis(found, 0, dim)


_along(
    "_cumprod_backward",
    lambda input, grad, dim: _cumprod_backward(input, np.atleast_1d(grad), dim),
    lambda input, grad, dim: _same(input, dim),
)
derivative("prod", input=_prod_rule)
derivative(
    "cumprod", input=lambda grad, input, dim: ops._cumprod_backward(input, grad, dim)
)


@composite("torch Tensor")
def count_nonzero(input: Any, dim: Any = None) -> Any:
    return ops.sum(ops.ne(input, 0), dim)


# ---- logarithms of running sums ------------------------------------------------------------------


def _log_running_meta(input: TensorMeta, dim: int) -> TensorMeta:
    check_float("logcumsumexp_out_cpu", input.dtype)
    wrap_dim(dim, input.ndim)
    return TensorMeta.contiguous(input.shape, input.dtype)


_along("logcumsumexp", lambda input, dim: np.logaddexp.accumulate(input, dim), _log_running_meta)


def _log_running_rule(grad: Any, input: Any, out: Any, dim: int) -> Any:
    """The sum of grad * exp(input - out) over all later places, in logarithms for each sign."""

    def part(share: Any) -> Any:
        backwards = ops.flip(ops.sub(ops.log(share), out), (dim,))
        return ops.exp(ops.add(ops.flip(ops.logcumsumexp(backwards, dim), (dim,)), input))

    up, down = ops.clamp(grad, 0), ops.clamp(ops.neg(grad), 0)
    return ops.sub(part(up), part(down))


derivative("logcumsumexp", input=_log_running_rule)
