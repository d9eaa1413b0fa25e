"""Small tools of the kernels: arrays to metas and back, and silence.

In: numpy arrays.  Out: metas, uninitialised arrays of a given layout, ufuncs run without warnings.
Invariant: a kernel never warns and never changes numpy's error state for its caller.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
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


def arguments(operands: tuple, type_: dtypes.dtype) -> list[Any]:
    """Operands cast to the type they are computed in; an integer too large for int32 wraps."""
    target = type_.numpy
    cast = [a if isinstance(a, ndarray) else np.asarray(a) for a in operands]
    return [a.astype(target, copy=False) for a in cast]
