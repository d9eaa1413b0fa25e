"""The rules of differentiation, in the order of the operators' own tables.

In: nothing; importing it fills `Op.derivatives`.  How a rule is written and read: see `derivatives.py`.
"""
from __future__ import annotations

from typing import Any

from .. import ops
from .derivatives import derivative
from .reductions import reduced_axes

# ---- pointwise ----------------------------------------------------------------------------------

derivative("add", input=lambda grad: grad,
           other=lambda grad, alpha: grad if alpha == 1 else ops.mul(grad, alpha))
derivative("sub", input=lambda grad: grad,
           other=lambda grad, alpha: ops.neg(grad) if alpha == 1 else ops.mul(grad, -alpha))
derivative("mul", input=lambda grad, other: ops.mul(grad, other),
           other=lambda grad, input: ops.mul(grad, input))
derivative("div", input=lambda grad, other: ops.div(grad, other),
           other=lambda grad, input, other: ops.mul(ops.neg(grad), ops.div(ops.div(input, other), other)))
derivative("neg", input=lambda grad: ops.neg(grad))
derivative("relu", input=lambda grad, out: ops.where(ops.gt(out, 0), grad, 0.0))
derivative("exp", input=lambda grad, out: ops.mul(grad, out))
derivative("log", input=lambda grad, input: ops.div(grad, input))
derivative("sqrt", input=lambda grad, out: ops.div(grad, ops.mul(out, 2)))
derivative("sin", input=lambda grad, input: ops.mul(grad, ops.cos(input)))
derivative("cos", input=lambda grad, input: ops.mul(grad, ops.neg(ops.sin(input))))
derivative("tanh", input=lambda grad, out: ops.mul(grad, ops.sub(1, ops.mul(out, out))))


def _winner(grad: Any, ours: Any, theirs: Any, loses: Any) -> Any:
    """The gradient of one side of `maximum` or `minimum`: all of it when it won, half of it in a tie."""
    shared = ops.where(ops.eq(ours, theirs), ops.div(grad, 2), grad)
    return ops.where(loses(ours, theirs), 0.0, shared)


derivative("maximum", input=lambda grad, input, other: _winner(grad, input, other, ops.lt),
           other=lambda grad, input, other: _winner(grad, other, input, ops.lt))
derivative("minimum", input=lambda grad, input, other: _winner(grad, input, other, ops.gt),
           other=lambda grad, input, other: _winner(grad, other, input, ops.gt))
derivative("where", input=lambda grad, condition: ops.where(condition, grad, 0.0),
           other=lambda grad, condition: ops.where(condition, 0.0, grad))
derivative("clone", input=lambda grad: grad)
derivative("_to_copy", input=lambda grad: grad)
derivative("to", input=lambda grad: grad)
derivative("contiguous", input=lambda grad: grad)

# ---- reductions ---------------------------------------------------------------------------------


def _spread(grad: Any, meta: Any, dim: Any, keepdim: bool) -> Any:
    """Repeat the gradient of a reduction's result along the axes that were folded."""
    if not keepdim:
        for axis in reduced_axes(dim, meta.ndim):
            grad = ops.unsqueeze(grad, axis)
    return ops.expand(grad, meta.shape)


def _mean(grad: Any, input_meta: Any, out_meta: Any, dim: Any, keepdim: bool) -> Any:
    return ops.div(_spread(grad, input_meta, dim, keepdim), input_meta.numel // max(out_meta.numel, 1))


derivative("sum", input=lambda grad, input_meta, dim, keepdim: _spread(grad, input_meta, dim, keepdim))
derivative("mean", input=_mean)

# ---- views --------------------------------------------------------------------------------------

derivative("view", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("reshape", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("flatten", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("squeeze", input=lambda grad, input_meta: ops.reshape(grad, input_meta.shape))
derivative("unsqueeze", input=lambda grad, dim, out_meta: ops.squeeze(grad, dim))
derivative("t", input=lambda grad: ops.t(grad))
derivative("transpose", input=lambda grad, dim0, dim1: ops.transpose(grad, dim0, dim1))
derivative("permute", input=lambda grad, dims: ops.permute(grad, _inverse(dims)))
derivative("expand", input=lambda grad: grad)
derivative("select", input=lambda grad, input_meta, dim, index: ops.select_scatter(
    ops.zeros(input_meta.shape, input_meta.dtype), grad, dim, index))
derivative("slice", input=lambda grad, input_meta, dim, start, end, step: ops.slice_scatter(
    ops.zeros(input_meta.shape, input_meta.dtype), grad, dim, start, end, step))


def _inverse(dims: Any) -> tuple[int, ...]:
    axes = [d % len(dims) for d in dims]
    return tuple(axes.index(axis) for axis in range(len(axes)))


# ---- matmul -------------------------------------------------------------------------------------

def _matmul_input(grad: Any, other: Any, input_meta: Any, other_meta: Any) -> Any:
    """grad @ other^T, with a vector made a row or a column for the while."""
    if other_meta.ndim == 1:
        return ops.mul(ops.unsqueeze(grad, -1), other)
    if input_meta.ndim == 1:
        grad = ops.unsqueeze(grad, -2)
    found = ops.matmul(grad, ops.transpose(other, -2, -1))
    return ops.squeeze(found, -2) if input_meta.ndim == 1 else found


def _matmul_other(grad: Any, input: Any, input_meta: Any, other_meta: Any) -> Any:
    """input^T @ grad, with a vector made a row or a column for the while."""
    if input_meta.ndim == 1:
        if other_meta.ndim == 1:
            return ops.mul(grad, input)
        return ops.mul(ops.unsqueeze(grad, -2), ops.unsqueeze(input, -1))
    if other_meta.ndim == 1:
        grad = ops.unsqueeze(grad, -1)
    found = ops.matmul(ops.transpose(input, -2, -1), grad)
    return ops.squeeze(found, -1) if other_meta.ndim == 1 else found


derivative("matmul", input=_matmul_input, other=_matmul_other)
