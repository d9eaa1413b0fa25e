"""The words of a kernel's text, with their meaning for numba.

In: typed values while numba compiles.  Out: LLVM instructions.
Invariant: `IN_KERNELS` has the names of `kernel_math.py`, and each gives the same value (tests
compare them bit by bit). What `elementary.py` and `elementary_wide.py` have is written out; the
other functions are libm's, one element at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from ..runtime.loader import host
from . import elementary, elementary_wide, halves
from .ranges import STRIP

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


def _rmul(builder: Any, type_: Any, args: list[Any]) -> Any:
    if isinstance(type_, types.Float):
        return builder.fmul(*args, flags=("reassoc",))
    return builder.mul(*args)


def _extreme(name: str, op: str) -> Build:
    """llvm.maximum and llvm.minimum: a nan wins, and LLVM can reduce with them in vectors. Either
    zero will do: else x86 branches on the sign of what it compares, which it cannot foresee."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        if not isinstance(type_, types.Float):
            return _choice(op)(builder, type_, args)
        return _llvm(builder, name, args, ("nsz",))

    return build


def _intrinsic(name: str) -> Build:
    """LLVM's own function of one float."""

    return lambda builder, type_, args: _llvm(builder, name, args)


class _Value:
    """An LLVM value whose operators write instructions; a Python number beside it has its type."""

    __slots__ = ("m", "value")

    def __init__(self, m: _Instructions, value: Any) -> None:
        self.m, self.value = m, value

    def __add__(self, other: Any) -> _Value:
        return self.m.write("fadd", self, other)

    def __radd__(self, other: Any) -> _Value:
        return self.m.write("fadd", other, self)

    def __sub__(self, other: Any) -> _Value:
        return self.m.write("fsub", self, other)

    def __rsub__(self, other: Any) -> _Value:
        return self.m.write("fsub", other, self)

    def __mul__(self, other: Any) -> _Value:
        return self.m.write("fmul", self, other)

    def __rmul__(self, other: Any) -> _Value:
        return self.m.write("fmul", other, self)

    def __truediv__(self, other: Any) -> _Value:
        return self.m.write("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> _Value:
        return self.m.write("fdiv", other, self)

    def __neg__(self) -> _Value:
        return self.m.write("fneg", self)

    def __lt__(self, other: Any) -> _Value:
        return self.m.write("fcmp_ordered", "<", self, other)

    def __gt__(self, other: Any) -> _Value:
        return self.m.write("fcmp_ordered", ">", self, other)

    def __eq__(self, other: object) -> _Value:  # type: ignore[override]
        return self.m.write("fcmp_ordered", "==", self, other)

    def __and__(self, other: _Value) -> _Value:
        return self.m.write("and_", self, other)


class _Instructions:
    """The steps of `elementary`, as LLVM instructions of one float type."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self.builder, self.kind = builder, kind
        wide = isinstance(kind, ir.DoubleType)
        self.format = elementary.FLOAT64 if wide else elementary.FLOAT32
        self.bits = ir.IntType(64 if wide else 32)

    @property
    def wide(self) -> _Instructions:
        return _Instructions(self.builder, ir.DoubleType())

    def widened(self, a: Any) -> _Value:
        wide = self.wide
        return _Value(wide, self.builder.fpext(self.value(a), wide.kind))

    def narrowed(self, a: Any) -> _Value:
        return _Value(self, self.builder.fptrunc(self.wide.value(a), self.kind))

    def value(self, given: Any) -> Any:
        if isinstance(given, _Value):
            return given.value
        return given if isinstance(given, str) else ir.Constant(self.kind, given)

    def write(self, instruction: str, *args: Any) -> _Value:
        return _Value(self, getattr(self.builder, instruction)(*map(self.value, args)))

    def call(self, name: str, *args: Any) -> _Value:
        return _Value(self, _llvm(self.builder, name, [self.value(a) for a in args]))

    def fma(self, a: Any, b: Any, c: Any) -> _Value:
        return self.call("fma", a, b, c)

    def select(self, condition: Any, a: Any, b: Any) -> _Value:
        return self.write("select", condition, a, b)

    def abs(self, a: Any) -> _Value:
        return self.call("fabs", a)

    def copysign(self, a: Any, sign: Any) -> _Value:
        return self.call("copysign", a, sign)

    def scaled(self, a: Any, n: _Value) -> _Value:
        """By the processor's own instruction, or in two steps: 2 ** n alone may be no number."""
        bits = self._integer(n)
        if "+avx512f" in host()[1].split(","):
            rounder = ir.Constant(self.kind, self.format.rounder).bitcast(self.bits)
            return self._ldexp(a, self.builder.sub(bits, rounder))
        half = self.builder.lshr(bits, ir.Constant(self.bits, 1))
        return self._exponent(half) * a * self._exponent(self.builder.sub(bits, half))

    def power(self, n: _Value, less: int = 0) -> _Value:
        bias = 1 - self.format.least  # of which the rounder has two
        return self._exponent(
            self.builder.sub(self._integer(n), ir.Constant(self.bits, bias + less))
        )

    def _exponent(self, bits: Any) -> _Value:
        """The power of two whose exponent, with its bias, is in the lowest bits."""
        moved = self.builder.shl(bits, ir.Constant(self.bits, self.format.digits))
        return _Value(self, self.builder.bitcast(moved, self.kind))

    def flipped(self, a: Any, n: _Value) -> _Value:
        """The lowest bit of n is added to the sign's."""
        sign = self.builder.shl(self._integer(n), ir.Constant(self.bits, self.bits.width - 1))
        return _Value(
            self, self.builder.bitcast(self.builder.xor(self._integer(a), sign), self.kind)
        )

    def rint(self, a: Any) -> _Value:
        return self.call("rint", a)

    def _ldexp(self, a: Any, exponent: Any) -> _Value:
        exponent = self.builder.trunc(exponent, ir.IntType(32))
        name = f"llvm.ldexp.f{self.bits.width}.i32"
        type_ = ir.FunctionType(self.kind, (self.kind, exponent.type))
        function = cgutils.get_or_insert_function(self.builder.module, type_, name)
        return _Value(self, self.builder.call(function, (self.value(a), exponent)))

    def split(self, a: Any) -> tuple[_Value, _Value]:
        """By the bits: what a's lie above those of sqrt(1/2), in whole powers of two."""
        build, digits = self.builder, ir.Constant(self.bits, self.format.digits)
        root = build.bitcast(ir.Constant(self.kind, elementary.SQRT_HALF), self.bits)
        bits = self._integer(a)
        n = build.ashr(build.sub(bits, root), digits)
        mantissa = build.bitcast(build.sub(bits, build.shl(n, digits)), self.kind)
        return _Value(self, mantissa), _Value(self, build.sitofp(n, self.kind))

    def _integer(self, a: _Value) -> Any:
        return self.builder.bitcast(a.value, self.bits)


def _llvm(builder: Any, name: str, args: list[Any], flags: tuple[str, ...] = ()) -> Any:
    """A call of LLVM's own function of floats of one type. `flags`: what it need not mind."""
    kind = args[0].type
    type_ = ir.FunctionType(kind, (kind,) * len(args))
    function = builder.module.declare_intrinsic(f"llvm.{name}", (kind,), type_)
    return builder.call(function, args, fastmath=flags)


def _elementary(function: Callable[..., Any]) -> Build:
    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        m = _Instructions(builder, args[0].type)
        return function(m, *(_Value(m, arg) for arg in args)).value

    return build


def _of_float32(function: Callable[..., Any]) -> Build:
    """Of float64 it is libm's."""

    def build(builder: Any, type_: Any, args: list[Any]) -> Any:
        kind = args[0].type
        if isinstance(kind, ir.FloatType):
            return _elementary(function)(builder, type_, args)
        libm = ir.FunctionType(kind, (kind,) * len(args))
        name = function.__name__
        return builder.call(cgutils.get_or_insert_function(builder.module, libm, name), args)

    return build


def _fmod(builder: Any, type_: Any, args: list[Any]) -> Any:
    return (builder.frem if isinstance(type_, types.Float) else builder.srem)(*args)


def _converted(convert: Callable[[Any, Any], Any], source: Any, target: Any) -> Any:
    """A word that makes a half, or float32 of one; a half is a word of 16 bits."""

    def typed(typing: Any, a: Any) -> tuple | None:
        if a != source:
            return None
        return target(source), lambda context, builder, signature, args: convert(builder, *args)

    return intrinsic(typed)


@intrinsic
def _strip_of(typing: Any, a: Any) -> Any:
    """On the stack."""

    def build(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        kind = ir.ArrayType(args[0].type.pointee, STRIP)
        memory = cgutils.alloca_once(builder, kind)
        memory.align = 64
        return builder.bitcast(memory, args[0].type)

    return a(a), build


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


@njit(error_model="numpy")
def _check_index(index: Any, size: Any) -> None:
    if index < 0 or index >= size:
        raise IndexError("an index is out of range")


IN_KERNELS: dict[str, Any] = {
    "check_index": _check_index,
    "float32": np.float32,
    "float64": np.float64,
    "strip_of": _strip_of,
    **{
        name: _converted(convert, types.uint16, types.float32)
        for name, convert in halves.TO_FLOAT32.items()
    },
    **{
        name: _converted(convert, types.float32, types.uint16)
        for name, convert in halves.TO_HALF.items()
    },
    "int32": np.int32,
    "int64": np.int64,
    "inf": math.inf,
    "nan": math.nan,
    **{
        name: _word(1, _elementary(getattr(elementary, name)))
        for name in ("exp", "expm1", "sigmoid", "log", "log1p", "tanh")
    },
    "erf": _word(1, _of_float32(elementary.erf)),
    "sqrt": math.sqrt,
    "sin": _word(1, _of_float32(elementary_wide.sin)),
    "cos": _word(1, _of_float32(elementary_wide.cos)),
    "pow": _word(2, _of_float32(elementary_wide.pow)),
    **{
        name: getattr(math, name)
        for name in (
            "log2 log10 tan asin acos atan sinh cosh asinh acosh atanh atan2"
        ).split()
    },
    "exp2": _word(1, _intrinsic("exp2")),
    "floor": _word(1, _intrinsic("floor")),
    "ceil": _word(1, _intrinsic("ceil")),
    "trunc": _word(1, _intrinsic("trunc")),
    "round": _word(1, _intrinsic("rint")),
    "fmod": _word(2, _fmod),
    "integer_pow": _integer_pow,
    "relu": _word(1, _relu),
    "remainder": _word(2, _remainder),
    "maximum": _word(2, _choice(">=")),
    "minimum": _word(2, _choice("<=")),
    "radd": _word(2, _radd),
    "rmul": _word(2, _rmul),
    "rmax": _word(2, _extreme("maximum", ">=")),
    "rmin": _word(2, _extreme("minimum", "<=")),
}
