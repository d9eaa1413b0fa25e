"""Numbers as memory holds them, for whoever runs loops in pure Python.

In: Python numbers.  Out: `Number`, one that knows its type; `rounded`, what a type makes of one;
`Memory`, a storage that counts who touches it.
Invariant: a value is rounded to its type after every step, as the processor does.
"""
from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes


@dataclass(frozen=True)
class Number:
    """A Python number that knows its dtype; `varies`: it changes along the inner loop."""

    value: Any
    dtype: dtypes.dtype
    varies: bool


def rounded(value: Any, dtype: dtypes.dtype) -> Any:
    """The nearest number of that type; integers wrap round. A float that is no such integer becomes
    the lowest one, as x86 processors have it, and with them numpy, PyTorch and compiled kernels.
    """
    if dtype is dtypes.float32:
        return ctypes.c_float(value).value
    if dtype is dtypes.float64:
        return float(value)
    if dtype is dtypes.bool:
        return bool(value)
    if dtype.is_half:
        return _float16(value) if dtype is dtypes.float16 else _bfloat16(value)
    half = 2 ** (8 * dtype.itemsize - 1)
    if isinstance(value, float):
        return int(value) if -half - 1 < value < half else -half
    return (value + half) % (2 * half) - half


def plain(array: np.ndarray) -> np.ndarray:
    """The array in a type whose elements are Python's numbers as well."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 else array


def _float16(value: float) -> float:
    try:
        found: float = struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        found = math.copysign(math.inf, value)
    return found


def _bfloat16(value: float) -> float:
    """The upper half of a float32; of two equally near ones the even one."""
    if value != value:
        return value
    (bits,) = struct.unpack("<I", ctypes.c_float(value))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    found: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return found


class Memory(list):
    """One storage. `reads` and `writes` count accesses of single elements."""

    def __init__(self, cells: Sequence[Any]) -> None:
        super().__init__(cells)
        self.reads = self.writes = 0

    def __getitem__(self, at: Any) -> Any:
        self.reads += 1
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        self.writes += 1
        super().__setitem__(at, value)

    def quietly(self, at: int, value: Any) -> None:
        """Write without counting: initial values, and results of extern steps."""
        super().__setitem__(at, value)
