"""Which element type comes out when several go in.

In: tensors' metas and Python numbers.  Out: one dtype.
Invariant: bool < int < float are categories; within the winning category the widest type of the
strongest kind of operand counts, where a tensor with dimensions is stronger than a 0-d tensor, and
that is stronger than a Python number.
So `int32[3] + 2` stays int32 and `float32[3] * float64[]` stays float32. float16 and
bfloat16 stand on one rung: together they are float32. PyTorch adds complex and uint8 to the ladder.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from .. import dtypes
from ..dtypes import dtype
from ..graph import TensorMeta
from ..shapes import FLOATS, INTS

_LADDER = (dtypes.bool, dtypes.int32, dtypes.int64, *dtypes.HALVES, dtypes.float32, dtypes.float64)
_RANK = {t: rank for rank, t in enumerate(_LADDER)}
_C_NAME = {
    dtypes.int32: "int",
    dtypes.int64: "int64_t",
    dtypes.float16: "c10::Half",
    dtypes.bfloat16: "c10::BFloat16",
    dtypes.float32: "float",
}
LARGEST = {
    dtypes.float16: 65504.0,
    dtypes.bfloat16: 3.3895313892515355e38,
    dtypes.float32: 3.4028234663852886e38,
    dtypes.float64: 1.7976931348623157e308,
}


def number_dtype(value: Any) -> dtype:
    """The type a Python number would have as a tensor."""
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, INTS):
        return dtypes.int64
    if isinstance(value, FLOATS):
        return dtypes.default
    raise TypeError(f"expected a tensor or a number, but got {type(value).__name__}")


def wider(first: dtype | None, second: dtype | None) -> dtype | None:
    """The higher of two types on the ladder; None is "no operand of that kind"."""
    if first is None or second is None:
        return first or second
    if first is not second and first.is_half and second.is_half:
        return dtypes.float32
    return first if _RANK[first] >= _RANK[second] else second


def result_type(*operands: Any) -> dtype:
    """The common type of tensors' metas and Python numbers, by PyTorch's rules."""
    with_dims = zero_dims = numbers = None
    for operand in operands:
        if isinstance(operand, TensorMeta):
            if operand.shape:
                with_dims = wider(with_dims, operand.dtype)
            else:
                zero_dims = wider(zero_dims, operand.dtype)
        else:
            numbers = wider(numbers, number_dtype(operand))
    found = _stronger(with_dims, _stronger(zero_dims, numbers))
    assert found is not None, "no operands"
    return found


def _stronger(strong: dtype | None, weak: dtype | None) -> dtype | None:
    """The strong operand's type, unless the weak one is of a higher category."""
    if strong is None or weak is None:
        return strong or weak
    return strong if category(strong) >= category(weak) else weak


def category(type_: dtype) -> int:
    """0 for bool, 1 for integers, 2 for floats."""
    return 2 if type_.is_floating_point else 0 if type_ is dtypes.bool else 1


def float_type(*operands: Any) -> dtype:
    """The common type, or the default float type where that is no float: `div`, `exp` ..."""
    found = result_type(*operands)
    return found if found.is_floating_point else dtypes.default


def can_cast(source: dtype, target: dtype) -> bool:
    """May an in-place operator write `source` into `target`? Not down a category."""
    return category(source) <= category(target)


def check_number(value: Any) -> None:
    """Raise OverflowError for a Python integer that no tensor can hold."""
    if isinstance(value, INTS) and not -(2**63) <= value < 2**63:
        raise OverflowError("int too big to convert")


def check_fits(value: Any, type_: dtype) -> None:
    """Raise RuntimeError when a tensor of this type cannot be filled with a Python number."""
    check_number(value)
    if type_ is dtypes.bool or type_ is dtypes.float64:
        return
    if type_.is_floating_point:
        fits = abs(value) <= LARGEST[type_] or not isfinite(value)
    else:
        limit = 2 ** (8 * type_.itemsize - 1)
        fits = -limit <= value < limit
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {_C_NAME[type_]} without overflow")
