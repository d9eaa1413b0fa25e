"""How each pointwise operator is written in loop primitives: one row of a table an operator.

In: an operator's parameters by name.  Out: the body of one element, in terms of `ops`.
Invariant: a row names the operands (cast to the operator's common type before the body sees them)
and the body; whatever else the operator takes (alpha, min, dtype) reaches the body as Python
values. To add an operator: one call of `rule`. Inductor's `make_pointwise` plays this part.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from .. import dtypes
from ..ops.promote import float_type, result_type
from ..shapes import INTS
from .halves import converted
from .ir import ops

Body = Callable[..., Any]
Check = Callable[[dtypes.dtype, Mapping[str, Any]], None]


class NoLoops(Exception):
    """This call cannot be loops; the text says why, and becomes the reason of an extern step."""


@dataclass(frozen=True)
class Rule:
    """`body(dtype, *operands, **others)`; the operands after the first `uncast` are in the common
    type `dtype`.

    `check(dtype, operands by name)` may raise NoLoops.
    Of halves the body computes in float32, and its result is rounded, unless it only `moves`
    values. `exact_numbers`: see `ops/elementwise.py`.
    """

    operands: tuple[str, ...]
    body: Body
    common: Callable[..., dtypes.dtype] = result_type
    check: Check | None = None
    uncast: int = 0
    moves: bool = False
    exact_numbers: bool = False


POINTWISE: dict[str, Rule] = {}


def rule(name: str, operands: str, body: Body, common: Callable[..., dtypes.dtype] = result_type,
         **more: Any) -> None:
    """Add an operator to the table."""
    POINTWISE[name] = Rule(tuple(operands.split()), body, common, **more)


# ---- arithmetic: on bools it is logic ------------------------------------------------------------

ON_BOOLS = {
    "add": "bitwise_or",
    "mul": "bitwise_and",
    "maximum": "bitwise_or",
    "minimum": "bitwise_and",
}


def _call(name: str, dtype: dtypes.dtype, *args: Any) -> Any:
    return getattr(ops, ON_BOOLS.get(name, name) if dtype is dtypes.bool else name)(*args)


def _scaled(name: str) -> Body:
    def body(dtype: dtypes.dtype, a: Any, b: Any, alpha: Any = 1) -> Any:
        return _call(
            name, dtype, a, b if alpha == 1 else _call("mul", dtype, b, ops.constant(alpha, dtype))
        )
    return body


def _plain(name: str) -> Body:
    return lambda dtype, *args: _call(name, dtype, *args)


def _divides(dtype: dtypes.dtype, params: Mapping[str, Any]) -> None:
    """Integer division by zero raises in eager mode, which a loop cannot."""
    other = params["other"]
    if not dtype.is_floating_point and not (isinstance(other, INTS) and other != 0):
        raise NoLoops("an integer division by zero must raise, and only the eager operator does")


rule("mul", "input other", _plain("mul"), exact_numbers=True)
for _name in ("maximum", "minimum"):
    rule(_name, "input other", _plain(_name))
rule("add", "input other", _scaled("add"))
rule("sub", "input other", _scaled("sub"))
rule("div", "input other", _plain("div"), float_type, exact_numbers=True)
rule("floor_divide", "input other", _plain("floor_divide"), check=_divides)
rule("remainder", "input other", _plain("remainder"), check=_divides)
rule("pow", "input exponent", _plain("pow"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"):
    rule(_name, "input other", lambda dtype, a, b, name=_name: getattr(ops, name)(a, b))
for _name in ("neg", "abs", "relu", "bitwise_not"):
    rule(_name, "input", lambda dtype, a, name=_name: getattr(ops, name)(a))
for _name in (
    "exp log sqrt rsqrt sin cos tanh erf sigmoid exp2 expm1 log1p log2 log10 tan asin acos atan "
    "sinh cosh asinh acosh atanh"
).split():
    rule(_name, "input", lambda dtype, a, name=_name: getattr(ops, name)(a), float_type)

rule("atan2", "input other", _plain("atan2"), float_type)
rule("fmod", "input other", _plain("fmod"), check=_divides)


def _beside_infinity(comparison: str, otherwise: bool) -> Body:
    """|a| compared with inf; a type that has no inf answers `otherwise`."""

    def body(dtype: dtypes.dtype, a: Any) -> Any:
        if not dtype.is_floating_point:
            return ops.constant(otherwise, dtypes.bool)
        return getattr(ops, comparison)(ops.abs(a), ops.constant(inf, dtype))

    return body


def _whole(name: str) -> Body:
    """Integers are whole already."""
    return lambda dtype, a: getattr(ops, name)(a) if dtype.is_floating_point else a


for _name in ("floor", "ceil", "trunc", "_round"):
    rule(_name, "input", _whole(_name.strip("_")))
rule("square", "input", lambda dtype, a: ops.mul(a, a), lambda x: result_type(x, 2))  # bools: int64
rule("reciprocal", "input", lambda dtype, a: ops.div(ops.constant(1, dtype), a), float_type)
rule("isnan", "input", lambda dtype, a: ops.ne(a, a))
rule("isinf", "input", _beside_infinity("eq", False))
rule("isfinite", "input", _beside_infinity("lt", True))
rule("clone", "input", lambda dtype, a, contiguous=False: a, moves=True)
rule("_stop_gradient", "input", lambda dtype, a: a, moves=True)
rule("_with_history", "values", lambda dtype, a, input: a, moves=True)
rule("_to_copy", "input", lambda source, a, dtype: converted(a, source, dtype), moves=True)
rule(
    "copy", "src", lambda source, a, input: converted(a, source, input.meta.dtype), moves=True
)  # `input` gives layout and type only


def _sign(dtype: dtypes.dtype, a: Any) -> Any:
    if dtype is dtypes.bool:
        return a
    zero = ops.constant(0, dtype)
    below = ops.where(ops.lt(a, zero), ops.constant(-1, dtype), zero)
    return ops.where(ops.gt(a, zero), ops.constant(1, dtype), below)


rule("sign", "input", _sign)


# ---- truth ---------------------------------------------------------------------------------------


def _truth(dtype: dtypes.dtype, a: Any) -> Any:
    return a if dtype is dtypes.bool else ops.ne(a, ops.constant(0, dtype))


for _name, _primitive in (
    ("logical_and", "bitwise_and"),
    ("logical_or", "bitwise_or"),
    ("logical_xor", "bitwise_xor"),
):
    rule(
        _name,
        "input other",
        lambda dtype, a, b, name=_primitive: getattr(ops, name)(_truth(dtype, a), _truth(dtype, b)),
    )
rule("logical_not", "input", lambda dtype, a: ops.bitwise_not(_truth(dtype, a)))


# ---- powers that eager mode multiplies or takes roots for ----------------------------------------

EXACT_POWERS: dict[Any, Body] = {
    0.5: lambda dtype, a: ops.sqrt(a),
    -0.5: lambda dtype, a: ops.rsqrt(a),
    2: lambda dtype, a: ops.mul(a, a),
    3: lambda dtype, a: ops.mul(ops.mul(a, a), a),
    -1: lambda dtype, a: ops.div(ops.constant(1, dtype), a),
    -2: lambda dtype, a: ops.div(ops.constant(1, dtype), ops.mul(a, a)),
}


# ---- choices -------------------------------------------------------------------------------------


def _clamp(dtype: dtypes.dtype, a: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        a = ops.maximum(a, min)
    return a if max is None else ops.minimum(a, max)


rule("where", "condition input other", lambda dtype, c, a, b: ops.where(c, a, b), uncast=1,
     moves=True)
rule("clamp", "input min max", _clamp)
