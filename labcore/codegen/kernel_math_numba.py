"""The words of a kernel's text, with their meaning for numba.

In: typed values while numba compiles.  Out: LLVM instructions.
Invariant: `IN_KERNELS` has the names of `kernel_math.py`, and each gives the same value (tests
compare them bit by bit). Functions are libm's, one element at a time; a table entry is all that
changes when a vectorised one takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

Build = Callable[[Any, Any, list[Any]], Any]  # (builder, numba type, LLVM arguments) -> LLVM value


def _word(arity: int, build: Build) -> Any:
    """A function of `arity` arguments of one type, written out where it is used."""

    def typed(first: Any, *others: Any) -> tuple | None:
        if any(other != first for other in others):
            return None  # not of one type: numba reports it with the line
        signature = first(*[first] * arity)
        return signature, lambda context, builder, signature, args: build(
            builder, first, list(args)
        )

    if arity == 1:
        return intrinsic(lambda typing, a: typed(a))
    return intrinsic(lambda typing, a, b: typed(a, b))


def _compare(builder: Any, type_: Any, op: str, a: Any, b: Any) -> Any:
    """a >= b and the like; False for a nan."""
    if isinstance(type_, types.Float):
        return builder.fcmp_ordered(op, a, b)
    signed = isinstance(type_, types.Integer)
    return (builder.icmp_signed if signed else builder.icmp_unsigned)(op, a, b)


def _choice(op: str) -> Build:
    """The larger or smaller of two; a nan in either place wins, and of two equal ones the first."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        a, b = args
        first = _compare(builder, type_, op, a, b)
        if isinstance(type_, types.Float):
            first = builder.or_(first, builder.fcmp_unordered("uno", a, a))
        return builder.select(first, a, b)

    return build


def _relu(builder: Any, type_: Any, args: list[Any]) -> Any:
    zero = ir.Constant(args[0].type, 0)
    return builder.select(_compare(builder, type_, "<", args[0], zero), zero, args[0])


def _remainder(builder: Any, type_: Any, args: list[Any]) -> Any:
    a, b = args
    zero = ir.Constant(a.type, 0)
    rest = builder.frem(a, b)
    signs = builder.xor(builder.fcmp_ordered("<", rest, zero), builder.fcmp_ordered("<", b, zero))
    apart = builder.and_(builder.fcmp_unordered("!=", rest, zero), signs)
    return builder.select(apart, builder.fadd(rest, b), rest)


def _radd(builder: Any, type_: Any, args: list[Any]) -> Any:
    if isinstance(type_, types.Float):
        return builder.fadd(*args, flags=("reassoc",))
    return builder.add(*args)


def _extreme(name: str, op: str) -> Build:
    """llvm.maximum and llvm.minimum: a nan wins, and LLVM can reduce with them in vectors."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        if not isinstance(type_, types.Float):
            return _choice(op)(builder, type_, args)
        kind = args[0].type
        function = builder.module.declare_intrinsic(
            f"llvm.{name}", (kind,), ir.FunctionType(kind, (kind, kind))
        )
        return builder.call(function, args)

    return build


def _intrinsic(name: str) -> Build:
    """LLVM's own function of one float."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        kind = args[0].type
        function = builder.module.declare_intrinsic(
            f"llvm.{name}", (kind,), ir.FunctionType(kind, (kind,))
        )
        return builder.call(function, args)

    return build


def _fmod(builder: Any, type_: Any, args: list[Any]) -> Any:
    return (builder.frem if isinstance(type_, types.Float) else builder.srem)(*args)


@njit(error_model="numpy")
def _integer_pow(base: Any, exponent: Any) -> Any:
    if exponent < 0:
        if base == -1:
            return -1 if exponent & 1 else 1
        return 1 if base == 1 else 0
    result = 1
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


IN_KERNELS: dict[str, Any] = {
    "float32": np.float32,
    "float64": np.float64,
    "int32": np.int32,
    "int64": np.int64,
    "inf": math.inf,
    "nan": math.nan,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "erf": math.erf,
    **{
        name: getattr(math, name)
        for name in (
            "expm1 log1p log2 log10 tan asin acos atan sinh cosh asinh acosh atanh atan2"
        ).split()
    },
    "exp2": _word(1, _intrinsic("exp2")),
    "floor": _word(1, _intrinsic("floor")),
    "ceil": _word(1, _intrinsic("ceil")),
    "trunc": _word(1, _intrinsic("trunc")),
    "round": _word(1, _intrinsic("rint")),
    "fmod": _word(2, _fmod),
    "pow": math.pow,
    "integer_pow": _integer_pow,
    "relu": _word(1, _relu),
    "remainder": _word(2, _remainder),
    "maximum": _word(2, _choice(">=")),
    "minimum": _word(2, _choice("<=")),
    "radd": _word(2, _radd),
    "rmax": _word(2, _extreme("maximum", ">=")),
    "rmin": _word(2, _extreme("minimum", "<=")),
}
