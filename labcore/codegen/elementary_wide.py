"""sin, cos and pow of float32, computed in float64: the others of `elementary.py` need no more.

In: an `Arithmetic` of float32, and values of it.  Out: the function of them, of float32.
What these lose is lost before any polynomial begins: sin of a large x depends on digits of x / 2 pi
far behind the point, pow multiplies the error of a logarithm by up to 150. In float64 a few steps
do what would be pairs of numbers in float32, and the result is rounded once.
Invariant: as in `elementary.py`, without a branch or a table; any x has the sine of that very
number, however large. Of float64 the three are libm's.
Methods: M. Payne, R. Hanek, "Radian reduction for trigonometric functions" (here by products that
are exact, instead of integers); special powers are those of IEEE 754.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

from .elementary import Arithmetic, polynomial


def sin(m: Arithmetic, x: Any) -> Any:
    return m.select(x == 0.0, x, _sine(m, x, 0.0))  # a sum of parts has lost the sign of a zero


def cos(m: Arithmetic, x: Any) -> Any:
    """The sine, a quarter of a turn on."""
    return _sine(m, x, 0.25)


def _sine(m: Arithmetic, x: Any, ahead: float) -> Any:
    """The sine of x, that many turns on."""
    rest, n = _half_turns(m.wide, m.widened(x), ahead)
    size = rest * polynomial(m.wide, rest * rest, SINE)
    return m.narrowed(m.wide.flipped(size, n))


def _half_turns(w: Arithmetic, x: Any, ahead: float) -> tuple[Any, Any]:
    """(rest, n): x / 2 pi + ahead is rest + n / 2 and whole turns, |rest| up to 1/4; n comes as
    n + format.rounder.

    x times a part of 1 / 2 pi is exact, and so is what it has beyond whole turns. Then the parts
    are added, the largest first: while that is not exact, the rest is not small. Of a large x the
    first digits of 1 / 2 pi make whole turns only; others take their place."""
    large = w.abs(x) > LARGE
    *parts, end = (w.select(large, b, a) for a, b in zip(TURN, TURN_OF_LARGE))
    products = [x * part for part in parts]
    first, second, third = (product - w.rint(product) for product in products)
    first = first + ahead if ahead else first
    n = w.fma(first + second + third, 2.0, w.format.rounder)
    rest = w.fma(n - w.format.rounder, -0.5, first) + second + third
    return w.fma(x, end, rest), n


def pow(m: Arithmetic, x: Any, y: Any) -> Any:
    """2 ** (y * log2(|x|)), and what the signs and the infinite make of it."""
    size = m.abs(x)
    usual = (size > 0.0) & (size < inf)
    edge = m.select(usual, 0.0, m.select(size == 0.0, -inf, size))  # log2 of what is not usual
    log2 = _log2(m, m.select(usual, size, 1.0)) + m.widened(m.select(y == 0.0, 0.0, edge))
    exponent = m.widened(m.select(size == 1.0, 0.0, y))
    power = m.narrowed(_exp2(m.wide, exponent * log2))
    whole, half = m.rint(y), y * 0.5
    signed = m.select(m.rint(half) == half, power, m.copysign(power, x))
    negative = (x < 0.0) & (x > -inf)
    return m.select(whole == y, signed, m.select(negative, nan, power))


def _log2(m: Arithmetic, x: Any) -> Any:
    """log2 of a positive float32, in float64: of a mantissa m it is that of (1 + s) / (1 - s) with
    s = (m - 1) / (m + 1)."""
    w, tiny = m.wide, x < 2.0**m.format.least
    mantissa, n = m.split(m.select(tiny, x * 2.0**24, x))
    f = m.widened(mantissa - 1.0)
    s = f / (f + 2.0)
    return w.fma(s, polynomial(w, s * s, LOG2), m.widened(m.select(tiny, n - 24.0, n)))


def _exp2(w: Arithmetic, x: Any) -> Any:
    """2 ** x in float64; what is 0 or inf in float32 may be anything that rounds to it."""
    below = w.select(x > 130.0, 130.0, x)
    inside = w.select(below < -160.0, -160.0, below)
    shifted = inside + w.format.rounder
    return polynomial(w, inside - (shifted - w.format.rounder), EXP2) * w.power(shifted)


# 1 / 2 pi in parts of 29 bits, which times 24 bits are 53, and an end whose product is so small
# that it needs not be exact
TURN = (
    0.15915494272485375,
    3.6704158115630214e-10,
    5.690025167992954e-19,
    1.470303687279978e-27,
)
LARGE = 2.0**83  # multiples of 2 ** 60 from here on; so 1 / 2 pi without its first 60 bits
TURN_OF_LARGE = (
    5.690025167992954e-19,
    1.4703036846932608e-27,
    2.5867171752090537e-36,
    9.458140970740169e-46,
)

# sin(2 pi t) / t in powers of t ** 2, for |t| up to 1/4
SINE = (
    6.283185307046613,
    -41.341702096855485,
    81.60522368004558,
    -76.7041697529144,
    42.007787134093775,
    -14.381321131216518,
)
# log2((1 + s) / (1 - s)) / s in powers of s ** 2, for (1 + s) / (1 - s) from sqrt(1/2) to sqrt(2)
LOG2 = (
    2.8853900817900793,
    0.961796673349318,
    0.5770835834142842,
    0.41167281921919824,
    0.34072813370762717,
)
# 2 ** r for |r| up to 1/2
EXP2 = (
    1.0000000005542287,
    0.6931472057375028,
    0.2402264689059557,
    0.05550328776681807,
    0.00961848896005609,
    0.0013399931312495373,
    0.00015345811162244402,
)
