"""The words of a kernel's text for numba's CUDA compiler, as `kernel_math_numba.py` for the CPU's.

In: values in registers.  Out: LLVM that NVVM takes, one instruction where there is one.
Invariant: each word means what `kernel_math.py` says it means on one number. A maximum keeps nan,
which the one in CUDA's library does not. Device functions are inlined before types are known, so
that they compile without a driver. `cubin.py` alone imports this, for it imports numba.cuda.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import types as cuda_types
from numba.cuda.extending import intrinsic

from . import pointers

Build = Callable[[Any, Any, list[Any]], Any]  # (builder, type, arguments) -> value
FLOAT = ir.FloatType()
types: Any = cuda_types

device = cuda.jit(device=True, inline="always")


def _word(count: int, build: Build) -> Any:
    """A function of arguments of one type that gives a value of that type."""

    def generator(type_: Any) -> Any:
        return lambda ctx, builder, sig, args: build(builder, type_, list(args))

    if count == 1:

        def one(context: Any, a: Any) -> Any:
            return a(a), generator(a)

        return intrinsic(one)

    def two(context: Any, a: Any, b: Any) -> Any:
        return a(a, a), generator(a)

    return intrinsic(two)


def _is_float(type_: Any) -> bool:
    return isinstance(type_, types.Float)


def _choice(compare: str) -> Build:
    """a, if it compares so with b or is nan; else b."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        a, b = args
        if _is_float(type_):
            is_nan = builder.fcmp_unordered("uno", a, a)
            wins = builder.or_(builder.fcmp_ordered(compare, a, b), is_nan)
        else:
            wins = builder.icmp_signed(compare, a, b)
        return builder.select(wins, a, b)

    return build


def _extreme(name: str, compare: str) -> Build:
    """One instruction for float32: which zero wins is open there."""
    llvm = ir.FunctionType(FLOAT, (FLOAT, FLOAT))
    instruction = ir.InlineAsm(llvm, f"{name}.NaN.f32 $0, $1, $2;", "=f,f,f")
    choice = _choice(compare)

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        if type_ == types.float32:
            return builder.call(instruction, args)
        return choice(builder, type_, args)

    return build


def _arithmetic(of_floats: str, of_integers: str) -> Build:
    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        return getattr(builder, of_floats if _is_float(type_) else of_integers)(*args)

    return build


def _relu(builder: Any, type_: Any, args: list[Any]) -> Any:
    (a,) = args
    zero = ir.Constant(a.type, 0)
    below = (builder.fcmp_ordered if _is_float(type_) else builder.icmp_signed)("<", a, zero)
    return builder.select(below, zero, a)


def _library(name: str) -> Build:
    """A function of libdevice; those of float32 end in f."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        kind = args[0].type
        full = f"__nv_{name}{'f' if kind == FLOAT else ''}"
        module = builder.module
        function = module.globals.get(full) or ir.Function(
            module, ir.FunctionType(kind, (kind,) * len(args)), full
        )
        return builder.call(function, args)

    return build


def _sigmoid(builder: Any, type_: Any, args: list[Any]) -> Any:
    (a,) = args
    one, zero = ir.Constant(a.type, 1), ir.Constant(a.type, -0.0)
    power = _library("exp")(builder, type_, [builder.fsub(zero, a)])
    return builder.fdiv(one, builder.fadd(one, power))


def _fmod(builder: Any, type_: Any, args: list[Any]) -> Any:
    return _library("fmod")(builder, type_, args) if _is_float(type_) else builder.srem(*args)


def _instruction(text: str, target: Any, source: Any) -> Any:
    """A word of one value that is one instruction of PTX; a half is a word of 16 bits."""
    places = {types.float32: "f", types.uint16: "h"}

    def one(context: Any, a: Any) -> Any:
        def build(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
            llvm = ir.FunctionType(ctx.get_value_type(target), (ctx.get_value_type(source),))
            where = f"={places[target]},{places[source]}"
            return builder.call(ir.InlineAsm(llvm, text, where), args)

        return target(source), build

    return intrinsic(one)


def _trap(context: Any) -> Any:
    """Ends the launch with an error, as an assertion in a kernel does."""

    def build(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.call(ir.InlineAsm(ir.FunctionType(ir.VoidType(), ()), "trap;", "", True), ())
        return ctx.get_dummy_value()

    return types.void(), build


trap: Any = intrinsic(_trap)

fmod = _word(2, _fmod)


@device
def remainder(a, b):  # type: ignore[no-untyped-def]
    rest = fmod(a, b)
    return rest + b if rest != 0 and (rest < 0) != (b < 0) else rest


@device
def integer_pow(a, b):  # type: ignore[no-untyped-def]
    if b < 0:
        return (-1 if b & 1 else 1) if a == -1 else (1 if a == 1 else 0)
    result = 1
    while b > 0:
        if b & 1:
            result *= a
        a *= a
        b >>= 1
    return result


@device
def check_index(index, size):  # type: ignore[no-untyped-def]
    if index < 0 or index >= size:
        trap()


LIBRARY = (
    "exp exp2 expm1 log log1p log2 log10 sqrt sin cos tan asin acos atan sinh cosh tanh asinh "
    "acosh atanh erf floor ceil trunc"
).split()

WORDS: dict[str, Any] = {
    "cuda": cuda,
    "inf": math.inf,
    "nan": math.nan,
    **{kind.__name__: kind for kind in (
        np.float32, np.float64, np.int32, np.int64, np.uint8, np.uint16, np.uint32)},
    "of_float16": _instruction("cvt.f32.f16 $0, $1;", types.float32, types.uint16),
    "float16": _instruction("cvt.rn.f16.f32 $0, $1;", types.uint16, types.float32),
    "of_bfloat16": _instruction("mov.b32 $0, {0, $1};", types.float32, types.uint16),
    "bfloat16": _instruction("cvt.rn.bf16.f32 $0, $1;", types.uint16, types.float32),
    **pointers.WORDS,
    **{name: _word(1, _library(name)) for name in LIBRARY},
    "round": _word(1, _library("rint")),
    "pow": _word(2, _library("pow")),
    "atan2": _word(2, _library("atan2")),
    "fmod": fmod,
    "remainder": remainder,
    "integer_pow": integer_pow,
    "check_index": check_index,
    "sigmoid": _word(1, _sigmoid),
    "relu": _word(1, _relu),
    "maximum": _word(2, _choice(">=")),
    "minimum": _word(2, _choice("<=")),
    "radd": _word(2, _arithmetic("fadd", "add")),
    "rmul": _word(2, _arithmetic("fmul", "mul")),
    "rmax": _word(2, _extreme("max", ">=")),
    "rmin": _word(2, _extreme("min", "<=")),
}
