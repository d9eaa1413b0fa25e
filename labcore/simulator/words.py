"""The words of a kernel's text, on vectors of threads.

In: numpy arrays, one element a thread, or one number for all.  Out: the same.
Invariant: each word means what `codegen/kernel_math.py` says it means on one number; types are
those of the text, so float32 is rounded after every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes


def _typed(kind: type) -> Callable[[Any], Any]:
    return lambda value: np.asarray(value).astype(kind)[()]


def _maximum(a: Any, b: Any) -> Any:
    return np.where((a >= b) | (a != a), a, b)


def _minimum(a: Any, b: Any) -> Any:
    return np.where((a <= b) | (a != a), a, b)


def _relu(a: Any) -> Any:
    return np.where(a < 0, np.zeros_like(a), a)  # a nan passes through, and so does -0.0


def _remainder(a: Any, b: Any) -> Any:
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _integer_pow(a: Any, b: Any) -> Any:
    one = np.asarray(a).dtype.type
    negative = np.where(a == 1, one(1), np.where(a == -1, np.where(b % 2, one(-1), one(1)), one(0)))
    return np.where(b < 0, negative, np.power(a, np.maximum(b, 0)))


def _of(half: dtypes.dtype) -> Callable[[Any], Any]:
    """float32 of a half, which a kernel holds as a word of 16 bits."""
    return lambda word: np.asarray(word, np.uint16).view(half.numpy).astype(np.float32)[()]


def _to(half: dtypes.dtype) -> Callable[[Any], Any]:
    return lambda value: np.asarray(value, np.float32).astype(half.numpy).view(np.uint16)[()]


_erf = np.frompyfunc(math.erf, 1, 1)


def erf(a: Any) -> Any:
    return np.asarray(_erf(a)).astype(np.asarray(a).dtype)[()]


WORDS: dict[str, Callable[..., Any]] = {
    **{kind.__name__: _typed(kind) for kind in (
        np.float32, np.float64, np.int32, np.int64, np.uint8, np.uint16, np.uint32)},
    **{f"of_{half.name}": _of(half) for half in dtypes.HALVES},
    **{half.name: _to(half) for half in dtypes.HALVES},
    "bool": _typed(np.bool_),
    "abs": np.abs,
    "relu": _relu,
    "maximum": _maximum,
    "minimum": _minimum,
    "rmax": _maximum,
    "rmin": _minimum,
    "radd": lambda a, b: a + b,
    "rmul": lambda a, b: a * b,
    "remainder": _remainder,
    "pow": np.power,
    "integer_pow": _integer_pow,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "fmod": np.fmod,
    "erf": erf,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "round": np.rint,
    **{name: getattr(np, name) for name in (
        "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan",
        "tanh", "sinh", "cosh", "floor", "ceil", "trunc")},
}
NUMBERS = {"inf": math.inf, "nan": math.nan}
KINDS: dict[str, np.dtype] = {name: np.dtype(name) for name in (
    "float32", "float64", "int32", "int64", "uint8", "uint16", "uint32")}
