"""The elementary functions of kernels, as polynomials: a loop that calls them becomes vectors.

In: an `Arithmetic` (what a step means) and a value x, float32 or float64.  Out: the function of x.
A function of libm takes one number at a time, which costs a loop up to 30 times of what it needs.
These are straight lines without a branch or a table; both sides of a choice are computed.
What `Arithmetic` is decides what running one means: `kernel_math.py` computes it on numpy scalars,
`kernel_math_numba.py` writes LLVM instructions. Both give the same bits.
Invariant: nan stays nan, the sign of a zero is kept, what overflows is inf, denormal results are
rounded like all others. `ERRORS` says how far the results are from the true value.
Methods: J.-M. Muller, "Elementary Functions"; the reductions of x are those of fdlibm. The
coefficients are minimax fits in the relative error of the whole function, rounded one at a time.
PyTorch calls SLEEF for the same purpose. sin, cos and pow are in `elementary_wide.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any, Protocol

# The largest error in units in the last place, of float32 and of float64; of a result that is
# denormal, and so rounded twice, a quarter more. PyTorch's, measured alike: exp 0.57, expm1 1.0,
# sigmoid 2.36, log 0.92, log1p 1.0, tanh 0.52, erf 0.72, sin 0.61, cos 0.61, pow 0.59 for float32;
# exp 0.53, tanh 0.75 for float64.
# The relative error of exp is as small as PyTorch's: 1.05 half units of 1.
ERRORS = {
    "exp": (0.75, 0.75),
    "expm1": (0.76, 0.76),
    "sigmoid": (2.36, 2.36),
    "log": (0.68, 0.66),
    "log1p": (0.69, 0.66),
    "tanh": (0.60, 0.58),
    "erf": (0.85, None),
    "sin": (0.51, None),
    "cos": (0.52, None),
    "pow": (0.55, None),
}


@dataclass(frozen=True)
class Format:
    """What a function must know of a number format, and its coefficients (of the lowest power
    first)."""

    digits: int  # bits behind the point
    least: int  # 2 ** least is the smallest normal number
    # Adding this to a number leaves the nearest integer in its lowest bits, with twice the bias of
    # an exponent: half of them, moved up, is a power of two.
    rounder: float
    ln2: tuple[float, float]  # ln 2 in two parts; n times the first is exact
    exp: tuple[float, ...]
    whole_exp: tuple[float, ...]
    log: tuple[float, ...]
    tanh: tuple[float, ...]
    tanh_is_1: float  # from here on tanh rounds to 1
    exp_range: tuple[float, float]  # outside of it e ** x is 0 or inf


class Arithmetic(Protocol):
    """The steps, of values of one format. Values also have + - * / < > and unary minus; a Python
    float among them has their format."""

    format: Format
    wide: Arithmetic  # that of float64

    def widened(self, a: Any) -> Any:
        """A float32 as a value of `wide`."""

    def narrowed(self, a: Any) -> Any:
        """A value of `wide` rounded to float32."""

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """a where the condition holds, else b."""

    def abs(self, a: Any) -> Any: ...

    def copysign(self, a: Any, sign: Any) -> Any:
        """The size of a, the sign of the other."""

    def scaled(self, a: Any, n: Any) -> Any:
        """a * 2 ** n, rounded once, also where that is denormal or inf. n comes as
        n + format.rounder."""

    def power(self, n: Any, less: int = 0) -> Any:
        """2 ** (n - less), a normal number. n comes as n + format.rounder."""

    def flipped(self, a: Any, n: Any) -> Any:
        """a, or -a where n is odd. n comes as n + format.rounder."""

    def rint(self, a: Any) -> Any:
        """The nearest integer, of two the even one."""

    def split(self, a: Any) -> tuple[Any, Any]:
        """(m, n) with a = m * 2 ** n and m from sqrt(1/2) to sqrt(2); of a positive normal a."""


def polynomial(m: Arithmetic, x: Any, coefficients: tuple[float, ...]) -> Any:
    """By Horner's rule, from the highest power on."""
    *rest, total = coefficients
    total = m.fma(x, total, rest.pop())
    while rest:
        total = m.fma(x, total, rest.pop())
    return total


def _reduced(m: Arithmetic, x: Any, factor: Any) -> tuple[Any, Any, Any]:
    """(r, rest, n): x * factor is r + n * ln 2, |r| up to ln(2) / 2, rest is what rounding r has
    lost, and n is for `scaled`."""
    high_ln2, low_ln2 = m.format.ln2
    shifted = m.fma(x * factor, LOG2_E, m.format.rounder)
    n = shifted - m.format.rounder
    nearly = m.fma(x, factor, -(n * high_ln2))
    r = m.fma(n, -low_ln2, nearly)
    return r, m.fma(n, -low_ln2, nearly - r), shifted


def _exp_parts(m: Arithmetic, x: Any, factor: Any = 1.0) -> tuple[Any, Any, Any]:
    """(high, low, n): e ** (x * factor) is (high + low) * 2 ** n, high from sqrt(1/2) to sqrt(2)
    and low what rounding it has lost."""
    r, rest, n = _reduced(m, x, factor)
    high, square = r + 1.0, r * r
    lost = m.fma(0.5, m.fma(r, r, -square), rest * high)
    more = m.fma(square * r, polynomial(m, r, m.format.exp), lost)
    low = m.fma(0.5, square, r - (high - 1.0) + more)
    whole = high + low
    return whole, (high - whole) + low, n


def _in_exp_range(m: Arithmetic, x: Any) -> Any:
    least, largest = m.format.exp_range
    below = m.select(x > largest, largest, x)
    return m.select(below < least, least, below)


def exp(m: Arithmetic, x: Any) -> Any:
    """n is chosen so that e ** r is from 3/4 to 3/2: there 1 + (e ** r - 1) loses least."""
    inside = _in_exp_range(m, x)
    high_ln2, low_ln2 = m.format.ln2
    shifted = m.fma(inside, LOG2_E, TO_3_QUARTERS) + m.format.rounder
    n = shifted - m.format.rounder
    nearly = m.fma(n, -high_ln2, inside)
    r = m.fma(n, -low_ln2, nearly)
    rest = m.fma(n, -low_ln2, nearly - r)
    more = m.fma(r * r, polynomial(m, r, m.format.whole_exp), m.fma(rest, r, rest))
    return m.scaled((r + more) + 1.0, shifted)


def sigmoid(m: Arithmetic, x: Any) -> Any:
    """1 / (1 + e ** -x), both sides of the division made so small that no power is too large."""
    least, largest = m.format.exp_range[0], SIGMOID_IS_1
    below = m.select(x > largest, largest, x)
    inside = m.select(below < least, least, below)
    high_ln2, low_ln2 = m.format.ln2
    shifted = m.fma(inside, -LOG2_E, m.format.rounder)
    n = shifted - m.format.rounder
    r = m.fma(n, -low_ln2, m.fma(n, -high_ln2, -inside))
    exp = m.fma(r, m.fma(r, polynomial(m, r, m.format.whole_exp), 1.0), 1.0)
    less = m.format.digits + 1
    small = 2.0**-less
    return small / m.fma(exp, m.power(shifted, less), small)


def expm1(m: Arithmetic, x: Any) -> Any:
    """e ** x - 1, precise near 0."""
    high, low, n = _exp_parts(m, _in_exp_range(m, x))
    high, low = m.scaled(high, n), m.scaled(low, n)
    # The larger of high and 1 first: then the rest of the difference is exact.
    difference = high - 1.0
    lost = m.select(high > 1.0, (high - difference) - 1.0, high - (difference + 1.0))
    return m.select(x * x > 0.0, m.select(high < inf, difference + (lost + low), high), x)


def _log_of_parts(m: Arithmetic, f: Any, n: Any, more: Any) -> Any:
    """log((1 + f) * 2 ** n) + more, for 1 + f from sqrt(1/2) to sqrt(2); `more` is tiny."""
    high_ln2, low_ln2 = m.format.ln2
    square = f * f
    lost = m.fma(f, f, -square)  # of the square
    tail = m.fma(square * f, polynomial(m, f, m.format.log), m.fma(n, low_ln2, more))
    whole = n * high_ln2
    first = whole + f
    first_lost = m.select(m.abs(whole) > m.abs(f), (whole - first) + f, (f - first) + whole)
    second = first - 0.5 * square
    second_lost = (first - second) - 0.5 * square
    return second + (second_lost + first_lost - 0.5 * lost + tail)


def log(m: Arithmetic, x: Any) -> Any:
    tiny = x < 2.0**m.format.least
    scale = m.format.digits + 1
    mantissa, n = m.split(m.select(tiny, x * 2.0**scale, x))
    result = _log_of_parts(m, mantissa - 1.0, m.select(tiny, n - float(scale), n), 0.0)
    return _log_edges(m, x, x, result)


def log1p(m: Arithmetic, x: Any) -> Any:
    """log(1 + x), precise near 0."""
    u = x + 1.0
    mantissa, n = m.split(u)
    near = (x > SQRT_HALF - 1.0) & (x < SQRT_2 - 1.0)
    # What rounding 1 + x has lost counts relative to u.
    lost = m.select(x > 1.0, 1.0 - (u - x), x - (u - 1.0)) / u
    f = m.select(near, x, mantissa - 1.0)
    result = _log_of_parts(m, f, m.select(near, x * 0.0, n), m.select(near, x * 0.0, lost))
    return m.select(x * x > 0.0, _log_edges(m, u, x, result), x)


def _log_edges(m: Arithmetic, u: Any, x: Any, result: Any) -> Any:
    """log(u) where it is no number, or no finite one; x is what nan is taken from."""
    result = m.select(u < inf, result, x)
    result = m.select(u > 0.0, result, m.select(u < 0.0, nan, -inf))
    return m.select(x == x, result, x)


def tanh(m: Arithmetic, x: Any) -> Any:
    """Near 0 a polynomial; else 1 - 2 / (e ** 2|x| + 1), with what each rounding has lost."""
    size = m.abs(x)
    square = x * x
    near = m.fma(x * square, polynomial(m, square, m.format.tanh), x)
    largest = m.format.tanh_is_1
    high, low, n = _exp_parts(m, m.select(size > largest, largest, size), 2.0)
    high, low = m.scaled(high, n), m.scaled(low, n)
    below = high + 1.0
    below_lost = (high - below) + 1.0 + low
    quotient = 2.0 / below
    rest = m.fma(-quotient, below, 2.0) - quotient * below_lost
    result = 1.0 - quotient
    far = result + (((1.0 - result) - quotient) - rest * quotient * 0.5)
    return m.copysign(m.select(size < 0.4, near, far), x)


def erf(m: Arithmetic, x: Any) -> Any:
    """Of float32 only. Near 0 a polynomial; else 1 - e ** (-|x| * q(|x|)), where q is one."""
    size = m.abs(x)
    near = m.fma(x, polynomial(m, m.fma(x, x, -0.5), ERF), x)
    inside = m.select(size > 4.0, 4.0, size)  # from there on erf rounds to 1
    r, _, n = _reduced(m, inside, -polynomial(m, inside, MINUS_LOG_ERFC))
    more = m.fma(r * r, polynomial(m, r, SHORT_EXP), r)
    power = m.power(n)
    far = m.fma(-power, more, 1.0 - power)
    return m.copysign(m.select(size < 0.9, near, far), x)


SIGMOID_IS_1 = 40.0  # from here on it rounds to 1
LOG2_E = 1.4426950408889634
TO_3_QUARTERS = -0.08496250072115619  # what rounds to 0 now begins at log2(3/4)
SQRT_HALF, SQRT_2 = 0.7071067811865476, 1.4142135623730951

# erf(x) / x - 1 for |x| up to 0.9; in powers of x ** 2 - 1/2 its terms are smaller than in x ** 2
ERF = (
    -0.03453126177191734,
    -0.2810721695423126,
    0.07941003888845444,
    -0.0182841494679451,
    0.003478958737105131,
    -0.000560294312890619,
    8.772761066211388e-05,
)
# -log(1 - erf(x)) / x from 0.9 to 4
MINUS_LOG_ERFC = (
    1.1285200119018555,
    0.6356991529464722,
    0.10528715699911118,
    -0.022906234487891197,
    0.00322004035115242,
    -0.00021460276911966503,
)
# (e ** r - 1 - r) / r ** 2 for |r| up to ln(2) / 2, for what becomes a fifth of erf at most
SHORT_EXP = (
    0.5000000095483267,
    0.16666518307191366,
    0.04166620467142056,
    0.008368953477997723,
    0.0013950573059828165,
)

FLOAT32 = Format(
    digits=23,
    least=-126,
    rounder=1.5 * 2.0**23 + 2 * 127,
    ln2=(0.693359375, -2.12194440e-4),
    exp_range=(-104.0, 89.0),
    # (e ** r - 1 - r) / r ** 2 for e ** r from 3/4 to 3/2
    whole_exp=(
        0.5,
        0.16666670143604279,
        0.04166655242443085,
        0.008332040160894394,
        0.0013921858044341207,
        0.00020904475240968168,
    ),
    # (e ** r - 1 - r - r ** 2 / 2) / r ** 3 for |r| up to ln(2) / 2
    exp=(
        0.1666666567325592,
        0.041666459292173386,
        0.008333570323884487,
        0.0013935507740825415,
        0.0001974106562556699,
    ),
    # (log(1 + f) - f + f ** 2 / 2) / f ** 3 for f from sqrt(1/2) - 1 to sqrt(2) - 1
    log=(
        0.3333333134651184,
        -0.2500081956386566,
        0.2000124305486679,
        -0.1662341058254242,
        0.14201539754867554,
        -0.13159550726413727,
        0.12762485444545746,
        -0.07636940479278564,
    ),
    # (tanh(x) / x - 1) / x ** 2 in powers of x ** 2, for |x| up to 0.4
    tanh=(
        -0.33333298563957214,
        0.13331209123134613,
        -0.05356143042445183,
        0.01874249242246151,
    ),
    tanh_is_1=9.1,
)

FLOAT64 = Format(
    digits=52,
    least=-1022,
    rounder=1.5 * 2.0**52 + 2 * 1023,
    ln2=(0.6931471803691238, 1.9082149292705877e-10),
    exp_range=(-746.0, 710.0),
    whole_exp=(
        0.5,
        0.16666666666666663,
        0.04166666666666786,
        0.008333333333337507,
        0.0013888888887990045,
        0.0001984126983098619,
        2.4801589708718992e-05,
        2.7557318397256647e-06,
        2.7554551039746065e-07,
        2.5074853247577256e-08,
        2.204977774143684e-09,
    ),
    exp=(
        0.16666666666666682,
        0.04166666666666647,
        0.008333333333317669,
        0.0013888888889008071,
        0.00019841269895182456,
        2.4801587065814834e-05,
        2.7557235737717944e-06,
        2.755749732831749e-07,
        2.5111827480588764e-08,
        2.084632218806694e-09,
    ),
    log=(
        0.3333333333333314,
        -0.24999999999987974,
        0.20000000000066853,
        -0.16666666669826435,
        0.14285714280070597,
        -0.12499999691391511,
        0.11111111148528295,
        -0.10000015208853022,
        0.09090923903636262,
        -0.0833291346348531,
        0.07691530254705634,
        -0.0714944089699859,
        0.0668458541588206,
        -0.06196663759916455,
        0.05668390921439329,
        -0.05677868292174103,
        0.0650350772981868,
        -0.059815017963822055,
        0.026149086657844278,
    ),
    tanh=(
        -0.3333333333333321,
        0.13333333333302097,
        -0.053968253941149374,
        0.02186948738177191,
        -0.008863207660549573,
        0.003591720271713962,
        -0.001452136221031119,
        0.0005695646846663739,
        -0.00017460066539684018,
    ),
    tanh_is_1=19.1,
)
