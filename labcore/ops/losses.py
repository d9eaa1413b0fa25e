"""Losses: what training makes small.

In: predictions and targets.  Out: a number of them all (`reduction="mean"` or "sum"), or one of
each ("none").
PyTorch's deprecated `size_average` and `reduce` are not there.
Invariant: a class that does not exist raises, in every mode: `_classes` looks at the targets before
loops use them. The class is picked by a comparison with all class numbers and not by an index, so a
cross entropy and its gradient are loops that fuse.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import TensorMeta, same_shape
from . import activations, shapes, statistics  # noqa: F401  their parts
from .arrays import ndarray
from .derivatives import derivative, meta_of
from .op import Table, register
from .parts import composite, decomposed

ops = Table()


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    if reduction == "mean":
        return ops.mean(loss)
    if reduction == "sum":
        return ops.sum(loss)
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else ops.mul(loss, weight)


# ---- distances -----------------------------------------------------------------------------------


@composite("F", "mse_cpu")
def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    return _reduced(_weighted(ops.square(ops.sub(input, target)), weight), reduction)


@composite("F")
def l1_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    return _reduced(_weighted(ops.abs(ops.sub(input, target)), weight), reduction)


@composite("F", "smooth_l1_cpu")
def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return ops.l1_loss(input, target, reduction)
    return _reduced(ops.div(ops._bent(ops.sub(input, target), beta), beta), reduction)


@composite("F", "huber_cpu")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _reduced(ops._bent(ops.sub(input, target), delta), reduction)


@decomposed("")
def _bent(input: Any, width: float) -> Any:
    """Half the square, going on as a line where the distance from 0 is more than `width`."""
    distance = ops.abs(input)
    line = ops.mul(ops.sub(distance, 0.5 * width), width)
    return ops.where(ops.lt(distance, width), ops.mul(ops.square(distance), 0.5), line)


derivative(
    "_bent", input=lambda grad, input, width: ops.mul(grad, ops.clamp(input, -width, width))
)


# ---- probabilities -------------------------------------------------------------------------------


@composite("F", "binary_cross_entropy")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """Logarithms are cut off at -100, so a wrong certainty costs 100 and not infinity."""
    yes = ops.clamp(ops.log(input), -100)
    no = ops.clamp(ops.log1p(ops.neg(input)), -100)
    loss = ops.sub(ops.mul(ops.sub(target, 1), no), ops.mul(target, yes))
    return _reduced(_weighted(loss, weight), reduction)


@composite("F")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    if meta_of(target).shape != meta_of(input).shape:
        raise ValueError(
            f"Target size ({_size(target)}) must be the same as input size ({_size(input)})"
        )
    yes = ops.neg(ops.logsigmoid(input))
    if pos_weight is not None:
        yes = ops.mul(yes, ops.add(ops.mul(ops.sub(pos_weight, 1), target), 1))
    loss = ops.add(ops.mul(ops.sub(1, target), input), yes)
    return _reduced(_weighted(loss, weight), reduction)


def _size(tensor: Any) -> str:
    return f"torch.Size({list(meta_of(tensor).shape)})"


@composite("F")
def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if not all(meta_of(tensor).dtype.is_floating_point for tensor in (input, target)):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        loss = ops.mul(ops.exp(target), ops.sub(target, input))
    else:
        loss = ops.sub(ops.xlogy(target, target), ops.mul(target, input))
    if reduction == "batchmean":
        shape = meta_of(input).shape
        return ops.div(ops.sum(loss), shape[0] if shape else 1)
    return _reduced(loss, reduction)


@composite("F")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    if log_input:
        loss = ops.sub(ops.exp(input), ops.mul(target, input))
    else:
        loss = ops.sub(input, ops.mul(target, ops.log(ops.add(input, eps))))
    if full:
        stirling = ops.add(
            ops.sub(ops.mul(target, ops.log(target)), target),
            ops.mul(ops.log(ops.mul(target, 2 * pi)), 0.5),
        )
        loss = ops.add(loss, ops.where(ops.le(target, 1), 0.0, stirling))
    return _reduced(loss, reduction)


@composite("F")
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    if not meta_of(var).dtype.is_floating_point:
        name = {dtypes.int64: "long int", dtypes.int32: "int"}.get(meta_of(var).dtype, "bool")
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}")
    floor = ops.add(var, ops._stop_gradient(ops.sub(ops.clamp(var, eps), var)))
    loss = ops.mul(
        ops.add(ops.log(floor), ops.div(ops.square(ops.sub(input, target)), floor)), 0.5
    )
    return _reduced(ops.add(loss, 0.5 * log(2 * pi)) if full else loss, reduction)


# ---- classes -------------------------------------------------------------------------------------


def _classes_meta(input: TensorMeta, count: int, ignore_index: int) -> TensorMeta:
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"expected scalar type Long but found {input.dtype.title}")
    return TensorMeta.contiguous(input.shape, input.dtype)


def _classes_kernel(input: ndarray, count: int, ignore_index: int) -> ndarray:
    wrong = ((input < 0) | (input >= count)) & (input != ignore_index)
    if wrong.any():
        raise IndexError(f"Target {input[wrong].flat[0]} is out of bounds.")
    return np.array(input, order="C")


register("_classes", "indexed", _classes_kernel, _classes_meta)


@composite("F", "nll_loss_out_frame")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """Minus the value of the target's class (axis 1), weighted by that class."""
    _check_classes(input, target, weight)
    meta = meta_of(input)
    axis = min(1, meta.ndim - 1)
    hit = _hits(target, axis, meta, ignore_index)
    if weight is not None:
        weight = ops.view(weight, (-1, *[1] * (meta.ndim - axis - 1)))
    loss = ops.neg(_weighted(input, weight))
    loss = ops.sum(ops.where(hit, loss, 0.0), axis)
    if reduction != "mean":
        return _reduced(loss, reduction)
    if weight is None:  # each target counts once
        shares = ops.to(ops.ne(target, ignore_index), meta.dtype)
    else:
        shares = ops.where(hit, weight, 0.0)
    return ops.div(ops.sum(loss), ops.sum(shares))


def _hits(target: Any, axis: int, meta: Any, ignore_index: int) -> Any:
    """Where the class (along `axis`) is the target's, and that is not to be ignored."""
    count = meta.shape[axis]
    known = ops.unsqueeze(ops._classes(target, count, ignore_index), axis)
    numbers = ops.view(ops.arange(count), (-1, *[1] * (meta.ndim - axis - 1)))
    hit = ops.eq(known, numbers)
    if ignore_index < 0:  # no class has that number
        return hit
    return ops.logical_and(hit, ops.ne(known, ignore_index))


def _check_classes(input: Any, target: Any, weight: Any) -> None:
    shape, wanted = meta_of(input).shape, meta_of(target).shape
    if not shape or len(shape) != max(len(wanted) + 1, 1) and len(shape) != 1:
        if len(shape) <= 2:
            raise ValueError(
                f"Expected input batch_size ({shape[0] if shape else 0}) to match target "
                f"batch_size ({wanted[0] if wanted else 0})."
            )
        raise RuntimeError(
            f"only batches of spatial targets supported ({len(shape) - 1}D tensors) but got "
            f"targets of dimension: {len(wanted)}"
        )
    if len(shape) > 1 and shape[0] != wanted[0]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({wanted[0]})."
        )
    if len(shape) > 2 and shape[2:] != wanted[1:]:
        raise RuntimeError(f"size mismatch (got input: {list(shape)} , target: {list(wanted)}")
    count = shape[min(1, len(shape) - 1)]
    if weight is not None and meta_of(weight).shape != (count,):
        raise RuntimeError(
            "weight tensor should be defined either for all or no classes, but got weight tensor "
            f"of shape: {list(meta_of(weight).shape)}"
        )


@composite("F")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Of logits (classes in axis 1) and class numbers, or class probabilities of the same shape."""
    meta, given = meta_of(input), meta_of(target)
    axis = min(1, meta.ndim - 1)
    if same_shape(meta.shape, given.shape) and not given.dtype.is_floating_point:
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{given.dtype.title}"
        )
    scores = ops.log_softmax(input, axis)
    if given.dtype.is_floating_point:
        return _soft_targets(scores, target, weight, axis, reduction, label_smoothing)
    if label_smoothing == 0.0:
        return ops.nll_loss(scores, target, weight, ignore_index, reduction)
    return _smoothed(scores, target, weight, axis, ignore_index, reduction, label_smoothing)


def _soft_targets(
    scores: Any, target: Any, weight: Any, axis: int, reduction: str, smoothing: float
) -> Any:
    shape = meta_of(scores).shape
    count = shape[axis]
    if smoothing:
        target = ops.add(ops.mul(target, 1 - smoothing), smoothing / max(count, 1))
    if weight is not None:
        scores = ops.mul(scores, ops.view(weight, (-1, *[1] * (len(shape) - axis - 1))))
    loss = ops.neg(ops.sum(ops.mul(scores, target), axis))
    if reduction != "mean":
        return _reduced(loss, reduction)
    return ops.div(ops.sum(loss), max(meta_of(loss).numel, 1))


def _smoothed(
    scores: Any,
    target: Any,
    weight: Any,
    axis: int,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Any:
    """A share of the loss is that of all classes alike."""
    meta = meta_of(scores)
    sharp = ops.nll_loss(scores, target, weight, ignore_index, reduction)
    if weight is not None:
        scores = ops.mul(scores, ops.view(weight, (-1, *[1] * (meta.ndim - axis - 1))))
    even = ops.neg(ops.sum(scores, axis))
    kept = ops.ne(target, ignore_index)
    even = ops.where(kept, even, 0.0)
    if reduction == "mean":
        shares = ops.to(kept, meta.dtype)
        if weight is not None:
            hit = _hits(target, axis, meta, ignore_index)
            wide = ops.view(weight, (-1, *[1] * (meta.ndim - axis - 1)))
            shares = ops.sum(ops.where(hit, wide, 0.0), axis)
        even = ops.div(ops.sum(even), ops.sum(shares))
    else:
        even = _reduced(even, reduction)
    share = smoothing / meta.shape[axis]
    return ops.add(ops.mul(sharp, 1 - smoothing), ops.mul(even, share))
