"""Pointwise functions that numpy has no single ufunc for, called like one: `f(x, out=array)`.

In: arrays of one type, and `out`, which may have any strides and shares no memory with them.
Invariant: nan goes in, nan comes out; no warnings (the caller has numpy silenced).
"""
from __future__ import annotations

import numpy as np
from numpy import ndarray


def relu(x: ndarray, out: ndarray) -> None:
    np.maximum(x, x.dtype.type(0), out=out)
