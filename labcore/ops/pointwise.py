"""Operators that compute each element of the result from one element of each operand.

In: arrays, Python numbers.  Out: an array in the operands' broadcast shape and common type.
Invariant: a row of the table says everything about an operator: its name, the function that
computes it, the rule for the type it computes in, the type of the result where that differs, and
what it refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from ..shapes import FLOATS as FLOAT_NUMBERS, INTS
from . import formulas
from .arrays import empty, is_half, meta_of, ndarray, put, quiet
from .elementwise import (
    Check,
    Rule,
    binary,
    find_direct,
    is_direct,
    is_simple,
    result_layout,
    run,
    unary,
)
from .op import Op, naming, register
from .promote import check_fits, float_type, number_dtype, result_type

# of the types that numpy computes in
ALL = frozenset(t.numpy for t in dtypes.WHOLE)
FLOATS = frozenset(t.numpy for t in dtypes.WHOLE if t.is_floating_point)
BOOL = frozenset({dtypes.bool.numpy})
NUMBERS = ALL - BOOL


# ---- what operators refuse ----------------------------------------------------------------------


def refuse(message: str, *types: dtypes.dtype, error: type[Exception] = RuntimeError) -> Check:
    """A check that raises for these common types; `{}` in the message becomes the type's name."""

    def check(common: dtypes.dtype, operands: tuple) -> None:
        if common in types:
            raise error(message.format(common.title))

    return check


def missing(kernel: str, *types: dtypes.dtype) -> Check:
    """PyTorch has no kernel for these types."""
    return refuse(f"\"{kernel}\" not implemented for '{{}}'", *types, error=NotImplementedError)


def _no_bool_minus(common: dtypes.dtype, operands: tuple) -> None:
    bools = [
        (m.dtype if isinstance(m, TensorMeta) else number_dtype(m)) is dtypes.bool for m in operands
    ]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. "
            "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def _check_pow(common: dtypes.dtype, operands: tuple) -> None:
    missing("pow", dtypes.bool)(common, operands)
    exponent = operands[1]
    if not common.is_floating_point and isinstance(exponent, INTS) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


_NO_NEGATIVE = refuse(
    "Negation, the `-` operator, on a bool tensor is not supported. "
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
    dtypes.bool,
)
_NO_RELU = refuse("Boolean inputs not supported for relu", dtypes.bool)

# ---- type rules ---------------------------------------------------------------------------------

SAME = Rule()
FLOATING = Rule(float_type)
TRUTH = Rule(result=dtypes.bool)
SQUARE = Rule(lambda input: result_type(input, 2))
TIMES = Rule(exact_numbers=True)
DIVIDED = Rule(float_type, exact_numbers=True)


def _bits(kernel: str) -> Rule:
    return Rule(check=missing(kernel, *(t for t in dtypes.ALL if t.is_floating_point)))


# ---- the table ----------------------------------------------------------------------------------


def _scaled(name: str, ufunc: np.ufunc, rule: Rule) -> Op:
    """`add` and `sub`: the second operand is first multiplied by `alpha`."""

    def meta(input: Any, other: Any, alpha: Any = 1) -> TensorMeta:
        common = rule.types(input, other)[0]
        if isinstance(alpha, bool) and common is not dtypes.bool:
            raise RuntimeError("Boolean alpha only supported for Boolean results.")
        if isinstance(alpha, FLOAT_NUMBERS) and not common.is_floating_point:
            raise RuntimeError(
                "For integral input tensors, argument alpha must not be a floating point number."
            )
        return rule.meta(input, other)

    def kernel(input: Any, other: Any, alpha: Any = 1) -> ndarray:
        if is_direct(input, other, direct) and alpha == 1 and alpha is not True:
            return quiet.run(ufunc, input, other)
        metas = meta_of((input, other))
        out = checked(*metas) if type(alpha) is int and alpha == 1 else checked(*metas, alpha)
        if alpha == 1:
            return run(rule, out, ufunc, (input, other))
        scale = dtypes.computed_in(out.dtype).numpy.type(alpha)
        return run(
            rule, out, lambda a, b, out: ufunc(a, np.multiply(b, scale), out=out), (input, other)
        )

    direct, checked = find_direct(ufunc, rule, 2), naming(name, meta)
    return register(name, "pointwise", kernel, checked, ufunc=ufunc, direct=direct)


_scaled("add", np.add, SAME)
_scaled("sub", np.subtract, Rule(check=_no_bool_minus))
binary("mul", np.multiply, TIMES)
binary("div", np.divide, DIVIDED)
binary("floor_divide", formulas.floor_divide, Rule(check=missing("div_floor_cpu", dtypes.bool)))
binary("remainder", formulas.remainder, Rule(check=missing("remainder_cpu", dtypes.bool)))
binary("atan2", np.arctan2, FLOATING)
binary("fmod", formulas.fmod, Rule(check=missing("fmod_cpu", dtypes.bool)))
binary("maximum", formulas.maximum, direct=ALL)
binary("minimum", formulas.minimum, direct=ALL)
binary("eq", np.equal, TRUTH)
binary("ne", np.not_equal, TRUTH)
binary("lt", np.less, TRUTH)
binary("le", np.less_equal, TRUTH)
binary("gt", np.greater, TRUTH)
binary("ge", np.greater_equal, TRUTH)
binary("logical_and", np.logical_and, TRUTH)
binary("logical_or", np.logical_or, TRUTH)
binary("logical_xor", np.logical_xor, TRUTH)
binary("bitwise_and", np.bitwise_and, _bits("bitwise_and_cpu"))
binary("bitwise_or", np.bitwise_or, _bits("bitwise_or_cpu"))
binary("bitwise_xor", np.bitwise_xor, _bits("bitwise_xor_cpu"))

unary("neg", np.negative, Rule(check=_NO_NEGATIVE))
unary("relu", formulas.relu, Rule(check=_NO_RELU), direct=NUMBERS)
unary("abs", np.absolute, Rule(check=missing("abs_cpu", dtypes.bool)))
unary("sign", formulas.sign, direct=NUMBERS)
unary("square", formulas.square, SQUARE, direct=NUMBERS)
unary("exp", np.exp, FLOATING)
unary("log", np.log, FLOATING)
unary("sqrt", np.sqrt, FLOATING)
unary("rsqrt", formulas.rsqrt, FLOATING, FLOATS)
unary("reciprocal", np.reciprocal, FLOATING)
unary("sin", np.sin, FLOATING)
unary("cos", np.cos, FLOATING)
unary("tanh", np.tanh, FLOATING)
unary("sigmoid", formulas.sigmoid, FLOATING, FLOATS)
unary("erf", formulas.erf, FLOATING, FLOATS)
for _name, _ufunc in {
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}.items():
    unary(_name, _ufunc, FLOATING)
for _name, _whole in {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "_round": np.rint,
}.items():
    _rule = Rule(check=missing(f"{_name.strip('_')}_vml_cpu", dtypes.bool))
    unary(_name, formulas.of_floats(_whole), _rule, FLOATS)
unary("logical_not", np.logical_not, TRUTH)
unary("bitwise_not", np.invert, _bits("bitwise_not_cpu"))
unary("isnan", formulas.isnan, TRUTH, FLOATS)
unary("isinf", formulas.isinf, TRUTH, FLOATS)
unary("isfinite", formulas.isfinite, TRUTH, FLOATS)


# ---- pow: integers by rules of their own, some exponents exactly --------------------------------

_POW = Rule(check=_check_pow)


def _pow_meta(input: Any, exponent: Any) -> TensorMeta:
    out = _POW.meta(input, exponent)
    if not isinstance(input, TensorMeta):  # PyTorch lays out powers of a number anew
        return TensorMeta.contiguous(out.shape, out.dtype)
    return out if isinstance(exponent, TensorMeta) else _of_one(out, input)


def _of_one(out: TensorMeta, input: TensorMeta) -> TensorMeta:
    """A power or a clamp by numbers has the layout of an operator of one tensor."""
    return replace(out, stride=result_layout((input,), out.dtype)[1])


def _pow_kernel(input: Any, exponent: Any) -> ndarray:
    exact = None if isinstance(exponent, ndarray) else formulas.EXACT_POWERS.get(exponent)
    if exact is not None and isinstance(input, ndarray) and (
        input.dtype in FLOATS or is_half(input)
    ):
        if is_simple(input) and not is_half(input):
            return quiet.run(exact, input)
        power = exact
        out = _pow(*meta_of((input, exponent)))
        return run(_POW, out, lambda x, _, out: power(x, out=out), (input, exponent))
    out = _pow(*meta_of((input, exponent)))
    compute: Callable = np.power if out.dtype.is_floating_point else formulas.integer_power
    return run(_POW, out, compute, (input, exponent))


_pow = naming("pow", _pow_meta)
register("pow", "pointwise", _pow_kernel, _pow)


# ---- choices ------------------------------------------------------------------------------------


def _where_meta(condition: TensorMeta, input: Any, other: Any) -> TensorMeta:
    if condition.dtype is not dtypes.bool:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + condition.dtype.title
        )
    type_ = SAME.types(input, other)[0]
    for operand in (input, other):
        if not isinstance(operand, TensorMeta):
            check_fits(operand, type_)
    mask = replace(condition, dtype=type_)  # stays as it is: only the values are converted
    shape, stride = result_layout((mask, input, other), type_)
    return TensorMeta(shape, stride, type_)


def _fits(condition: ndarray, input: Any, other: Any) -> bool:
    """Of one shape and one float type, or a Python float, and nothing to check about them."""
    first, second = (input, other) if isinstance(input, ndarray) else (other, input)
    if not isinstance(first, ndarray) or first.dtype not in FLOATS or 1 in condition.shape:
        return False
    if first.shape != condition.shape or not first.flags.c_contiguous:
        return False
    return is_direct(first, second, FLOATS) and type(second) is not int


def _where_kernel(condition: ndarray, input: Any, other: Any) -> ndarray:
    if is_simple(condition) and condition.dtype in BOOL and _fits(condition, input, other):
        return np.where(condition, input, other)
    result = empty(_where(*meta_of((condition, input, other))))
    put(result, other)
    put(result, input, condition)
    return result


_where = naming("where", _where_meta)
register("where", "pointwise", _where_kernel, _where)

_CLAMP = Rule()


def _check_clamp(common: dtypes.dtype, bounds: list[Any]) -> None:
    """Bools have a larger and a smaller one, but nothing between."""
    of_tensors = isinstance(bounds[0], TensorMeta)
    if common is dtypes.bool and not (of_tensors and len(bounds) == 1):
        kernel = "clamp_cpu" if of_tensors else "clamp_scalar_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _clamp_meta(input: TensorMeta, min: Any = None, max: Any = None) -> TensorMeta:
    bounds = [b for b in (min, max) if b is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if len({isinstance(b, TensorMeta) for b in bounds}) == 2:
        raise TypeError(
            "clamp() received an invalid combination of arguments: min and max must be two tensors "
            "or two numbers"
        )
    out = _CLAMP.meta(input, *bounds)
    _check_clamp(out.dtype, bounds)
    return out if isinstance(bounds[0], TensorMeta) else _of_one(out, input)


def _clamp_kernel(input: ndarray, min: Any = None, max: Any = None) -> ndarray:
    out = _clamp(*meta_of((input, min, max)))
    bounds = tuple(b for b in (min, max) if b is not None)
    if min is None:
        return run(_CLAMP, out, formulas.minimum, (input, *bounds))
    if max is None:
        return run(_CLAMP, out, formulas.maximum, (input, *bounds))
    return run(_CLAMP, out, formulas.clamp, (input, *bounds))


_clamp = naming("clamp", _clamp_meta)
register("clamp", "pointwise", _clamp_kernel, _clamp)
