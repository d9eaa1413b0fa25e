"""Halves in a kernel: two bytes to float32 and back, in steps that become vectors on any processor.

In: an LLVM builder, and a half as the word of 16 bits that memory holds, or a float32.  Out: the
other.
Invariants: what fits exactly comes back with the same bits; else the nearest number, of two equally
near ones the even one, and infinity beyond the largest. A nan stays one.
float16: F. Giesen, "float->half variants" (2012): the exponent is moved in the integer's bits, and
numbers below the smallest normal one are lined up by an addition. bfloat16 is the upper half of a
float32. A processor with F16C has instructions for the former, which are four times as fast as
these steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ..runtime.loader import host

WORD, BITS, FLOAT = ir.IntType(16), ir.IntType(32), ir.FloatType()
# Bits of float32:
REBIAS = 112 << 23  # what the two types' exponents differ by
SMALLEST = 113 << 23  # 2 ** -14, float16's smallest normal number
BEYOND = 143 << 23  # 65536, which float16 has not
ALIGNED = 126 << 23  # 0.5: the last place of float16's small numbers is that of 0.5 in float32

Convert = Callable[[Any, Any], Any]


def _bits(value: int) -> Any:
    return ir.Constant(BITS, value)


def _number(bits: int) -> Any:
    return _bits(bits).bitcast(FLOAT)


def converts() -> bool:
    """Has the processor instructions for float16?"""
    return "+f16c" in host()[1].split(",")


def _as_it_is(builder: Any, value: Any) -> Any:
    """The value, of which LLVM does not know that it comes from a half, or becomes one: otherwise
    it computes in half, and a relu so loses the sign of -0.0. What it cannot see through is a 0
    from an empty piece of assembly at the kernel's start."""
    function = builder.function
    if not hasattr(function, "unknown_zero"):
        with builder.goto_entry_block():
            kind = ir.FunctionType(BITS, (BITS,))
            function.unknown_zero = builder.asm(kind, "", "=r,0", (_bits(0),), False)
    bits = builder.or_(builder.bitcast(value, BITS), function.unknown_zero)
    return builder.bitcast(bits, FLOAT)


def of_float16(builder: Any, half: Any) -> Any:
    if converts():
        wide = builder.fpext(builder.bitcast(half, ir.HalfType()), FLOAT)
        return _as_it_is(builder, wide)
    word = builder.zext(half, BITS)
    size = builder.shl(builder.and_(word, _bits(0x7FFF)), _bits(13))
    moved = builder.add(size, _bits(REBIAS))
    beyond = builder.add(moved, _bits(REBIAS))  # infinity and nan
    small = builder.bitcast(builder.add(size, _bits(SMALLEST)), FLOAT)
    small = builder.bitcast(builder.fsub(small, _number(SMALLEST)), BITS)
    found = builder.select(builder.icmp_unsigned(">=", size, _bits(0x7C00 << 13)), beyond, moved)
    found = builder.select(builder.icmp_unsigned("<", size, _bits(0x0400 << 13)), small, found)
    sign = builder.shl(builder.and_(word, _bits(0x8000)), _bits(16))
    return builder.bitcast(builder.or_(found, sign), FLOAT)


def float16(builder: Any, value: Any) -> Any:
    if converts():
        return builder.bitcast(builder.fptrunc(_as_it_is(builder, value), ir.HalfType()), WORD)
    bits = builder.bitcast(value, BITS)
    size = builder.and_(bits, _bits(0x7FFFFFFF))
    odd = builder.and_(builder.lshr(size, _bits(13)), _bits(1))
    moved = builder.add(builder.sub(size, _bits(REBIAS - 0xFFF)), odd)
    moved = builder.lshr(moved, _bits(13))
    small = builder.fadd(builder.bitcast(size, FLOAT), _number(ALIGNED))
    small = builder.sub(builder.bitcast(small, BITS), _bits(ALIGNED))
    is_nan = builder.fcmp_unordered("uno", value, value)
    beyond = builder.select(is_nan, _bits(0x7E00), _bits(0x7C00))
    found = builder.select(builder.icmp_unsigned(">=", size, _bits(BEYOND)), beyond, moved)
    found = builder.select(builder.icmp_unsigned("<", size, _bits(SMALLEST)), small, found)
    sign = builder.and_(builder.lshr(bits, _bits(16)), _bits(0x8000))
    return builder.trunc(builder.or_(found, sign), WORD)


def of_bfloat16(builder: Any, half: Any) -> Any:
    return builder.bitcast(builder.shl(builder.zext(half, BITS), _bits(16)), FLOAT)


def bfloat16(builder: Any, value: Any) -> Any:
    bits = builder.bitcast(value, BITS)
    upper = builder.lshr(bits, _bits(16))
    odd = builder.and_(upper, _bits(1))
    near = builder.lshr(builder.add(builder.add(bits, _bits(0x7FFF)), odd), _bits(16))
    is_nan = builder.fcmp_unordered("uno", value, value)
    return builder.trunc(builder.select(is_nan, builder.or_(upper, _bits(0x40)), near), WORD)


TO_FLOAT32: dict[str, Convert] = {"of_float16": of_float16, "of_bfloat16": of_bfloat16}
TO_HALF: dict[str, Convert] = {"float16": float16, "bfloat16": bfloat16}
