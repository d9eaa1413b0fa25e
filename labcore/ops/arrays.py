"""Small tools of the kernels: arrays to metas and back, and silence.

In: numpy arrays.  Out: metas, uninitialised arrays of a given layout, ufuncs run without warnings.
Invariant: a kernel never warns and never changes numpy's error state for its caller.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta, contiguous_strides

ndarray = np.ndarray


class _Quiet(threading.local):
    """`run(ufunc, ...)` in a context of its own in which numpy does not warn; a third of the price
    of `np.errstate`.

    A context cannot be entered twice: run single ufuncs in it, nothing that could call a kernel.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = context.run


quiet = _Quiet()


def meta_of(value: Any) -> Any:
    """A TensorMeta for an array (in lists and tuples too); everything else as it is."""
    if isinstance(value, ndarray):
        size = value.itemsize
        return TensorMeta(
            value.shape, tuple([s // size for s in value.strides]), dtypes.from_numpy(value.dtype)
        )
    if isinstance(value, (list, tuple)):
        return type(value)([meta_of(v) for v in value])
    return value


def empty(meta: TensorMeta) -> ndarray:
    """An uninitialised array with exactly this layout, even where its strides do not matter."""
    shape, type_ = meta.shape, meta.dtype.numpy
    if meta.stride == contiguous_strides(shape) and 0 not in shape:
        return np.empty(shape, type_)
    span = 1 + sum((n - 1) * s for n, s in zip(shape, meta.stride)) if 0 not in shape else 1
    return ndarray(
        shape, type_, np.empty(span, type_), 0, [s * type_.itemsize for s in meta.stride]
    )


def with_strides(array: ndarray, meta: TensorMeta) -> ndarray:
    """`array` as a view with exactly the strides of `meta`: numpy has others for size 1."""
    strides = tuple([s * array.itemsize for s in meta.stride])
    if array.strides == strides and array.shape == meta.shape:
        return array
    return np.lib.stride_tricks.as_strided(array, meta.shape, strides)


def arguments(operands: tuple, type_: dtypes.dtype, exact_numbers: bool = False) -> list[Any]:
    """Operands cast to the type they are computed in; an integer too large for int32 wraps.

    Where that is a half they are rounded to it, and float32 is what is computed in;
    `exact_numbers`: what has no dimensions is not rounded.
    """
    target = type_.numpy
    cast = [a if isinstance(a, ndarray) else np.asarray(a) for a in operands]
    if type_.is_half:
        return [_widened(a, target, exact_numbers and not a.ndim) for a in cast]
    return [a.astype(target, copy=False) for a in cast]


def _widened(array: ndarray, half: np.dtype, exact: bool) -> ndarray:
    wide = array.astype(np.float32)
    return wide if exact or array.dtype == half else wide.astype(half).astype(np.float32)


# ---- halves, which are converted by way of float32 ----------------------------------------------


def is_half(value: Any) -> bool:
    """Is it an array of one of the two types of floats with two bytes?"""
    return isinstance(value, ndarray) and value.dtype.itemsize == 2


def put(target: ndarray, source: Any, where: Any = True) -> None:
    """Write `source` into `target`, converted as PyTorch does it."""
    if is_half(target) or is_half(source):
        source = np.asarray(source)
        if source.dtype != target.dtype:
            source = source.astype(np.float32)
    with np.errstate(all="ignore"):
        np.copyto(target, source, casting="unsafe", where=where)


def scalar(value: Any, type_: np.dtype) -> Any:
    """A Python number as numpy's scalar of this type."""
    return type_.type(np.float32(value) if type_.itemsize == 2 else value)


def in_float32(kernel: Callable[..., ndarray], meta: Callable[..., TensorMeta]) -> Callable:
    """The kernel; of halves it computes what float32 gives, rounded once to what `meta` says."""

    @wraps(kernel)
    def widened(*args: Any, **kwargs: Any) -> ndarray:
        if not any(map(_of_half, args)) and not any(map(_of_half, kwargs.values())):
            return kernel(*args, **kwargs)
        out = meta(*meta_of(args), **{name: meta_of(value) for name, value in kwargs.items()})
        with np.errstate(all="ignore"):
            named = {name: _wide(value) for name, value in kwargs.items()}
            found = kernel(*map(_wide, args), **named)
            if not out.dtype.is_half:
                return found
            result = empty(out)
            result[...] = found
        return result

    return widened


def _of_half(value: Any) -> bool:
    return is_half(value) or (isinstance(value, dtypes.dtype) and value.is_half)


def _wide(value: Any) -> Any:
    if is_half(value):
        return value.astype(np.float32)
    return dtypes.float32 if _of_half(value) else value
