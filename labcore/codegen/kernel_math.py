"""The words of a kernel's text, with their meaning in plain Python.

In: numpy scalars.  Out: numpy scalars, of the type the text says.
Invariant: a kernel run as plain Python (in a test, or step by step in a debugger) gives what its
machine code gives; `kernel_math_numba.py` has the same words for the compiler.  numpy warns of
overflow here: run under `np.errstate(all="ignore")`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from math import inf as inf, nan as nan
from typing import Any

import numpy as np
from numpy import float32 as float32, float64 as float64

from .. import dtypes
from . import elementary, elementary_wide
from .ranges import STRIP

prange = range  # threads may share its turns, which are what they are in any order


def float16(value: Any) -> Any:
    """A float32 rounded to a half, as memory holds it."""
    return np.float16(value)


def bfloat16(value: Any) -> Any:
    return dtypes.bfloat16.numpy.type(value)


def of_float16(value: Any) -> Any:
    """A half as float32, which kernels compute in."""
    return np.float32(value)


of_bfloat16 = of_float16


def int32(value: Any) -> Any:
    """Wraps round where it does not fit, as the hardware does."""
    return np.asarray(value).astype(np.int32)[()]


def int64(value: Any) -> Any:
    return np.asarray(value).astype(np.int64)[()]


def check_index(index: Any, size: Any) -> None:
    """Raises IndexError; the call then runs eagerly, which tells what is wrong."""
    if not 0 <= index < size:
        raise IndexError("an index is out of range")


def strip_of(a: Any) -> Any:
    """Memory of the kernel's own for a strip of rows, of the type of an array."""
    return np.empty(STRIP, a.dtype)


def relu(a: Any) -> Any:
    return type(a)(0) if a < 0 else a  # a nan passes through, and so does -0.0


def maximum(a: Any, b: Any) -> Any:
    return a if a >= b or a != a else b  # a nan wins; of two equal ones the first


def minimum(a: Any, b: Any) -> Any:
    return a if a <= b or a != a else b


def remainder(a: Any, b: Any) -> Any:
    """Of floats: of the divisor's sign, but a zero keeps the dividend's."""
    rest = np.fmod(a, b)
    return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest


def radd(a: Any, b: Any) -> Any:
    """The add of a sum: the compiler may reorder it, and nothing else."""
    return a + b


def rmul(a: Any, b: Any) -> Any:
    """The multiplication of a product, in any order."""
    return a * b


def rmax(a: Any, b: Any) -> Any:
    """The maximum of a reduction: which zero wins is open, so that it can be done in any order."""
    return maximum(a, b)


def rmin(a: Any, b: Any) -> Any:
    return minimum(a, b)


def integer_pow(a: Any, b: Any) -> Any:
    """A negative power is 0, except of 1 and -1."""
    if b < 0:
        return type(a)(1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0)
    return np.power(a, b)


class _Plain:
    """The steps of `elementary`, on numpy scalars."""

    abs, copysign, rint = np.abs, np.copysign, np.rint
    widened, narrowed = np.float64, np.float32

    def __init__(self, kind: type) -> None:
        wide = kind is np.float64
        self.kind, self.format = kind, elementary.FLOAT64 if wide else elementary.FLOAT32
        self._fma = getattr(ctypes.CDLL(None), "fma" if wide else "fmaf")  # libm's: rounds once
        number = ctypes.c_double if wide else ctypes.c_float
        self._fma.argtypes, self._fma.restype = (number,) * 3, number

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.kind(self._fma(a, b, c))

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        return self.kind(a if condition else b)

    def scaled(self, a: Any, n: Any) -> Any:
        return np.ldexp(self.kind(a), int(n - self.kind(self.format.rounder)) if n == n else 0)

    def power(self, n: Any, less: int = 0) -> Any:
        return self.scaled(1.0, n - self.kind(less))

    def flipped(self, a: Any, n: Any) -> Any:
        return -a if n == n and (n - self.format.rounder) % 2 else a

    @property
    def wide(self) -> _Plain:
        return _plain(True)

    def split(self, a: Any) -> tuple[Any, Any]:
        mantissa, n = np.frexp(a)
        small = mantissa < self.kind(elementary.SQRT_HALF)
        return (mantissa + mantissa, self.kind(n - 1)) if small else (mantissa, self.kind(n))


@cache
def _plain(wide: bool) -> _Plain:
    return _Plain(np.float64 if wide else np.float32)


def _elementary(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda a: function(_plain(type(a) is np.float64), a)


exp = _elementary(elementary.exp)
expm1 = _elementary(elementary.expm1)
sigmoid = _elementary(elementary.sigmoid)
log = _elementary(elementary.log)
log1p = _elementary(elementary.log1p)
tanh = _elementary(elementary.tanh)


def _of_float32(function: Callable[..., Any], libm: Callable[..., Any]) -> Callable[..., Any]:
    """Of float64 it is libm's."""

    def found(a: Any, *more: Any) -> Any:
        if type(a) is np.float64:
            return np.float64(libm(a, *more))
        return function(_plain(False), a, *more)

    return found


def _power(a: Any, b: Any) -> Any:
    # With a number as exponent numpy takes a root for 0.5, which is not the same at -inf.
    return np.power(np.array([a]), np.array([b]))[0]


erf = _of_float32(elementary.erf, math.erf)
sin = _of_float32(elementary_wide.sin, np.sin)
cos = _of_float32(elementary_wide.cos, np.cos)
pow = _of_float32(elementary_wide.pow, _power)
sqrt: Callable[[Any], Any] = np.sqrt
exp2: Callable[[Any], Any] = np.exp2
log2: Callable[[Any], Any] = np.log2
log10: Callable[[Any], Any] = np.log10
tan: Callable[[Any], Any] = np.tan
asin: Callable[[Any], Any] = np.arcsin
acos: Callable[[Any], Any] = np.arccos
atan: Callable[[Any], Any] = np.arctan
sinh: Callable[[Any], Any] = np.sinh
cosh: Callable[[Any], Any] = np.cosh
asinh: Callable[[Any], Any] = np.arcsinh
acosh: Callable[[Any], Any] = np.arccosh
atanh: Callable[[Any], Any] = np.arctanh
floor: Callable[[Any], Any] = np.floor
ceil: Callable[[Any], Any] = np.ceil
trunc: Callable[[Any], Any] = np.trunc
round: Callable[[Any], Any] = np.rint
atan2: Callable[[Any, Any], Any] = np.arctan2
fmod: Callable[[Any, Any], Any] = np.fmod
