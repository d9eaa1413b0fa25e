"""Folds made of other folds: variances, norms, products, and what normalizes by them.

In: a tensor of floats, and axes.  Out: a new tensor.
Invariant: as in `activations.py`; a rule computes again what the forward had computed (a mean, a
reciprocal deviation), and a graph that has both computes it once.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ..dtypes import computed_in, dtype as DType
from . import composites, pointwise  # noqa: F401  their parts
from .derivatives import derivative, meta_of
from .op import Table
from .parts import check_float, composite, decomposed
from .reductions import Dim, reduced_axes

ops = Table()


def _kept(value: Any, meta: Any, dim: Dim, keepdim: bool) -> Any:
    """A fold's result (or its gradient) with the folded axes as sizes of 1."""
    if keepdim:
        return value
    for axis in reduced_axes(dim, meta.ndim):
        value = ops.unsqueeze(value, axis)
    return value


# ---- variance ------------------------------------------------------------------------------------


def _count(meta: Any, dim: Dim) -> int:
    count = 1
    for axis in reduced_axes(dim, meta.ndim):
        count *= meta.shape[axis]
    return count


def _scale(meta: Any, dim: Dim, unbiased: bool | None, correction: float | None) -> float:
    """What the sum of squares is divided by: without elements enough 0, so that 0 / 0 is nan."""
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return max(_count(meta, dim) - correction, 0)


def _centered(input: Any, dim: Dim) -> Any:
    return ops.sub(input, ops.mean(input, dim, True))


@decomposed("torch Tensor")
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    correction: float | None = None,
) -> Any:
    """`var(x, dim, correction=1)`; in the older form `var(x, dim, unbiased)`, `var(x, False)`."""
    dim, unbiased = _older(dim, unbiased)
    meta = meta_of(input)
    if not meta.dtype.is_floating_point:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    scale = _scale(meta, dim, unbiased, correction)
    return ops.div(ops.sum(ops.square(_centered(input, dim)), dim, keepdim), scale)


def _older(dim: Any, unbiased: bool | None) -> tuple[Dim, bool | None]:
    return (None, dim) if isinstance(dim, bool) else (dim, unbiased)


@decomposed("torch Tensor")
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    correction: float | None = None,
) -> Any:
    return ops.sqrt(ops.var(input, dim, unbiased, keepdim, correction))


def _var_rule(
    grad: Any, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    dim, unbiased = _older(dim, unbiased)
    meta = meta_of(input)
    scale = _scale(meta, dim, unbiased, correction)
    slope = ops.mul(_centered(input, dim), 2 / scale if scale else inf)
    return ops.mul(_kept(grad, meta, dim, keepdim), slope)


def _std_rule(
    grad: Any, input: Any, out: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> Any:
    grad = ops.where(ops.eq(out, 0), 0.0, ops.div(grad, ops.mul(out, 2)))
    return _var_rule(grad, input, dim, unbiased, keepdim, correction)


derivative("var", input=_var_rule)
derivative("std", input=_std_rule)

# ---- layers --------------------------------------------------------------------------------------


def _last_axes(name: str, input: Any, normalized_shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The axes to normalize over. Raises RuntimeError for what does not fit."""
    meta, wanted = meta_of(input), tuple(normalized_shape)
    if not wanted:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for what, given in zip(("weight", "bias"), parameters):
        if given is not None and meta_of(given).shape != wanted:
            raise RuntimeError(
                f"Expected {what} to be of same shape as normalized_shape, but got {what} of shape "
                f"{list(meta_of(given).shape)} and normalized_shape = {list(wanted)}"
            )
    if meta.ndim < len(wanted) or meta.shape[meta.ndim - len(wanted) :] != wanted:
        raise RuntimeError(
            f"Given normalized_shape={list(wanted)}, expected input with shape [*, "
            f"{', '.join(map(str, wanted))}], but got input of size{list(meta.shape)}"
        )
    check_float(name, meta.dtype)
    return tuple(range(meta.ndim - len(wanted), meta.ndim))


def _normalized(input: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """(x - mean) / deviation, and 1 / deviation."""
    centered = _centered(input, axes)
    inverse = ops.rsqrt(ops.add(ops.mean(ops.square(centered), axes, True), eps))
    return ops.mul(centered, inverse), inverse


def _scaled(input: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        input = ops.mul(input, weight)
    return input if bias is None else ops.add(input, bias)


@decomposed("torch F")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    axes = _last_axes("LayerNormKernelImpl", input, normalized_shape, weight, bias)
    found, _ = _normalized(input, axes, eps)
    return ops.contiguous(_scaled(found, weight, bias))


def _layer_norm_input(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, eps: float
) -> Any:
    meta = meta_of(input)
    axes = tuple(range(meta.ndim - len(normalized_shape), meta.ndim))
    return _through_normalized(grad, input, axes, weight, eps)


def _through_normalized(grad: Any, input: Any, axes: tuple, weight: Any, eps: float) -> Any:
    """The gradient of what was normalized: what would move mean and deviation is taken out."""
    found, inverse = _normalized(input, axes, eps)
    if weight is not None:
        grad = ops.mul(grad, weight)
    along = ops.mul(found, ops.mean(ops.mul(grad, found), axes, True))
    return ops.mul(ops.sub(ops.sub(grad, ops.mean(grad, axes, True)), along), inverse)


def _layer_norm_weight(grad: Any, input: Any, normalized_shape: Any, eps: float) -> Any:
    ndim = meta_of(input).ndim
    axes = tuple(range(ndim - len(normalized_shape), ndim))
    return ops.mul(grad, _normalized(input, axes, eps)[0])


derivative(
    "layer_norm", input=_layer_norm_input, weight=_layer_norm_weight, bias=lambda grad: grad
)


@composite("torch F")
def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    axes = _last_axes("rms_norm", input, normalized_shape, weight)
    if eps is None:
        eps = float(np.finfo(computed_in(meta_of(input).dtype).numpy).eps)
    size = ops.add(ops.mean(ops.square(input), axes, True), eps)
    return ops.contiguous(_scaled(ops.mul(input, ops.rsqrt(size)), weight, None))


@composite("torch F", "GroupNormKernelImpl")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Channels (axis 1) in groups, each normalized with all that follows."""
    shape = meta_of(input).shape
    if len(shape) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(shape)}"
        )
    if shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and meta_of(given).shape != shape[1:2]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {list(meta_of(given).shape)} and input of shape "
                f"{list(shape)}"
            )
    size = shape[1] // num_groups
    for n in shape[2:]:
        size *= n
    rows = ops.reshape(input, (shape[0], num_groups, size))
    found = ops.layer_norm(rows, (size,), None, None, eps)
    return _by_channel(ops.reshape(found, shape), weight, bias)


def _by_channel(input: Any, weight: Any, bias: Any) -> Any:
    shape = (1, -1, *[1] * (meta_of(input).ndim - 2))
    return _scaled(input, *(p if p is None else ops.view(p, shape) for p in (weight, bias)))


@composite("F", "batch_norm")
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalized over all but the channels; in training by the batch's own mean and variance, of
    which the running ones take `momentum` in, in place."""
    shape = meta_of(input).shape
    axes = tuple(a for a in range(len(shape)) if a != 1)
    for name, running in (("running_mean", running_mean), ("running_var", running_var)):
        if running is not None and meta_of(running).numel != shape[1]:
            raise RuntimeError(
                f"{name} should contain {shape[1]} elements not {meta_of(running).numel}"
            )
    if not training:
        inverse = ops.rsqrt(ops.add(running_var, eps))
        middle = (1, -1, *[1] * (len(shape) - 2))
        found = ops.mul(ops.sub(input, ops.view(running_mean, middle)), ops.view(inverse, middle))
        return _by_channel(found, weight, bias)
    if _count(meta_of(input), axes) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {shape}"
        )
    for running, fold in ((running_mean, ops.mean), (running_var, ops.var)):
        if running is not None:
            ops.mul_(running, 1 - momentum)
            ops.add_(running, ops.detach(fold(input, axes)), momentum)
    return _by_channel(_normalized(input, axes, eps)[0], weight, bias)


# ---- logarithms and norms ------------------------------------------------------------------------


@decomposed("torch Tensor")
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log(sum(exp(x))), with the largest taken out; an infinite one stays in."""
    if not meta_of(input).dtype.is_floating_point:
        input = ops.to(input, ops.div.meta(meta_of(input), 1).dtype)
    if meta_of(input).numel == 0:
        return ops.log(ops.sum(ops.exp(input), dim, keepdim))
    largest = ops.amax(input, dim, True)
    largest = ops.where(ops.eq(ops.abs(largest), inf), 0.0, largest)
    total = ops.log(ops.sum(ops.exp(ops.sub(input, largest)), dim, keepdim))
    if not keepdim and meta_of(input).ndim:
        largest = ops.squeeze(largest, dim)
    return ops.add(total, largest)


def _logsumexp_rule(grad: Any, input: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    meta = meta_of(input)
    grad, out = _kept(grad, meta, dim, keepdim), _kept(out, meta, dim, keepdim)
    return ops.mul(grad, ops.exp(ops.sub(input, out)))


derivative("logsumexp", input=_logsumexp_rule)


@decomposed("torch Tensor")
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: DType | None = None
) -> Any:
    """The root of the sum of `p`-th powers of absolute values; "fro" is 2; inf the largest, -inf
    the smallest, 0 counts what is not 0."""
    power = _power(p)
    input = ops.to(input, dtype or meta_of(input).dtype)
    if not meta_of(input).dtype.is_floating_point:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{meta_of(input).dtype.title}"
        )
    if power == 2:
        return ops.sqrt(ops.sum(ops.square(input), dim, keepdim))
    size = ops.abs(input)
    if power == 1:
        return ops.sum(size, dim, keepdim)
    if power in (inf, -inf):
        _check_not_empty(power, meta_of(input), dim)
        return (ops.amax if power > 0 else ops.amin)(size, () if dim is None else dim, keepdim)
    if power == 0:
        return ops.sum(ops.to(ops.ne(input, 0), meta_of(input).dtype), dim, keepdim)
    return ops.pow(ops.sum(ops.pow(size, power), dim, keepdim), 1 / power)


def _check_not_empty(power: float, meta: Any, dim: Any) -> None:
    """Raises RuntimeError where there is no largest or smallest."""
    empty = [axis for axis in reduced_axes(dim, meta.ndim) if not meta.shape[axis]]
    if empty:
        whole, part = "an empty tensor because", f"the dimension {empty[0]}because this dimension"
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {power} norm on "
            f"{whole if dim is None else f'{part} is empty and'} the operation does not have an "
            "identity"
        )


def _power(p: Any) -> float:
    if p in (None, "fro"):
        return 2
    if isinstance(p, str):
        raise RuntimeError(f"norm(): order {p!r} is not supported: a number, or \"fro\"")
    return p


def _norm_rule(grad: Any, input: Any, out: Any, p: Any, dim: Any, keepdim: bool) -> Any:
    """A norm of 0 has gradient 0; ties of the largest share."""
    power, meta = _power(p), meta_of(input)
    if not keepdim:
        grad, out = _kept(grad, meta, dim, False), _kept(out, meta, dim, False)
    if power == 0:
        return ops.zeros_like(input)
    if power == 1:
        return ops.mul(ops.sign(input), grad)
    if power in (inf, -inf):
        ties = ops.logical_or(
            ops.eq(ops.abs(input), out), ops.logical_and(ops.isnan(input), ops.isnan(out))
        )
        share = ops.div(grad, ops.sum(ties, reduced_axes(dim, meta.ndim), True))
        return ops.mul(ops.where(ties, ops.sign(input), 0.0), share)
    unit = ops.div(grad, out) if power == 2 else ops.div(grad, ops.pow(out, power - 1))
    unit = ops.where(ops.eq(out, 0), 0.0, unit)
    if power == 2:
        return ops.mul(input, unit)
    size = ops.pow(ops.abs(input), power - 1)
    return ops.mul(ops.mul(ops.sign(input), ops.where(ops.eq(input, 0), 0.0, size)), unit)


derivative("norm", input=_norm_rule)


@composite("F")
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    return ops.div(input, ops.clamp(ops.norm(input, p, dim, True), eps))


@composite("torch F")
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    first = ops.div(x1, ops.clamp(ops.norm(x1, 2, dim, True), eps))
    second = ops.div(x2, ops.clamp(ops.norm(x2, 2, dim, True), eps))
    return ops.sum(ops.mul(first, second), dim)
