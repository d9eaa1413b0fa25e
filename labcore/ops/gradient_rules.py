"""The rules of differentiation, in the order of the operators' own tables.

In: nothing; importing it fills `Op.derivatives`.  How a rule is written and read: see
`derivatives.py`.
"""

from __future__ import annotations

from math import inf, log, nan, pi, prod, sqrt
from typing import Any

from ..graph import TensorMeta
from ..shapes import number_like
from . import composites, inplace, joining, linear, places, views  # noqa: F401  whose rules these are
from .derivatives import derivative, meta_of
from .op import Table
from .reductions import reduced_axes

ops = Table()

# ---- pointwise ----------------------------------------------------------------------------------

derivative(
    "add",
    input=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else ops.mul(grad, alpha),
)
derivative(
    "sub",
    input=lambda grad: grad,
    other=lambda grad, alpha: ops.neg(grad) if alpha == 1 else ops.mul(grad, -alpha),
)
derivative(
    "mul",
    input=lambda grad, other: ops.mul(grad, other),
    other=lambda grad, input: ops.mul(grad, input),
)
derivative(
    "div",
    input=lambda grad, other: ops.div(grad, other),
    other=lambda grad, input, other: ops.mul(ops.neg(grad), ops.div(ops.div(input, other), other)),
)
derivative(
    "remainder",
    input=lambda grad: grad,
    other=lambda grad, input, other: ops.mul(ops.neg(grad), ops.floor_divide(input, other)),
)
derivative("neg", input=lambda grad: ops.neg(grad))
derivative("relu", input=lambda grad, out: ops.where(ops.le(out, 0), 0.0, grad))
derivative("exp", input=lambda grad, out: ops.mul(grad, out))
derivative("log", input=lambda grad, input: ops.div(grad, input))
derivative("abs", input=lambda grad, input: ops.mul(grad, ops.sign(input)))
derivative("sign", input=lambda grad: ops.zeros_like(grad))
derivative("square", input=lambda grad, input: ops.mul(grad, ops.mul(input, 2)))
derivative("reciprocal", input=lambda grad, out: ops.mul(ops.neg(grad), ops.mul(out, out)))
derivative("rsqrt", input=lambda grad, out: ops.mul(ops.mul(grad, -0.5), ops.pow(out, 3)))
derivative("sigmoid", input=lambda grad, out: ops.mul(grad, ops.mul(ops.sub(1, out), out)))
derivative(
    "erf",
    input=lambda grad, input: ops.mul(
        grad, ops.mul(ops.exp(ops.neg(ops.square(input))), 2 / sqrt(pi))
    ),
)
derivative("sqrt", input=lambda grad, out: ops.div(grad, ops.mul(out, 2)))
derivative("sin", input=lambda grad, input: ops.mul(grad, ops.cos(input)))
derivative("cos", input=lambda grad, input: ops.mul(grad, ops.neg(ops.sin(input))))
for _name in ("floor", "ceil", "trunc", "_round"):
    derivative(_name, input=lambda grad: ops.zeros_like(grad))
derivative("exp2", input=lambda grad, out: ops.mul(grad, ops.mul(out, log(2))))
derivative("expm1", input=lambda grad, out: ops.mul(grad, ops.add(out, 1)))
derivative("log1p", input=lambda grad, input: ops.div(grad, ops.add(input, 1)))
derivative("log2", input=lambda grad, input: ops.div(grad, ops.mul(input, log(2))))
derivative("log10", input=lambda grad, input: ops.div(grad, ops.mul(input, log(10))))
derivative("tan", input=lambda grad, out: ops.mul(grad, ops.add(ops.mul(out, out), 1)))
derivative("sinh", input=lambda grad, input: ops.mul(grad, ops.cosh(input)))
derivative("cosh", input=lambda grad, input: ops.mul(grad, ops.sinh(input)))


def _root(sign: int, offset: int) -> Any:
    """grad / sqrt(offset + sign * input squared)."""
    return lambda grad, input: ops.mul(
        grad, ops.rsqrt(ops.add(ops.mul(ops.mul(input, input), sign), offset))
    )


derivative("asin", input=_root(-1, 1))
derivative("acos", input=lambda grad, input: ops.neg(_root(-1, 1)(grad, input)))
derivative("asinh", input=_root(1, 1))
derivative("acosh", input=_root(1, -1))
derivative("atan", input=lambda grad, input: ops.div(grad, ops.add(ops.mul(input, input), 1)))
derivative("atanh", input=lambda grad, input: ops.div(grad, ops.sub(1, ops.mul(input, input))))


def _circle(grad: Any, input: Any, other: Any) -> Any:
    """grad / (input² + other²); 0 where both are."""
    square = ops.add(ops.mul(input, input), ops.mul(other, other))
    return ops.where(ops.eq(square, 0), 0.0, ops.div(grad, square))


derivative(
    "atan2",
    input=lambda grad, input, other: ops.mul(_circle(grad, input, other), other),
    other=lambda grad, input, other: ops.mul(_circle(grad, input, other), ops.neg(input)),
)
derivative(
    "fmod",
    input=lambda grad: grad,
    other=lambda grad, input, other: ops.mul(ops.neg(grad), ops.trunc(ops.div(input, other))),
)
derivative("tanh", input=lambda grad, out: ops.mul(grad, ops.sub(1, ops.mul(out, out))))


def _winner(grad: Any, ours: Any, theirs: Any, loses: Any) -> Any:
    """The gradient of one side of `maximum` or `minimum`: all when it won, half in a tie."""
    shared = ops.where(ops.eq(ours, theirs), ops.div(grad, 2), grad)
    return ops.where(loses(ours, theirs), 0.0, shared)


derivative(
    "maximum",
    input=lambda grad, input, other: _winner(grad, input, other, ops.lt),
    other=lambda grad, input, other: _winner(grad, other, input, ops.lt),
)
derivative(
    "minimum",
    input=lambda grad, input, other: _winner(grad, input, other, ops.gt),
    other=lambda grad, input, other: _winner(grad, other, input, ops.gt),
)


def _pow_input(grad: Any, input: Any, exponent: Any) -> Any:
    """exponent * input ** (exponent - 1), and 0 for an exponent of 0, whatever the base."""
    if number_like(exponent):
        if exponent == 0:
            return ops.zeros_like(grad)
        return ops.mul(grad, ops.mul(ops.pow(input, exponent - 1), exponent))
    less = ops.add(exponent, -1)  # not sub, which refuses a mask
    slope = ops.mul(grad, ops.mul(exponent, ops.pow(input, less)))
    return ops.where(ops.eq(exponent, 0), 0.0, slope)


def _pow_exponent(grad: Any, input: Any, exponent: Any, out: Any) -> Any:
    """out * log(input), and 0 for a base of 0 unless that power is infinite."""
    if number_like(input):
        slope = ops.mul(out, log(input) if input > 0 else -inf if input == 0 else nan)
        return ops.mul(grad, slope if input else ops.where(ops.ge(exponent, 0), 0.0, slope))
    flat = ops.logical_and(ops.eq(input, 0), ops.ge(exponent, 0))
    return ops.mul(grad, ops.where(flat, 0.0, ops.mul(out, ops.log(input))))


def _inside(input: Any, min: Any, max: Any) -> Any:
    """Where `clamp` leaves its input alone; the bounds belong to it."""
    if max is None:
        return ops.ge(input, min)
    if min is None:
        return ops.le(input, max)
    return ops.logical_and(ops.ge(input, min), ops.le(input, max))


def _clamp_min(grad: Any, input: Any, min: Any, max: Any) -> Any:
    """Below the lower bound, unless the upper one has the last word."""
    below = ops.lt(input, min)
    return ops.where(below if max is None else ops.logical_and(below, ops.lt(min, max)), grad, 0.0)


def _clamp_max(grad: Any, input: Any, min: Any, max: Any) -> Any:
    above = ops.gt(input, max)
    return ops.where(above if min is None else ops.logical_or(above, ops.lt(max, min)), grad, 0.0)


derivative("pow", input=_pow_input, exponent=_pow_exponent)
derivative(
    "clamp",
    input=lambda grad, input, min, max: ops.where(_inside(input, min, max), grad, 0.0),
    min=_clamp_min,
    max=_clamp_max,
)
derivative(
    "where",
    input=lambda grad, condition: ops.where(condition, grad, 0.0),
    other=lambda grad, condition: ops.where(condition, 0.0, grad),
)
derivative("clone", input=lambda grad: grad)
derivative("_to_copy", input=lambda grad: grad)
derivative("to", input=lambda grad: grad)
derivative(
    "_to_device", input=lambda grad, input_meta: ops._to_device(grad, str(input_meta.device))
)
derivative("contiguous", input=lambda grad: grad)
derivative("_with_history", input=lambda grad: grad)
derivative("copy", input=lambda grad: ops.zeros_like(grad), src=lambda grad: grad)

# ---- reductions ---------------------------------------------------------------------------------


def _spread(grad: Any, meta: Any, dim: Any, keepdim: bool) -> Any:
    """Repeat the gradient of a reduction's result along the axes that were folded."""
    if not keepdim and dim is not None:
        for axis in reduced_axes(dim, meta.ndim):
            grad = ops.unsqueeze(grad, axis)
    return ops.expand(grad, meta.shape)


def _mean(grad: Any, input_meta: Any, out_meta: Any, dim: Any, keepdim: bool) -> Any:
    return ops.div(
        _spread(grad, input_meta, dim, keepdim), input_meta.numel // max(out_meta.numel, 1)
    )


derivative(
    "sum", input=lambda grad, input_meta, dim, keepdim: _spread(grad, input_meta, dim, keepdim)
)
derivative("mean", input=_mean)


def _extreme(grad: Any, input: Any, out: Any, input_meta: Any, dim: Any, keepdim: bool) -> Any:
    """Shared evenly among all that are largest (or smallest)."""
    axes = reduced_axes(dim, input_meta.ndim)
    if not keepdim:
        for axis in axes:
            grad, out = ops.unsqueeze(grad, axis), ops.unsqueeze(out, axis)
    ties = ops.eq(out, input)
    return ops.div(ops.mul(grad, ties), ops.sum(ties, axes, True))


derivative("amax", input=_extreme)
derivative("amin", input=_extreme)

# ---- views --------------------------------------------------------------------------------------

derivative("view", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("_reshape_copy", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("reshape", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("flatten", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("squeeze", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("unsqueeze", input=lambda grad, dim: ops.squeeze(grad, dim))
derivative("t", input=lambda grad: ops.t(grad))
derivative("transpose", input=lambda grad, dim0, dim1: ops.transpose(grad, dim0, dim1))
derivative("permute", input=lambda grad, dims: ops.permute(grad, _inverse(dims)))
derivative("expand", input=lambda grad: grad)
derivative(
    "select",
    input=lambda grad, input_meta, dim, index: ops.select_scatter(
        ops.zeros(input_meta.shape, input_meta.dtype), grad, dim, index
    ),
)
derivative(
    "slice",
    input=lambda grad, input_meta, dim, start, end, step: ops.slice_scatter(
        ops.zeros(input_meta.shape, input_meta.dtype), grad, dim, start, end, step
    ),
)


def _inverse(dims: Any) -> tuple[int, ...]:
    axes = [d % len(dims) for d in dims]
    return tuple(axes.index(axis) for axis in range(len(axes)))


# ---- joining ------------------------------------------------------------------------------------


def _cat(grad: Any, tensors_meta: Any, dim: int) -> list[Any]:
    """Cut the gradient where the tensors met; an empty 1-D tensor takes no part."""
    found, start = [], 0
    for meta in tensors_meta:
        if meta.shape == (0,):
            found.append(ops.zeros((0,), meta.dtype))
            continue
        found.append(ops.slice(grad, dim, start, start + meta.shape[dim]))
        start += meta.shape[dim]
    return found


derivative("cat", tensors=_cat)
derivative(
    "stack",
    tensors=lambda grad, tensors_meta, dim: [
        ops.select(grad, dim, index) for index in range(len(tensors_meta))
    ],
)
derivative(
    "select_scatter",
    input=lambda grad, src_meta, dim, index: ops.select_scatter(
        grad, ops.zeros(src_meta.shape, src_meta.dtype), dim, index
    ),
    src=lambda grad, dim, index: ops.select(grad, dim, index),
)
derivative(
    "slice_scatter",
    input=lambda grad, src_meta, dim, start, end, step: ops.slice_scatter(
        grad, ops.zeros(src_meta.shape, src_meta.dtype), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: ops.slice(grad, dim, start, end, step),
)

# ---- matmul -------------------------------------------------------------------------------------


def _by_columns(meta: TensorMeta) -> bool:
    """Does a matrix lie column by column? Its gradient is to lie so too, or it would be copied into
    that order: a layer's weight comes transposed. PyTorch does the same."""
    return meta.ndim == 2 and meta.stride[0] == 1 and meta.stride[1] == meta.shape[0]


def _transposed(tensor: Any) -> Any:
    return ops.transpose(tensor, -2, -1)


def _matmul_input(grad: Any, other: Any, input_meta: Any, other_meta: Any) -> Any:
    """grad @ other^T, with a vector made a row or a column for the while."""
    if other_meta.ndim == 1:
        return ops.mul(ops.unsqueeze(grad, -1), other)
    if input_meta.ndim == 1:
        grad = ops.unsqueeze(grad, -2)
    if _by_columns(input_meta):
        return _transposed(ops.matmul(other, _transposed(grad)))
    found = ops.matmul(grad, _transposed(other))
    return ops.squeeze(found, -2) if input_meta.ndim == 1 else found


def _rows(tensor: Any) -> Any:
    """A batch of matrices as one, of all their rows."""
    shape = meta_of(tensor).shape
    return ops.reshape(tensor, (prod(shape[:-1]), shape[-1]))


def _matmul_other(grad: Any, input: Any, input_meta: Any, other_meta: Any) -> Any:
    """input^T @ grad, with a vector made a row or a column for the while."""
    if input_meta.ndim == 1:
        if other_meta.ndim == 1:
            return ops.mul(grad, input)
        return ops.mul(ops.unsqueeze(grad, -2), ops.unsqueeze(input, -1))
    if other_meta.ndim == 1:
        grad = ops.unsqueeze(grad, -1)
    if other_meta.ndim <= 2 and input_meta.ndim > 2:  # of a batch all rows at once
        input, grad = _rows(input), _rows(grad)
    if _by_columns(other_meta):
        return _transposed(ops.matmul(_transposed(grad), input))
    found = ops.matmul(_transposed(input), grad)
    return ops.squeeze(found, -1) if other_meta.ndim == 1 else found


derivative("matmul", input=_matmul_input, other=_matmul_other)
