"""Pools: the largest, or the average, of each window.

In: (batch, channels, one or two axes of space), or without a batch.  Out: smaller sizes.
Invariant: of several largest the first gets the gradient, as in PyTorch; padding is never the
largest, and counts in an average only when asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from .. import dtypes
from . import orders, reductions  # noqa: F401  their parts
from .derivatives import derivative, meta_of as facts
from .op import Table
from .parts import check_no_bool, composite, decomposed, no_kernel
from .windows import Ints, each, windows

ops = Table()

def _pool_sides(
    shape: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> list[int]:
    """(before, after) of each axis, the last axis first; `ceil_mode` adds what the last window
    lacks, unless it would begin in the padding."""
    sides: list[int] = []
    for n, k, s, p, d in reversed(list(zip(shape, size, stride, padding, dilation))):
        if p > k // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={d}"
            )
        reach, after = d * (k - 1) + 1, p
        left = (n + 2 * p - reach) % s
        if ceil_mode and left and n + 2 * p - left + s - p - reach < n + p + s - reach:
            begins = (n + 2 * p - reach) // s * s + s
            after = p + s - left if begins < n + p else p
        sides += [p, after]
    return sides


def _pooled(name: str, input: Any, space: int) -> Any:
    if facts(input).ndim not in (space + 1, space + 2):
        raise RuntimeError(
            f"{name}: Expected {space + 1}D or {space + 2}D input, but got input of size "
            f"{list(facts(input).shape)}"
        )
    return facts(input).shape[-space:]


def _max_windows(
    input: Any, space: int, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Any, list[int]]:
    """All windows, and how much was put around the input."""
    shape, type_ = _pooled(f"max_pool{space}d", input, space), facts(input).dtype
    size, dilation = each(size, space), each(dilation, space)
    stride = size if stride is None or stride == () else each(stride, space)
    sides = _pool_sides(shape, size, stride, each(padding, space), dilation, ceil_mode)
    _check_left(input, sides, size, stride, dilation)
    if any(sides):
        least = -inf if type_.is_floating_point else int(np.iinfo(type_.numpy).min)
        input = ops._pad(input, tuple(sides), least)
    return windows(input, size, stride, dilation, space), sides


def _check_left(
    input: Any,
    sides: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> None:
    """Raises RuntimeError where not one window fits."""
    channels, *shape = facts(input).shape[-len(size) - 1 :]
    around = [before + after for before, after in zip(sides[::2], sides[1::2])][::-1]
    count = [
        (n + p - d * (k - 1) - 1) // s + 1
        for n, p, k, s, d in zip(shape, around, size, stride, dilation)
    ]
    if min(count) > 0:
        return
    flat = [1] * (2 - len(size))
    given, found = (
        "x".join(map(str, (channels, *flat, *(max(n, 0) for n in sizes))))
        for sizes in (shape, count)
    )
    raise RuntimeError(
        f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small"
    )


def _max_pool(space: int, input: Any, *how: Any) -> Any:
    seen, _ = _max_windows(input, space, *how)
    ndim = facts(seen).ndim
    return ops.amax(seen, tuple(range(ndim - space, ndim)))


def _max_pool_rule(space: int, grad: Any, input: Any, *how: Any) -> Any:
    """To the first of the largest in each window, from there back through the windows."""
    seen, sides = _max_windows(input, space, *how)
    shape = facts(seen).shape
    kept, window = shape[: len(shape) - space], shape[len(shape) - space :]
    count = 1
    for n in window:
        count *= n
    first = ops.unsqueeze(ops.argmax(ops.reshape(seen, (*kept, count)), -1), -1)
    hit = ops.eq(ops.arange(count), first)
    spread = ops.view(ops.where(hit, ops.unsqueeze(grad, -1), 0.0), (*kept, *window))
    size, stride, _, dilation, _ = how
    size = each(size, space)
    stride = size if stride is None or stride == () else each(stride, space)
    dilation, outer = each(dilation, space), facts(input)
    for axis in reversed(range(space)):
        at = outer.ndim - space + axis
        whole = outer.shape[at] + sum(sides[2 * (space - 1 - axis) :][:2])
        spread = ops._fold_windows(spread, whole, at, stride[axis], dilation[axis])
    return ops._pad(spread, tuple(-n for n in sides), 0) if any(sides) else spread


def _average_pool(
    space: int,
    input: Any,
    size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    shape, around = _pooled(f"avg_pool{space}d", input, space), each(padding, space)
    type_ = facts(input).dtype
    if not (type_.is_floating_point or type_ is dtypes.int64):
        no_kernel("avg_pool2d", type_)
    size = each(size, space)
    stride = size if stride is None or stride == () else each(stride, space)
    ones = (1,) * space
    sides = _pool_sides(shape, size, stride, around, ones, ceil_mode)
    _check_left(input, sides, size, stride, ones)

    def total(values: Any, sides: Sequence[int]) -> Any:
        if any(sides):
            values = ops._pad(values, tuple(sides), 0)
        seen = windows(values, size, stride, ones, space)
        ndim = facts(seen).ndim
        return ops.sum(seen, tuple(range(ndim - space, ndim)))

    whole = [n for n in reversed(around) for _ in range(2)]
    count: Any = divisor_override
    if count is None and sides == whole and (count_include_pad or not any(sides)):
        count = 1
        for n in size:
            count *= n
    elif count is None:
        if count_include_pad:
            shape = tuple(n + 2 * p for n, p in zip(shape, around))
            missing = [s - w for s, w in zip(sides, whole)]
        else:
            missing = sides
        count = total(ops.ones(shape, facts(input).dtype), missing)
    if type_.is_floating_point:
        return ops.div(total(input, sides), count)
    return ops.to(ops.trunc(ops.div(ops.to(total(input, sides), dtypes.float64), count)), type_)


@decomposed("torch F", "max_pool1d_impl")
def max_pool1d(
    input: Any,
    kernel_size: Ints,
    stride: Any = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Any:
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode)


@decomposed("torch F")
def max_pool2d(
    input: Any,
    kernel_size: Ints,
    stride: Any = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Any:
    check_no_bool("max_pool2d", facts(input).dtype)
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)


derivative(
    "max_pool1d",
    input=lambda grad, input, kernel_size, stride, padding, dilation, ceil_mode: _max_pool_rule(
        1, grad, input, kernel_size, stride, padding, dilation, ceil_mode
    ),
)
derivative(
    "max_pool2d",
    input=lambda grad, input, kernel_size, stride, padding, dilation, ceil_mode: _max_pool_rule(
        2, grad, input, kernel_size, stride, padding, dilation, ceil_mode
    ),
)


@composite("torch F")
def avg_pool1d(
    input: Any,
    kernel_size: Ints,
    stride: Any = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    return _average_pool(
        1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None
    )


@composite("F")
def avg_pool2d(
    input: Any,
    kernel_size: Ints,
    stride: Any = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    return _average_pool(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@composite("F", "adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Averages over windows as equal as can be, so many along each axis."""
    shape = _pooled("adaptive_avg_pool2d", input, 2)
    if 0 in facts(input).shape[-3:]:
        whole = list(facts(input).shape)
        raise RuntimeError(
            "adaptive_avg_pool2d(): Expected input to have non-zero size for non-batch dimensions, "
            f"but input has sizes {whole} with dimension {max(whole.index(0, -3 + len(whole)), 0)} "
            "being empty"
        )
    wanted = [n if w is None else w for n, w in zip(shape, each(output_size, 2))]
    for axis, (n, w) in zip((-2, -1), zip(shape, wanted)):
        parts = [
            ops.mean(ops.slice(input, axis, k * n // w, -(-(k + 1) * n // w)), axis)
            for k in range(w)
        ]
        input = ops.stack(parts, axis)
    return input
