"""What a loop body may compute: one table, one row a primitive.

In: nothing.  Out: `PRIMITIVES[name]`, which says what the primitive means on Python numbers, which
type it gives, how the teaching view spells it, and whether it is dear.  To add an operator here is
to add one row.
Invariant: the arguments of a primitive have one common dtype (`where`: its last two); lowering
casts before it calls. A fn works on Python int, float and bool and never raises; the caller rounds
its result to the dtype.
Inductor has some 120 of these in OpsHandler.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import dtypes


@dataclass(frozen=True)
class Primitive:
    """`text` has {0} {1} {2}; `result` is "same" (as the last argument) or "bool"."""

    name: str
    fn: Callable[..., Any]
    text: str
    result: str = "same"
    heavy: bool = False

    def dtype(self, *args: dtypes.dtype) -> dtypes.dtype:
        return dtypes.bool if self.result == "bool" else args[-1]


PRIMITIVES: dict[str, Primitive] = {}


def primitive(
    name: str, fn: Callable[..., Any], text: str, result: str = "same", heavy: bool = False
) -> None:
    PRIMITIVES[name] = Primitive(name, fn, text, result, heavy)


# ---- meanings that Python's operators do not give ------------------------------------------------


def _div(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _floor_divide(a: Any, b: Any) -> Any:
    return a // b if b != 0 else _div(a, b)


def _remainder(a: Any, b: Any) -> Any:
    """Of the divisor's sign; a zero keeps the dividend's."""
    if isinstance(a, int):
        return a % b
    if b == 0 or math.isinf(a):
        return math.nan
    rest = math.fmod(a, b)
    return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest


def _pow(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return a ** b if b >= 0 else (1 if a == 1 else (-1) ** (b % 2) if a == -1 else 0)
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:  # 0 to a negative power, or a negative base with a fraction
        return (
            math.copysign(math.inf, a)
            if a == 0 and b % 2 == 1
            else math.inf
            if a == 0
            else math.nan
        )


def _exp(a: float) -> float:
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def _log(a: float) -> float:
    return math.log(a) if a > 0 else -math.inf if a == 0 else math.nan


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


def _circle(fn: Callable[[float], float]) -> Callable[[float], float]:
    return lambda a: fn(a) if math.isfinite(a) else math.nan


def _inside(fn: Callable[[float], float]) -> Callable[[float], float]:
    """nan outside of what the function is defined for."""

    def found(a: float) -> float:
        try:
            return fn(a)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return found


def _log_like(fn: Callable[[float], float], pole: float) -> Callable[[float], float]:
    return lambda a: -math.inf if a == pole else _inside(fn)(a)


def _sinh(a: float) -> float:
    try:
        return math.sinh(a)
    except OverflowError:
        return math.copysign(math.inf, a)


def _atanh(a: float) -> float:
    return math.copysign(math.inf, a) if abs(a) == 1 else _inside(math.atanh)(a)


def _to_whole(fn: Callable[[float], Any]) -> Callable[[float], float]:
    """floor and its like, as floats; a zero keeps its sign."""
    return lambda a: math.copysign(float(fn(a)), a) if math.isfinite(a) else a


def _fmod(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return (abs(a) % abs(b)) * (-1 if a < 0 else 1)
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def _sigmoid(a: float) -> float:
    return _div(1.0, 1.0 + _exp(-a))


def _relu(a: Any) -> Any:
    return a if a >= 0 or a != a else type(a)(0)  # nan and -0.0 pass through


def _maximum(a: Any, b: Any) -> Any:
    return a if a >= b or a != a else b  # a nan wins, and so does the first of two equals


def _minimum(a: Any, b: Any) -> Any:
    return a if a <= b or a != a else b


# ---- the table -----------------------------------------------------------------------------------

primitive("add", lambda a, b: a + b, "{0} + {1}")
primitive("sub", lambda a, b: a - b, "{0} - {1}")
primitive("mul", lambda a, b: a * b, "{0} * {1}")
primitive("div", _div, "{0} / {1}")
primitive("floor_divide", _floor_divide, "{0} // {1}")
primitive("remainder", _remainder, "{0} % {1}")
primitive("pow", _pow, "{0} ** {1}", heavy=True)
primitive("maximum", _maximum, "maximum({0}, {1})")
primitive("minimum", _minimum, "minimum({0}, {1})")
primitive("eq", lambda a, b: a == b, "{0} == {1}", "bool")
primitive("ne", lambda a, b: a != b, "{0} != {1}", "bool")
primitive("lt", lambda a, b: a < b, "{0} < {1}", "bool")
primitive("le", lambda a, b: a <= b, "{0} <= {1}", "bool")
primitive("gt", lambda a, b: a > b, "{0} > {1}", "bool")
primitive("ge", lambda a, b: a >= b, "{0} >= {1}", "bool")
primitive("bitwise_and", lambda a, b: a & b, "{0} & {1}")
primitive("bitwise_or", lambda a, b: a | b, "{0} | {1}")
primitive("bitwise_xor", lambda a, b: a ^ b, "{0} ^ {1}")
primitive("bitwise_not", lambda a: (not a) if isinstance(a, bool) else ~a, "~{0}")
primitive("where", lambda c, a, b: a if c else b, "{1} if {0} else {2}")
primitive("neg", lambda a: -a, "-{0}")
primitive("abs", abs, "abs({0})")
primitive("relu", _relu, "relu({0})")
primitive("exp", _exp, "exp({0})", heavy=True)
primitive("log", _log, "log({0})", heavy=True)
primitive("sqrt", _sqrt, "sqrt({0})", heavy=True)
primitive("rsqrt", lambda a: _div(1.0, _sqrt(a)), "rsqrt({0})", heavy=True)
primitive("sin", _circle(math.sin), "sin({0})", heavy=True)
primitive("cos", _circle(math.cos), "cos({0})", heavy=True)
primitive("tanh", math.tanh, "tanh({0})", heavy=True)
primitive("erf", math.erf, "erf({0})", heavy=True)
primitive("sigmoid", _sigmoid, "sigmoid({0})", heavy=True)

for _name, _fn in {
    "exp2": _inside(lambda a: 2.0**a),
    "expm1": _inside(math.expm1),
    "log1p": _log_like(math.log1p, -1.0),
    "log2": _log_like(math.log2, 0.0),
    "log10": _log_like(math.log10, 0.0),
    "tan": _circle(math.tan),
    "asin": _inside(math.asin),
    "acos": _inside(math.acos),
    "atan": math.atan,
    "sinh": _sinh,
    "cosh": _inside(math.cosh),
    "asinh": math.asinh,
    "acosh": _inside(math.acosh),
    "atanh": _atanh,
}.items():
    primitive(_name, _fn, f"{_name}({{0}})", heavy=True)
for _name, _fn in (("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc),
                   ("round", round)):
    primitive(_name, _to_whole(_fn), f"{_name}({{0}})")
primitive("atan2", math.atan2, "atan2({0}, {1})", heavy=True)
primitive("fmod", _fmod, "fmod({0}, {1})", heavy=True)

# Takes many times as long as other arithmetic, but not as long as a load from far away.
DIVISIONS = {"div"}

# Of powers of e, each below the largest value so far, which is finite or nan: where a larger one
# comes, what was added up is rescaled (Milakov and Gimelshein, Online normalizer calculation for
# softmax, 2018). What comes of infinities is open.
SUMEXP = "sumexp"

# How two partial results combine; of `sumexp` once both are below the same value.
REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "maximum", "amin": "minimum", SUMEXP: "add"}

# What a scan combines the value before with, in order.
SCANS = {"cumsum": "add", "cumprod": "mul"}


def identity(kind: str, dtype: dtypes.dtype) -> Any:
    """What a reduction starts from: the value that changes nothing."""
    if kind in ("sum", "prod", SUMEXP, *SCANS):
        start = 0 if kind in ("sum", "cumsum", SUMEXP) else 1
        return float(start) if dtype.is_floating_point else start
    sign = -1 if kind == "amax" else 1
    if dtype.is_floating_point:
        return sign * math.inf
    if dtype is dtypes.bool:
        return kind == "amin"
    top = 2 ** (8 * dtype.itemsize - 1)
    return -top if kind == "amax" else top - 1


def addition(dtype: dtypes.dtype) -> str:
    """The primitive that adds two values of a type; on bools it is logic."""
    return "bitwise_or" if dtype is dtypes.bool else "add"


def accumulator(kind: str, dtype: dtypes.dtype) -> dtypes.dtype:
    """The type a reduction adds up in: float32 sums and scans in float64, rounded for who reads."""
    wide = kind in ("sum", SUMEXP) or kind in SCANS
    return dtypes.float64 if wide and dtype is dtypes.float32 else dtype


def lowest(dtype: dtypes.dtype) -> float:
    """The finite number below all others of a floating point type."""
    return -sys.float_info.max if dtype is dtypes.float64 else -(2.0 - 2.0**-23) * 2.0**127


# ---- reductions in pure Python: what they have so far, one more value, the result ----------------


def begun(kind: str, dtype: dtypes.dtype) -> Any:
    """Of no value; `sumexp` has the largest one and the sum."""
    return (lowest(dtype), 0.0) if kind == SUMEXP else identity(kind, dtype)


def taken_in(kind: str, sofar: Any, value: Any) -> Any:
    if kind != SUMEXP:
        return PRIMITIVES[REDUCTIONS[kind]].fn(sofar, value)
    largest, total = sofar
    top = _maximum(largest, value)
    return top, total * _exp(largest - top) + _exp(value - top)


def finished(kind: str, sofar: Any) -> Any:
    return sofar[1] if kind == SUMEXP else sofar
