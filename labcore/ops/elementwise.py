"""What all pointwise operators have in common: how a row of their table becomes kernel and meta
rule.

In: a function on numpy arrays and a `Rule` for types.  Out: a registered operator.
Invariant: kernels check their operands by the meta rule, except on the direct way, where there is
nothing that could be wrong.
PyTorch vectorizes these in C++ (TensorIterator); numpy's ufuncs play that part here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from .arrays import arguments, empty, meta_of, ndarray, quiet
from .broadcast import NUMBER, broadcast_shapes, dense_strides, pointwise_strides
from .op import Op, naming, register
from .promote import check_number, result_type

Compute = Callable[
    ..., Any
]  # compute(*arrays, out=None): a ufunc, or a function that is called like one
Check = Callable[[dtypes.dtype, tuple], None]


@dataclass(frozen=True)
class Rule:
    """The type rule of a pointwise operator.

    common: the type it computes in, from its operands.  result: the type of the result, when not
    the same.
    check: gets common type and operands, and raises for what the operator refuses.
    exact_numbers: a number beside halves is not rounded to their type.
    """

    common: Callable[..., dtypes.dtype] = result_type
    result: dtypes.dtype | None = None
    check: Check | None = None
    exact_numbers: bool = False

    def types(self, *operands: Any) -> tuple[dtypes.dtype, dtypes.dtype]:
        """(computed in, result); raises for a refused type or a number that no tensor holds."""
        for operand in operands:
            if not isinstance(operand, TensorMeta):
                check_number(operand)
        common = self.common(*operands)
        if self.check is not None:
            self.check(common, operands)
        return common, self.result or common

    def meta(self, *operands: Any) -> TensorMeta:
        broadcast_shapes(
            *[m.shape for m in operands if isinstance(m, TensorMeta)]
        )  # its error comes first
        common, type_ = self.types(*operands)
        shape, stride = result_layout(operands, common)
        return TensorMeta(shape, stride, type_)


def result_layout(operands: tuple, common: dtypes.dtype) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides of a pointwise result of tensors and numbers.

    An operand of another type counts as its converted copy, which has no gaps.
    """
    metas = [m if isinstance(m, TensorMeta) else NUMBER for m in operands]
    metas = [m if m.dtype is common else replace(m, stride=dense_strides(m)) for m in metas]
    shape = broadcast_shapes(*[m.shape for m in metas])
    return shape, pointwise_strides(shape, metas)


def run(rule: Rule, out: TensorMeta, compute: Compute, operands: tuple) -> ndarray:
    """Cast the operands and compute into an array of the layout that the meta rule found."""
    result, common = empty(out), rule.types(*meta_of(operands))[0]
    with np.errstate(all="ignore"):
        given = arguments(operands, common, rule.exact_numbers)
        if out.dtype.is_half:
            wide = np.empty_like(result, np.float32)
            compute(*given, out=wide)
            result[...] = wide
        else:
            compute(*given, out=result)
    return result


def unary(name: str, compute: Compute, rule: Rule = Rule(), direct: frozenset | None = None) -> Op:
    """Register an operator of one tensor, `input`."""

    def meta(input: TensorMeta) -> TensorMeta:
        return rule.meta(input)

    def kernel(input: ndarray) -> ndarray:
        if input.dtype in types and is_simple(input):
            return quiet.run(compute, input)
        return run(rule, checked(meta_of(input)), compute, (input,))

    types = find_direct(compute, rule, 1) if direct is None else direct
    checked = naming(name, meta)
    return register(name, "pointwise", kernel, checked, ufunc=compute, direct=types)


def binary(name: str, compute: Compute, rule: Rule = Rule(), direct: frozenset | None = None) -> Op:
    """Register an operator of two operands, `input` and `other`; either may be a Python number."""

    def meta(input: Any, other: Any) -> TensorMeta:
        return rule.meta(input, other)

    def kernel(input: Any, other: Any) -> ndarray:
        if is_direct(input, other, types):
            return quiet.run(compute, input, other)
        return run(rule, checked(*meta_of((input, other))), compute, (input, other))

    types = find_direct(compute, rule, 2) if direct is None else direct
    checked = naming(name, meta)
    return register(name, "pointwise", kernel, checked, ufunc=compute, direct=types)


def is_simple(array: ndarray) -> bool:
    """Has it dimensions, elements, and no gaps? Then numpy lays its own results out rightly."""
    return array.ndim > 0 and array.flags.c_contiguous and array.size > 0


def is_direct(input: Any, other: Any, types: frozenset) -> bool:
    """Can a ufunc take the operands as they are, with nothing to check?

    Both contiguous and of one of these types, and `other` of the same shape, or of the last part of
    it, or a number.
    """
    if type(input) is not ndarray or input.dtype not in types or not is_simple(input):
        return False
    shape = input.shape
    if type(other) is ndarray:
        if other.dtype is not input.dtype or not other.flags.c_contiguous:
            return False
        if other.shape == shape:
            return True
        # A size of 1 may carry an odd stride, which the general rule takes into account.
        return (
            1 not in shape and 0 < other.ndim < len(shape) and other.shape == shape[-other.ndim :]
        )
    if 1 in shape:
        return False
    if type(other) is int:  # small enough for every type; a bool tensor would become an integer
        return input.dtype.kind != "b" and -_SMALL <= other <= _SMALL
    return type(other) is float and input.dtype.kind == "f"


_SMALL = 2**24


def find_direct(compute: Compute, rule: Rule, arity: int) -> frozenset:
    """The numpy types for which a bare ufunc call gives just what the rule says."""
    if not isinstance(compute, np.ufunc):
        return frozenset()
    found = []
    for type_ in dtypes.WHOLE:
        operands = (type_.numpy,) * arity
        try:
            common, result = rule.types(*[TensorMeta((1,), (1,), type_)] * arity)
            resolved = compute.resolve_dtypes((*operands, None))
        except (RuntimeError, TypeError):
            continue  # refused by the rule, or unknown to the ufunc: the general way deals with it
        if common is type_ and resolved == (*operands, result.numpy):
            found.append(type_.numpy)
    return frozenset(found)
