"""What becomes of float16 and bfloat16 in loops: they are loaded, stored and chosen; what computes,
computes in float32, and is rounded where an operator ends, as in eager mode.

In: values in loop bodies, and their types.  Out: the same, converted.
Invariant: the only conversions to and from a half are those between it and float32; `Dtypes` raises
for a body in which a half is computed with.
Inductor rounds only what is stored: between the operators of one kernel it keeps float32.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import dtypes
from ..graph import TensorMeta
from ..ops import Op
from ..shapes import SymNumber
from .cells import rounded
from .ir import ops
from .values import Value

# Of the operators with rules of their own, those that compute; the others only move values.
COMPUTING = frozenset(
    "sum prod mean amax amin any all argmax argmin cumsum cumprod _cumsum_back scatter_add "
    "index_add _index_put _fold_windows".split()
)


def converted(value: Any, source: dtypes.dtype, target: dtypes.dtype) -> Any:
    """A body's value in another type."""
    if source is target:
        return value
    if source.is_half or target.is_half:
        if source is not dtypes.float32:
            value = ops.to_dtype(value, dtypes.float32)
        return value if target is dtypes.float32 else ops.to_dtype(value, target)
    return ops.to_dtype(value, target)


def constant(number: Any, dtype: dtypes.dtype) -> Any:
    """A number in float32, rounded to a half."""
    if isinstance(number, SymNumber):
        wide = ops.constant(number, dtypes.float32)
        return converted(converted(wide, dtypes.float32, dtype), dtype, dtypes.float32)
    near = rounded(rounded(number, dtypes.float32), dtype)
    return ops.constant(near, dtypes.float32)


def widened(value: Any, source: TensorMeta, dtype: dtypes.dtype, exact: bool) -> Any:
    """An operand of an operator whose common type is the half `dtype`, in float32. One of another
    type is rounded to the half; not if it is `exact` and has no dimensions."""
    if source.dtype is not dtype and not (exact and not source.shape):
        value = converted(value, source.dtype, dtype)
        return converted(value, dtype, dtypes.float32)
    return converted(value, source.dtype, dtypes.float32)


def same(value: Any) -> Any:
    return value


def cast_of(
    operand: Any, dtype: dtypes.dtype, inside: dtypes.dtype, exact: bool = False
) -> Callable[[Any], Any]:
    """What turns an operand's value into `dtype`, and that into what is computed in; a missing
    operand stays missing."""
    if operand is None:
        return same
    if not isinstance(operand, Value):
        if inside is dtype or exact:
            return lambda number: ops.constant(number, inside)
        return lambda number: constant(number, dtype)
    if inside is not dtype:
        return lambda value: widened(value, operand.meta, dtype, exact)
    if operand.meta.dtype is dtype:
        return same
    return lambda value: converted(value, operand.meta.dtype, dtype)


def computes_with(op: Op, params: Mapping[str, Any]) -> bool:
    """Does the operator, one with a rule of its own, compute with halves, or make them?"""
    return op.name in COMPUTING and any(map(is_half, params.values()))


def is_half(value: Any) -> bool:
    """A tensor of halves, or a half as the type that is asked for."""
    dtype = value.meta.dtype if isinstance(value, Value) else value
    return isinstance(dtype, dtypes.dtype) and dtype.is_half
