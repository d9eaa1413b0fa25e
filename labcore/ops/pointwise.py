"""Operators that compute each element of the result from one element of each operand.

In: arrays, Python numbers.  Out: an array in the operands' broadcast shape and common type.
Invariant: a row of a table says everything about an operator: its name, the function that computes it, the rule for the type it
computes in, the type of the result where that differs, and the types it refuses.
PyTorch vectorizes these in C++ (TensorIterator); numpy's ufuncs play that part here.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta
from . import formulas
from .arrays import arguments, empty, meta_of, ndarray, quiet
from .broadcast import broadcast_shapes, pointwise_strides
from .op import OPS, Op, naming, register
from .promote import check_number, float_type, result_type

Compute = Callable[..., Any]  # compute(*arrays, out=array): a ufunc, or a function that is called like one


@dataclass(frozen=True)
class Rule:
    """The type rule of a pointwise operator.

    common: the type it computes in, from its operands.  result: the type of the result, when not the same.
    refuses: (type, message) pairs: operands of that common type raise RuntimeError.
    """

    common: Callable[..., dtypes.dtype] = result_type
    result: dtypes.dtype | None = None
    refuses: dict[dtypes.dtype, str] = field(default_factory=dict)

    def types(self, *operands: Any) -> tuple[dtypes.dtype, dtypes.dtype]:
        """(computed in, result); raises RuntimeError for a refused type or a number that does not fit."""
        common = self.common(*operands)
        if common in self.refuses:
            raise RuntimeError(self.refuses[common])
        for operand in operands:
            if not isinstance(operand, TensorMeta):
                check_number(operand, common)
        return common, self.result or common

    def meta(self, *operands: Any) -> TensorMeta:
        tensors = [m for m in operands if isinstance(m, TensorMeta)]
        shape = broadcast_shapes(*[m.shape for m in tensors])
        return TensorMeta(shape, pointwise_strides(shape, tensors), self.types(*operands)[1])


def run(rule: Rule, meta: Callable, compute: Compute, operands: tuple) -> ndarray:
    """The general way: check by the meta rule, cast, compute into an array of the right layout."""
    metas = [meta_of(a) for a in operands]
    out = empty(meta(*metas))
    values = arguments(operands, rule.types(*metas)[0])
    with np.errstate(all="ignore"):
        compute(*values, out=out)
    return out


def unary(name: str, compute: Compute, rule: Rule = Rule()) -> Op:
    """Register an operator of one tensor, `input`."""
    def meta(input: TensorMeta) -> TensorMeta:
        return rule.meta(input)

    def kernel(input: ndarray) -> ndarray:
        if direct and input.dtype in direct and input.ndim and input.flags.c_contiguous:
            return quiet.run(compute, input)
        return run(rule, checked, compute, (input,))

    direct, checked = _direct(compute, rule, 1), naming(name, meta)
    return register(name, "pointwise", kernel, checked)


def binary(name: str, compute: Compute, rule: Rule = Rule(), second: str = "other") -> Op:
    """Register an operator of two operands, `input` and `other`; either may be a Python number."""
    def meta(input: Any, other: Any) -> TensorMeta:
        return rule.meta(input, other)

    def kernel(input: Any, other: Any) -> ndarray:
        if is_direct(input, other, direct):
            return quiet.run(compute, input, other)
        return run(rule, checked, compute, (input, other))

    if second == "exponent":
        def meta(input: Any, exponent: Any) -> TensorMeta:  # noqa: F811
            return rule.meta(input, exponent)

    direct, checked = _direct(compute, rule, 2), naming(name, meta)
    return register(name, "pointwise", kernel, checked)


def is_direct(input: Any, other: Any, types: frozenset) -> bool:
    """Can a ufunc take the operands as they are: contiguous, of one shape and one of these types? Nothing to check then."""
    if type(input) is not ndarray or input.dtype not in types or not input.flags.c_contiguous:
        return False
    shape = input.shape
    if type(other) is ndarray:
        return other.dtype is input.dtype and other.shape == shape and other.flags.c_contiguous and len(shape) > 0
    # A size of 1 may carry an odd stride, which the general rule takes into account.
    return type(other) is float and input.dtype.kind == "f" and len(shape) > 0 and 1 not in shape


def _direct(compute: Compute, rule: Rule, arity: int) -> frozenset:
    """The numpy types for which a bare ufunc call gives just what the rule says."""
    if not isinstance(compute, np.ufunc):
        return frozenset()
    found = []
    for type_ in dtypes.ALL:
        metas = [TensorMeta((1,), (1,), type_)] * arity
        numpys = (type_.numpy,) * arity + (None,)
        try:
            common, result = rule.types(*metas)
            resolved = compute.resolve_dtypes(numpys)
        except (RuntimeError, TypeError):
            continue  # refused by the rule, or unknown to the ufunc: the general way deals with it
        if common is type_ and resolved == (type_.numpy,) * arity + (result.numpy,):
            found.append(type_.numpy)
    return frozenset(found)


# ---- the table ----------------------------------------------------------------------------------

FLOATING = Rule(float_type)
TRUTH = Rule(result=dtypes.bool)
NO_BOOL_MINUS = Rule(refuses={dtypes.bool: (
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead.")})
NO_BOOL_NEGATIVE = Rule(refuses={dtypes.bool: (
    "Negation, the `-` operator, on a bool tensor is not supported. "
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")})
NO_BOOL_RELU = Rule(refuses={dtypes.bool: "Boolean inputs not supported for relu"})


def _scaled(name: str, ufunc: np.ufunc, rule: Rule) -> Op:
    """`add` and `sub`: the second operand is first multiplied by `alpha`."""
    def meta(input: Any, other: Any, alpha: Any = 1) -> TensorMeta:
        common = rule.types(input, other)[0]
        if isinstance(alpha, float) and not common.is_floating_point:
            raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
        return rule.meta(input, other)

    def kernel(input: Any, other: Any, alpha: Any = 1) -> ndarray:
        if alpha == 1:
            if is_direct(input, other, direct):
                return quiet.run(ufunc, input, other)
            return run(rule, checked, ufunc, (input, other))
        common = rule.types(*checked_operands(input, other, alpha))[0]
        scale = common.numpy.type(alpha)
        return run(rule, checked, lambda a, b, out: ufunc(a, np.multiply(b, scale), out=out), (input, other))

    def checked_operands(input: Any, other: Any, alpha: Any) -> tuple:
        metas = meta_of((input, other))
        checked(*metas, alpha)
        return metas

    direct, checked = _direct(ufunc, rule, 2), naming(name, meta)
    return register(name, "pointwise", kernel, checked)


_scaled("add", np.add, Rule())
_scaled("sub", np.subtract, NO_BOOL_MINUS)
binary("mul", np.multiply)
binary("div", np.divide, FLOATING)
binary("maximum", np.maximum)
binary("minimum", np.minimum)
for _name, _ufunc in dict(eq=np.equal, ne=np.not_equal, lt=np.less, le=np.less_equal, gt=np.greater,
                          ge=np.greater_equal, logical_and=np.logical_and, logical_or=np.logical_or,
                          logical_xor=np.logical_xor).items():
    binary(_name, _ufunc, TRUTH)

unary("logical_not", np.logical_not, TRUTH)
unary("neg", np.negative, NO_BOOL_NEGATIVE)
unary("relu", formulas.relu, NO_BOOL_RELU)
for _name, _ufunc in dict(exp=np.exp, log=np.log, sqrt=np.sqrt, sin=np.sin, cos=np.cos, tanh=np.tanh).items():
    unary(_name, _ufunc, FLOATING)


# ---- choices ------------------------------------------------------------------------------------

def _where_meta(condition: TensorMeta, input: Any, other: Any) -> TensorMeta:
    if condition.dtype is not dtypes.bool:
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           + condition.dtype.title)
    tensors = [m for m in (condition, input, other) if isinstance(m, TensorMeta)]
    shape = broadcast_shapes(*[m.shape for m in tensors])
    return TensorMeta(shape, pointwise_strides(shape, tensors), Rule().types(input, other)[0])


def _where_kernel(condition: ndarray, input: Any, other: Any) -> ndarray:
    out = empty(_where(*meta_of((condition, input, other))))
    np.copyto(out, other, casting="unsafe")
    np.copyto(out, input, casting="unsafe", where=condition)
    return out


_where = naming("where", _where_meta)
register("where", "pointwise", _where_kernel, _where)
