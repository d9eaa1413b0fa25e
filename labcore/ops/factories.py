"""Operators that make tensors: `full zeros ones arange` and their `_like` forms.

In: sizes, a value, a dtype, the name of a device.  Out: a new array.
Invariant: `_like` takes shape, dtype and layout from its input but none of its data. Kernels make
arrays of the host; who called them puts them where `device` says, or beside the operands of what
they are a part of, where it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isinf, isnan
from typing import Any

import numpy as np

from .. import devices, dtypes
from ..dtypes import dtype
from ..graph import TensorMeta
from ..shapes import INTS, to_int
from .arrays import empty, meta_of, ndarray, put, scalar
from .broadcast import dense_strides
from .op import Op, naming, register
from .promote import check_fits, number_dtype


def _filled(out: TensorMeta, value: Any) -> ndarray:
    result = empty(out)
    with np.errstate(all="ignore"):
        result.fill(scalar(value, result.dtype))
    return result


def sized(size: Sequence[int], type_: dtype, device: str | None = None) -> TensorMeta:
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
    return at(device, TensorMeta.contiguous(size, type_))


def at(device: str | None, meta: TensorMeta) -> TensorMeta:
    """The same on a device; None: on the host, or where what it is a part of lies."""
    return meta if device in (None, "cpu") else replace(meta, device=devices.cuda)


def _full_meta(size: Sequence[int], fill_value: Any, dtype: dtype | None = None,
               device: str | None = None) -> TensorMeta:
    type_ = dtype or number_dtype(fill_value)
    check_fits(fill_value, type_)
    return sized(size, type_, device)


def _full_like_meta(input: TensorMeta, fill_value: Any, dtype: dtype | None = None) -> TensorMeta:
    check_fits(fill_value, dtype or input.dtype)
    return TensorMeta(input.shape, dense_strides(input), dtype or input.dtype)


def _full_kernel(size: Sequence[int], fill_value: Any, dtype: dtype | None = None,
                 device: str | None = None) -> ndarray:
    return _filled(full.meta(size, fill_value, dtype), fill_value)


def _full_like_kernel(input: ndarray, fill_value: Any, dtype: dtype | None = None) -> ndarray:
    return _filled(full_like.meta(meta_of(input), fill_value, dtype), fill_value)


full: Op = register("full", "factory", _full_kernel, _full_meta)
full_like: Op = register("full_like", "factory", _full_like_kernel, _full_like_meta)


def _constant(name: str, value: int) -> None:
    """Register `zeros` and `zeros_like`, or the same with ones."""

    def meta(size: Sequence[int], dtype: dtype | None = None,
             device: str | None = None) -> TensorMeta:
        if any(n < 0 for n in size):
            raise RuntimeError(f"{name}: Dimension size must be non-negative.")
        return sized(size, dtype or dtypes.default, device)

    def like_meta(input: TensorMeta, dtype: dtype | None = None) -> TensorMeta:
        return _full_like_meta(input, value, dtype)

    plain, like = naming(name, meta), naming(f"{name}_like", like_meta)
    register(
        name,
        "factory",
        lambda size, dtype=None, device=None: _filled(plain(size, dtype), value),
        plain,
    )
    register(
        f"{name}_like",
        "factory",
        lambda input, dtype=None: _filled(like(meta_of(input), dtype), value),
        like,
    )


_constant("zeros", 0)
_constant("ones", 1)


def _arange_meta(
    start: Any, end: Any = None, step: Any = 1, dtype: dtype | None = None,
    device: str | None = None,
) -> TensorMeta:
    first, last = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if any(not isinstance(n, INTS) and (isinf(n) or isnan(n)) for n in (first, last)):
        raise RuntimeError(f"unsupported range: {first} -> {last}")
    if (last - first) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is dtypes.bool:
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    whole = all(isinstance(n, INTS) for n in (first, last, step))
    if dtype is not None and not dtype.is_floating_point:
        first, last, step = to_int(first), to_int(last), to_int(step)
    count = -((first - last) // step) if whole else ceil((last - first) / step)
    found = dtype or (dtypes.int64 if whole else dtypes.default)
    return at(device, TensorMeta.contiguous((count,), found))


def _arange_kernel(
    start: Any, end: Any = None, step: Any = 1, dtype: dtype | None = None,
    device: str | None = None,
) -> ndarray:
    out = arange.meta(start, end, step, dtype)
    first = 0 if end is None else start
    if not out.dtype.is_floating_point:
        first, step = int(first), int(step)
    result = empty(out)
    with np.errstate(all="ignore"):
        put(result, first + step * np.arange(out.shape[0]))
    return result


arange = register("arange", "factory", _arange_kernel, _arange_meta)
