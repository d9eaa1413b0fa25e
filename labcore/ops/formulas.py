"""Pointwise functions that numpy has no ufunc for, or not with PyTorch's corner cases; called like
one: `f(x, out=array)`.

In: arrays of one type, and `out`, which may have any strides and shares no memory with them.  Out:
the result, `out` when given.
Invariant: no Python loops over elements; numpy is silenced by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

Out = ndarray | None


# numpy returns its second operand when both compare equal, PyTorch the first: it shows in the sign
# of a zero.


def maximum(a: Any, b: Any, out: Out = None) -> ndarray:
    return np.maximum(b, a, out=out)


def minimum(a: Any, b: Any, out: Out = None) -> ndarray:
    return np.minimum(b, a, out=out)


def relu(x: ndarray, out: Out = None) -> ndarray:
    return np.maximum(x.dtype.type(0), x, out=out)


def clamp(x: ndarray, low: Any, high: Any, out: Out = None) -> ndarray:
    return np.minimum(high, np.maximum(low, x), out=out)


def sign(x: ndarray, out: Out = None) -> ndarray:
    """-1, 0 or 1; 0 for nan."""
    if x.dtype == bool:
        return np.positive(x.view(np.uint8), out=None if out is None else out.view(np.uint8))
    return np.subtract(x > 0, x < 0, out=out, dtype=x.dtype)


def square(x: ndarray, out: Out = None) -> ndarray:
    return np.multiply(x, x, out=out)


def isnan(x: ndarray, out: Out = None) -> ndarray:
    return np.not_equal(x, x, out=out)


def isinf(x: ndarray, out: Out = None) -> ndarray:
    return np.equal(np.abs(x), np.inf, out=out)


def isfinite(x: ndarray, out: Out = None) -> ndarray:
    return np.less(np.abs(x), np.inf, out=out)


def of_floats(ufunc: np.ufunc) -> Callable[..., ndarray]:
    """`ufunc` of floats; integers stay as they are."""

    def formula(x: ndarray, out: Out = None) -> ndarray:
        return (ufunc if x.dtype.kind == "f" else np.positive)(x, out=out)

    return formula


def rsqrt(x: ndarray, out: Out = None) -> ndarray:
    return np.divide(x.dtype.type(1), np.sqrt(x), out=out)


def sigmoid(x: ndarray, out: Out = None) -> ndarray:
    one = x.dtype.type(1)
    return np.divide(one, one + np.exp(-x), out=out)


# ---- division and powers ------------------------------------------------------------------------


def floor_divide(a: ndarray, b: ndarray, out: Out = None) -> ndarray:
    """Rounded down. Raises RuntimeError for an integer divided by 0."""
    _no_zero(a, b)
    return np.floor_divide(a, b, out=out)


def remainder(a: ndarray, b: ndarray, out: Out = None) -> ndarray:
    """Of the divisor's sign; a zero keeps the dividend's. RuntimeError for integers modulo 0."""
    _no_zero(a, b)
    if a.dtype.kind != "f":
        return np.remainder(a, b, out=out)
    rest = np.fmod(a, b)
    return np.add(
        rest, np.where((rest != 0) & ((rest < 0) != (b < 0)), b, b.dtype.type(-0.0)), out=out
    )


def fmod(a: ndarray, b: ndarray, out: Out = None) -> ndarray:
    """Of the dividend's sign. RuntimeError for integers modulo 0."""
    _no_zero(a, b)
    return np.fmod(a, b, out=out)


def _no_zero(dividend: ndarray, divisor: ndarray) -> None:
    if divisor.dtype.kind != "f" and dividend.size and not divisor.all():
        raise RuntimeError("ZeroDivisionError")


def integer_power(base: ndarray, exponent: ndarray, out: Out = None) -> ndarray:
    """Negative exponents give the truncated fraction: 0, except for a base of 1 or -1."""
    negative = exponent < 0
    if not negative.any():
        return np.power(base, exponent, out=out)
    unit = np.where(np.abs(base) == 1, np.where(exponent % 2 == 0, 1, base), 0)
    power = np.power(base, np.where(negative, 0, exponent))
    return np.positive(np.where(negative, unit, power).astype(base.dtype), out=out)


# Exponents for which PyTorch multiplies or takes a root instead of calling pow.
EXACT_POWERS: dict[float, Callable[..., ndarray]] = {
    0.5: np.sqrt,
    -0.5: rsqrt,
    2: square,
    3: lambda x, out=None: np.multiply(x * x, x, out=out),
    -1: np.reciprocal,
    -2: lambda x, out=None: np.reciprocal(x * x, out=out),
}


# ---- erf: W. J. Cody's idea, the coefficients of fdlibm's s_erf.c, highest power first ----------

_SMALL = (
    (
        -2.37630166566501626084e-05,
        -5.77027029648944159157e-03,
        -2.84817495755985104766e-02,
        -3.25042107247001499370e-01,
        1.28379167095512558561e-01,
    ),
    (
        -3.96022827877536812320e-06,
        1.32494738004321644526e-04,
        5.08130628187576562776e-03,
        6.50222499887672944485e-02,
        3.97917223959155352819e-01,
        1.0,
    ),
)
_NEAR_ONE = (
    (
        -2.16637559486879084300e-03,
        3.54783043256182359371e-02,
        -1.10894694282396677476e-01,
        3.18346619901161753674e-01,
        -3.72207876035701323847e-01,
        4.14856118683748331666e-01,
        -2.36211856075265944077e-03,
    ),
    (
        1.19844998467991074170e-02,
        1.36370839120290507362e-02,
        1.26171219808761642112e-01,
        7.18286544141962662868e-02,
        5.40397917702171048937e-01,
        1.06420880400844228286e-01,
        1.0,
    ),
)
_MIDDLE = (
    (
        -9.81432934416914548592e00,
        -8.12874355063065934246e01,
        -1.84605092906711035994e02,
        -1.62396669462573470355e02,
        -6.23753324503260060396e01,
        -1.05586262253232909814e01,
        -6.93858572707181764372e-01,
        -9.86494403484714822705e-03,
    ),
    (
        -6.04244152148580987438e-02,
        6.57024977031928170135e00,
        1.08635005541779435134e02,
        4.29008140027567833386e02,
        6.45387271733267880336e02,
        4.34565877475229228821e02,
        1.37657754143519042600e02,
        1.96512716674392571292e01,
        1.0,
    ),
)
_LARGE = (
    (
        -4.83519191608651397019e02,
        -1.02509513161107724954e03,
        -6.37566443368389627722e02,
        -1.60636384855821916062e02,
        -1.77579549177547519889e01,
        -7.99283237680523006574e-01,
        -9.86494292470009928597e-03,
    ),
    (
        -2.24409524465858183362e01,
        4.74528541206955367215e02,
        2.55305040643316442583e03,
        3.19985821950859553908e03,
        1.53672958608443695994e03,
        3.25792512996573918826e02,
        3.03380607434824582924e01,
        1.0,
    ),
)
_ERF_OF_ONE = 8.45062911510467529297e-01


def erf(x: ndarray, out: Out = None) -> ndarray:
    """Computed in float64 piece by piece, each element by the piece it lies in."""
    wide = x.astype(np.float64)
    size = np.abs(wide)
    found = np.where(size == size, 1.0, np.nan)  # beyond 6 it is 1 to the last bit
    small, near, far = (
        size < 0.84375,
        (size >= 0.84375) & (size < 1.25),
        (size >= 1.25) & (size < 6),
    )
    found[small] = _erf_small(size[small])
    found[near] = _ERF_OF_ONE + _ratio(_NEAR_ONE, size[near] - 1)
    found[far] = _erf_far(size[far])
    result = np.copysign(found, wide).astype(x.dtype)
    return np.positive(result, out=out)


def _erf_small(x: ndarray) -> ndarray:
    return x + x * _ratio(_SMALL, x * x)


def _erf_far(x: ndarray) -> ndarray:
    inverse = 1 / (x * x)
    correction = np.where(x < 1 / 0.35, _ratio(_MIDDLE, inverse), _ratio(_LARGE, inverse))
    return 1 - np.exp(-x * x - 0.5625 + correction) / x


def _ratio(coefficients: tuple, x: ndarray) -> ndarray:
    above, below = coefficients
    return np.polyval(above, x) / np.polyval(below, x)
