"""How each primitive of the loop IR is written in a CPU kernel, by the kind of number it works on.

In: a primitive's name, the spellings of its arguments, their dtype.  Out: an expression of the
words in `kernel_math.py`.
Invariant: a value has the dtype that the loop IR says, after every statement: int32 arithmetic is
cut back to 32 bits (numba and C compute it in 64), constants are typed (a bare 0.5 would make
float64 of everything it meets), and bools stay bools.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..fusion.primitives import PRIMITIVES

# {0} {1} {2} are arguments, {T} is the dtype's name. What is not here is written as the loop IR's
# own table says.
FLOAT = {
    "rsqrt": "{T}(1.0) / sqrt({0})",
    "pow": "pow({0}, {1})",
    "remainder": "remainder({0}, {1})",
}
INTEGER = {
    # The processor traps on the one quotient that does not fit, the smallest integer by -1;
    # negation wraps round instead.
    "floor_divide": "-{0} if {1} == {T}(-1) else {0} // {1}",
    "pow": "integer_pow({0}, {1})",
}
BOOL = {
    "bitwise_not": "not {0}",
    "lt": "{1} & (not {0})",
    "le": "{1} | (not {0})",
    "gt": "{0} & (not {1})",
    "ge": "{0} | (not {1})",
    "eq": "not ({0} ^ {1})",
    "ne": "{0} ^ {1}",
}
# How a reduction takes one more value in: (accumulator, value). The words may be reordered by the
# compiler, for vectors.
COMBINE = {
    "sum": "radd({0}, {1})",
    "prod": "rmul({0}, {1})",
    "amax": "rmax({0}, {1})",
    "amin": "rmin({0}, {1})",
}
PLAIN = {"sum": "{0} + {1}", "prod": "{0} * {1}", "amax": "maximum({0}, {1})",
         "amin": "minimum({0}, {1})"}  # one value after the other
COMBINE_BOOLS = {**COMBINE, "amax": "{0} | {1}", "amin": "{0} & {1}"}


def combine(
    kind: str, total: str, value: str, dtype: dtypes.dtype, in_order: bool = False
) -> str:
    """A reduction takes one more value of its own type in; `in_order`: in that order, and no other.
    """
    table = COMBINE_BOOLS if dtype is dtypes.bool else PLAIN if in_order else COMBINE
    return table[kind].format(total, value)


def spell(name: str, args: Sequence[str], dtype: dtypes.dtype) -> str:
    """A primitive of arguments of type `dtype`."""
    table = FLOAT if dtype.is_floating_point else BOOL if dtype is dtypes.bool else INTEGER
    primitive = PRIMITIVES[name]
    text = table.get(name, primitive.text).format(*args, T=dtype.name)
    return (
        f"int32({text})"
        if dtype is dtypes.int32 and primitive.result == "same" and name != "where"
        else text
    )


def constant(value: Any, dtype: dtypes.dtype) -> str:
    """A literal that has its type on it."""
    if dtype is dtypes.bool:
        return str(bool(value))
    if dtype.is_half:
        return f"{dtype.name}(float32({value!r}))"
    return f"{dtype.name}({value!r})"  # inf and nan are words of the kernel, too


def cast(value: str, source: dtypes.dtype, target: dtypes.dtype) -> str:
    """A value in another type; a half becomes float32, and nothing else does a half."""
    if source.is_half:
        return f"of_{source.name}({value})"
    if target is not dtypes.bool:
        return f"{target.name}({value})"
    return f"{value} != {constant(0.0 if source.is_floating_point else 0, source)}"
