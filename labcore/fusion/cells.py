"""Numbers as memory holds them, for whoever runs loops in pure Python.

In: Python numbers.  Out: `Number`, one that knows its type; `rounded`, what a type makes of one;
`Memory`, a storage that counts who touches it.
Invariant: a value is rounded to its type after every step, as the processor does.
"""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    half = 2 ** (8 * dtype.itemsize - 1)
    if isinstance(value, float):
        return int(value) if -half - 1 < value < half else -half
    return (value + half) % (2 * half) - half


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
