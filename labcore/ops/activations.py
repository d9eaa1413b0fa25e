"""Activations and normalizations to probabilities: `softmax gelu silu dropout` and their like.

In: a tensor of floats.  Out: a new tensor, of the same shape.
Invariant: each is a function over simpler operators; where its derivative is not simply that of its
parts, the rule follows it. Softmaxes subtract the largest first, so nothing overflows.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from .. import devices, dtypes
from ..dtypes import dtype as DType
from . import composites, factories, pointwise, random, reductions  # noqa: F401  their parts
from .derivatives import derivative, meta_of
from .op import Table
from .parts import check_float, check_no_bool, composite, decomposed
from .reductions import wrap_dim

ops = Table()


# ---- softmax -------------------------------------------------------------------------------------


def _softmax_input(name: str, input: Any, dim: int, dtype: DType | None) -> Any:
    meta = meta_of(input)
    last = wrap_dim(dim, meta.ndim) == max(meta.ndim, 1) - 1
    check_float(f"{name}{'_lastdim' * last}_kernel_impl", dtype or meta.dtype)
    return ops.to(input, dtype or meta.dtype)


def _below_largest(input: Any, dim: int) -> Any:
    return ops.sub(input, ops.amax(input, dim, True))


@decomposed("torch Tensor F")
def softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    input = _softmax_input("softmax", input, dim, dtype)
    if meta_of(input).numel == 0:
        return ops.clone(input, True)
    powers = ops.exp(_below_largest(input, dim))
    return ops.contiguous(ops.div(powers, ops.sum(powers, dim, True)))


@decomposed("torch Tensor F")
def log_softmax(input: Any, dim: int, dtype: DType | None = None) -> Any:
    input = _softmax_input("log_softmax", input, dim, dtype)
    if meta_of(input).numel == 0:
        return ops.clone(input, True)
    below = _below_largest(input, dim)
    return ops.contiguous(ops.sub(below, ops.log(ops.sum(ops.exp(below), dim, True))))


@composite("F")
def softmin(input: Any, dim: int, dtype: DType | None = None) -> Any:
    return ops.softmax(ops.neg(input), dim, dtype)


def _softmax_rule(grad: Any, out: Any, dim: int) -> Any:
    weighted = ops.mul(grad, out)
    return ops.sub(weighted, ops.mul(out, ops.sum(weighted, dim, True)))


def _log_softmax_rule(grad: Any, out: Any, dim: int) -> Any:
    return ops.sub(grad, ops.mul(ops.exp(out), ops.sum(grad, dim, True)))


derivative("softmax", input=_softmax_rule)
derivative("log_softmax", input=_log_softmax_rule)

# ---- smooth steps --------------------------------------------------------------------------------

_TANH_SCALE, _TANH_CUBE = sqrt(2 / pi), 0.044715


def _nearly_normal_below(input: Any) -> Any:
    """(1 + tanh(u)) / 2, which is sigmoid(2u): so nothing cancels where tanh is close to -1."""
    slope = ops.add(ops.mul(ops.mul(input, input), _TANH_CUBE), 1)
    return ops.sigmoid(ops.mul(ops.mul(input, slope), 2 * _TANH_SCALE))


def _normal_below(input: Any) -> Any:
    """How much of the normal distribution lies below."""
    return ops.mul(ops.add(ops.erf(ops.mul(input, sqrt(0.5))), 1), 0.5)


@decomposed("F", "GeluKernelImpl")
def gelu(input: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return ops.mul(input, _nearly_normal_below(input))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return ops.mul(input, _normal_below(input))


def _gelu_rule(grad: Any, input: Any, approximate: str) -> Any:
    if approximate == "tanh":
        below = _nearly_normal_below(input)
        slope = ops.mul(ops.add(ops.mul(ops.mul(input, input), 3 * _TANH_CUBE), 1), 2 * _TANH_SCALE)
        inner = ops.mul(ops.mul(input, ops.mul(below, ops.sub(1, below))), slope)
        return ops.mul(grad, ops.add(below, inner))
    density = ops.mul(ops.exp(ops.mul(ops.mul(input, input), -0.5)), 1 / sqrt(2 * pi))
    return ops.mul(grad, ops.add(_normal_below(input), ops.mul(input, density)))


@decomposed("F", "silu_cpu")
def silu(input: Any) -> Any:
    return ops.mul(input, ops.sigmoid(input))


def _silu_rule(grad: Any, input: Any) -> Any:
    gate = ops.sigmoid(input)
    return ops.mul(grad, ops.mul(gate, ops.add(ops.mul(input, ops.sub(1, gate)), 1)))


@decomposed("F", "softplus_cpu")
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta; the identity where beta x is above the threshold."""
    scaled = ops.mul(input, beta)
    curve = ops.div(ops.log1p(ops.exp(scaled)), beta)
    return ops.where(ops.gt(scaled, threshold), input, curve)


def _softplus_rule(grad: Any, input: Any, beta: float, threshold: float) -> Any:
    scaled = ops.mul(input, beta)
    return ops.where(ops.gt(scaled, threshold), grad, ops.mul(grad, ops.sigmoid(scaled)))


@decomposed("F", "log_sigmoid_cpu")
def logsigmoid(input: Any) -> Any:
    tail = ops.log1p(ops.exp(ops.neg(ops.abs(input))))
    return ops.contiguous(ops.sub(ops.clamp(input, None, 0), tail))


@composite("F", "mish_cpu")
def mish(input: Any) -> Any:
    return ops.mul(input, ops.tanh(ops.softplus(input)))


@composite("F")
def softsign(input: Any) -> Any:
    return ops.div(input, ops.add(ops.abs(input), 1))


@composite("F")
def tanhshrink(input: Any) -> Any:
    return ops.sub(input, ops.tanh(input))


derivative("gelu", input=_gelu_rule)
derivative("silu", input=_silu_rule)
derivative("softplus", input=_softplus_rule)
derivative("logsigmoid", input=lambda grad, input: ops.mul(grad, ops.sigmoid(ops.neg(input))))

# ---- bent lines ----------------------------------------------------------------------------------


@decomposed("F", "leaky_relu_cpu")
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    return ops.where(ops.gt(input, 0), input, ops.mul(input, negative_slope))


@decomposed("F", "elu_cpu")
def elu(input: Any, alpha: float = 1.0) -> Any:
    return ops.where(ops.le(input, 0), ops.mul(ops.expm1(input), alpha), input)


def _elu_rule(grad: Any, input: Any, alpha: float) -> Any:
    below = ops.mul(ops.mul(grad, ops.exp(input)), alpha)
    return ops.where(ops.le(input, 0), below, grad)


@decomposed("torch F")
def selu(input: Any) -> Any:
    return ops.mul(ops.elu(input, _SELU_ALPHA), _SELU_SCALE)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _hard_rule(grad: Any, input: Any, min_val: float, max_val: float) -> Any:
    """Unlike that of clamp, 0 at both ends; a nan lets it through."""
    outside = ops.logical_or(ops.le(input, min_val), ops.ge(input, max_val))
    return ops.where(outside, 0.0, grad)


def _hardswish_rule(grad: Any, input: Any) -> Any:
    middle = ops.mul(grad, ops.add(ops.div(input, 3), 0.5))
    bent = ops.where(ops.le(input, -3), 0.0, middle)
    return ops.where(ops.logical_or(ops.ge(input, 3), ops.isnan(input)), grad, bent)


@decomposed("F")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    type_ = meta_of(input).dtype
    if type_ is dtypes.bool:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not type_.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
    return ops.clamp(input, min_val, max_val)


@composite("F")
def relu6(input: Any) -> Any:
    return ops.hardtanh(input, 0.0, 6.0)


@decomposed("F", "hardsigmoid_cpu")
def hardsigmoid(input: Any) -> Any:
    return ops.div(ops.clamp(ops.add(input, 3), 0, 6), 6)


@decomposed("F", "hardswish_cpu")
def hardswish(input: Any) -> Any:
    return ops.div(ops.mul(input, ops.clamp(ops.add(input, 3), 0, 6)), 6)


@composite("F")
def threshold(input: Any, threshold: float, value: float) -> Any:
    type_ = meta_of(input).dtype
    check_no_bool("threshold_cpu", type_)
    if not type_.is_floating_point:
        threshold, value = int(threshold), int(value)
    return ops.where(ops.le(input, threshold), value, input)


derivative(
    "leaky_relu",
    input=lambda grad, input, negative_slope: ops.where(
        ops.gt(input, 0), grad, ops.mul(grad, negative_slope)
    ),
)
derivative("elu", input=_elu_rule)
derivative(
    "selu",
    input=lambda grad, input: ops.mul(_elu_rule(grad, input, _SELU_ALPHA), _SELU_SCALE),
)
derivative("hardtanh", input=_hard_rule)
derivative(
    "hardsigmoid",
    input=lambda grad, input: ops.where(
        ops.isnan(input), 0.0, ops.div(_hard_rule(grad, input, -3.0, 3.0), 6)
    ),
)
derivative("hardswish", input=_hardswish_rule)


@composite("F", "glu_cpu")
def glu(input: Any, dim: int = -1) -> Any:
    """The first half, let through by the sigmoid of the second."""
    meta = meta_of(input)
    if not meta.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = meta.shape[wrap_dim(dim, meta.ndim)]
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {size}"
        )
    gate = ops.sigmoid(ops.slice(input, dim, size // 2, size))
    return ops.mul(ops.slice(input, dim, 0, size // 2), gate)


# ---- dropout -------------------------------------------------------------------------------------


@composite("F")
def dropout(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Each element 0 with probability `p`, the others scaled up by as much; drawn in order from
    the generator of `manual_seed`."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    meta = meta_of(input)
    if p == 1:
        return ops.mul(input, ops.zeros((), meta.dtype))
    if not meta.dtype.is_floating_point:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {meta.dtype.title}"
        )
    on_host = meta.device is devices.cpu
    drawn = ops.rand(meta.shape, meta.dtype) if on_host else ops.rand_like(input)
    kept = ops.ge(drawn, p)
    return ops.mul(input, ops.mul(ops.to(kept, meta.dtype), 1 / (1 - p)))

