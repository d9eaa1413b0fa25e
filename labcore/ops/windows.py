"""Operators that slide a window: `unfold`, `pad`, convolutions, pools.

In: (batch, channels, one to three axes of space).  Out: the same, with other channels and sizes.
Invariant: a window is a view (`unfold` reads one element in several windows, by strides alone); a
convolution is a matrix product with the windows, laid out as a matrix.
PyTorch hands convolutions to oneDNN or cuDNN; its own fallback does what is done here (im2col).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from ..graph import TensorMeta
from . import gathers  # noqa: F401  its parts
from .arrays import empty, meta_of, ndarray
from .derivatives import derivative, meta_of as facts
from .op import Table, naming, register
from .parts import composite, decomposed
from .reductions import wrap_dim
from .views import view_op

ops = Table()
Sizes = Sequence[int]
Ints = int | Sizes

# ---- windows as a view ---------------------------------------------------------------------------


def _unfold_meta(
    input: TensorMeta, dimension: int, size: int, step: int, dilation: int = 1
) -> TensorMeta:
    axis = wrap_dim(dimension, input.ndim)
    have, stride = (input.shape[axis], input.stride[axis]) if input.ndim else (1, 1)
    reach = dilation * (size - 1) + 1 if size else 0
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if reach > have:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {have} but size is {reach}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not input.ndim:
        return TensorMeta((size,), (1,), input.dtype, input.device)
    count = (have - reach) // step + 1
    return TensorMeta(
        (*input.shape[:axis], count, *input.shape[axis + 1 :], size),
        (*input.stride[:axis], stride * step, *input.stride[axis + 1 :], stride * dilation),
        input.dtype,
        input.device,
    )


unfold = view_op("unfold", _unfold_meta)


def _fold_meta(
    input: TensorMeta, size: int, dimension: int, step: int, dilation: int = 1
) -> TensorMeta:
    shape = list(input.shape[:-1])
    shape[dimension] = size
    return TensorMeta.contiguous(shape, input.dtype)


def _fold_kernel(
    input: ndarray, size: int, dimension: int, step: int, dilation: int = 1
) -> ndarray:
    """Each element of each window added to where it came from."""
    result = empty(_fold(meta_of(input), size, dimension, step, dilation))
    result[...] = 0
    target = np.moveaxis(result, dimension, 0)
    count = input.shape[dimension]
    for place in range(input.shape[-1]):
        first = place * dilation
        part = np.moveaxis(input[..., place], dimension, 0)
        target[first : first + (count - 1) * step + 1 : step] += part
    return result


_fold = naming("_fold_windows", _fold_meta)
register("_fold_windows", "other", _fold_kernel, _fold)


def _unfold_rule(
    grad: Any, input_meta: Any, dimension: int, size: int, step: int, dilation: int
) -> Any:
    if not input_meta.ndim:
        return ops.reshape(grad, ())
    axis = wrap_dim(dimension, input_meta.ndim)
    return ops._fold_windows(grad, input_meta.shape[axis], axis, step, dilation)


derivative("unfold", input=_unfold_rule)
derivative(
    "_fold_windows",
    input=lambda grad, input_meta, dimension, step, dilation: ops.unfold(
        grad, dimension, input_meta.shape[-1], step, dilation
    ),
)

# ---- padding -------------------------------------------------------------------------------------


def _padded_meta(input: TensorMeta, pad: Sequence[int], value: Any = 0) -> TensorMeta:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {input.ndim}"
        )
    shape = list(input.shape)
    for place in range(len(pad) // 2):
        axis = input.ndim - 1 - place
        shape[axis] += pad[2 * place] + pad[2 * place + 1]
        if shape[axis] < 0:
            raise RuntimeError(
                f"The input size {input.shape[axis]}, plus negative padding {pad[2 * place]} and "
                f"{pad[2 * place + 1]} resulted in a negative output size, which is invalid. Check "
                f"dimension {axis} of your input."
            )
    return TensorMeta.contiguous(shape, input.dtype)


def _padded_kernel(input: ndarray, pad: Sequence[int], value: Any = 0) -> ndarray:
    result = empty(_padded(meta_of(input), pad, value))
    result[...] = value
    target, source = [slice(None)] * input.ndim, [slice(None)] * input.ndim
    for place in range(len(pad) // 2):
        axis, before, after = input.ndim - 1 - place, pad[2 * place], pad[2 * place + 1]
        have, size = input.shape[axis], result.shape[axis]
        target[axis] = slice(max(before, 0), size - max(after, 0))
        source[axis] = slice(max(-before, 0), have - max(-after, 0))
    result[tuple(target)] = input[tuple(source)]
    return result


_padded = naming("_pad", _padded_meta)
register("_pad", "other", _padded_kernel, _padded)
derivative("_pad", input=lambda grad, pad: ops._pad(grad, tuple(-n for n in pad), 0))


@composite("F")
def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """`pad` has (before, after) of the last axis, then of the one before it, and so on."""
    if mode == "constant":
        return ops._pad(input, tuple(pad), 0 if value is None else value)
    if mode not in _PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    ndim = facts(input).ndim
    _padded_meta(facts(input), pad)  # its errors
    for place in range(len(pad) // 2):
        axis, before, after = ndim - 1 - place, pad[2 * place], pad[2 * place + 1]
        size = facts(input).shape[axis]
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {axis} of input "
                f"{list(facts(input).shape)}"
            )
        numbers = ops.arange(-before, size + after)
        input = ops.index_select(input, axis, _PLACES[mode](numbers, size))
    return input


_PLACES = {
    "replicate": lambda at, size: ops.clamp(at, 0, size - 1),
    "circular": lambda at, size: ops.remainder(at, size),
    "reflect": lambda at, size: ops.sub(size - 1, ops.abs(ops.sub(size - 1, ops.abs(at)))),
}


# ---- convolution ---------------------------------------------------------------------------------


def each(value: Ints, count: int, name: str = "") -> tuple[int, ...]:
    """A number for each axis of space. Raises RuntimeError when it is another number of them."""
    if isinstance(value, (tuple, list)):
        if len(value) == count:
            return tuple(value)
        if len(value) != 1:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {count} values to "
                f"match the convolution dimensions, but got {name}={list(value)}"
            )
        (value,) = value
    return (int(value),) * count  # type: ignore[arg-type]


def windows(input: Any, size: Sizes, stride: Sizes, dilation: Sizes, space: int) -> Any:
    """(batch, channels, places..., window...): windows over the last `space` axes, as a view."""
    first = facts(input).ndim - space
    for axis in range(space):
        input = ops.unfold(input, first + axis, size[axis], stride[axis], dilation[axis])
    return input


def _same_padding(size: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """(before, after) of each axis, the last axis first."""
    found: list[int] = []
    for n, d in zip(reversed(size), reversed(dilation)):
        total = d * (n - 1)
        found += [total // 2, total - total // 2]
    return found


def _convolution(
    space: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Ints,
    padding: Any,
    dilation: Ints,
    groups: int,
) -> Any:
    single = facts(input).ndim == space + 1
    if single:
        input = ops.unsqueeze(input, 0)
    _check_convolution(space, facts(input), facts(weight), bias, groups, single)
    size = facts(weight).shape[2:]
    stride, dilation = each(stride, space, "stride"), each(dilation, space, "dilation")
    if padding == "same":
        if any(n != 1 for n in stride):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        sides = _same_padding(size, dilation)
    elif padding == "valid":
        sides = []
    else:
        sides = [n for n in reversed(each(padding, space, "padding")) for _ in range(2)]
    if any(sides):
        input = ops._pad(input, tuple(sides), 0)
    _check_reach(input, size, dilation, space, sides)
    found = _product(windows(input, size, stride, dilation, space), weight, groups, space)
    if bias is not None:
        found = ops.add(found, ops.view(bias, (-1, *[1] * space)))
    return ops.squeeze(found, 0) if single else found


def _product(seen: Any, weight: Any, groups: int, space: int) -> Any:
    """weight @ windows, with a column for each place."""
    batch, channels, *rest = facts(seen).shape
    places, window = rest[:space], rest[space:]
    order = (0, 1, *range(2 + space, 2 + 2 * space), *range(2, 2 + space))
    count = 1
    for n in places:
        count *= n
    inner = channels // groups
    for n in window:
        inner *= n
    features = facts(weight).shape[0]
    if groups == 1:
        columns = ops.reshape(ops.permute(seen, order), (batch, inner, count))
        found = ops.matmul(ops.reshape(weight, (features, inner)), columns)
    else:
        columns = ops.reshape(ops.permute(seen, order), (batch, groups, inner, count))
        rows = ops.reshape(weight, (groups, features // groups, inner))
        found = ops.matmul(rows, columns)
    return ops.reshape(found, (batch, features, *places))


def _check_convolution(
    space: int, input: TensorMeta, weight: TensorMeta, bias: Any, groups: int, single: bool
) -> None:
    shape = list(input.shape[1:] if single else input.shape)
    if input.ndim != space + 2:
        raise RuntimeError(
            f"Expected {space + 1}D (unbatched) or {space + 2}D (batched) input to conv{space}d, "
            f"but got input of size: {shape}"
        )
    if input.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input{shape} to have {weight.shape[1] * groups} channels, but got "
            f"{input.shape[1]} channels instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )
    if bias is not None and facts(bias).shape != (weight.shape[0],):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{weight.shape[0]} elements, but got bias of size {list(facts(bias).shape)} instead"
        )


def _check_reach(
    input: Any, size: Sequence[int], dilation: Sequence[int], space: int, sides: Sequence[int]
) -> None:
    have = facts(input).shape[2:]
    reach = tuple(d * (n - 1) + 1 for n, d in zip(size, dilation))
    if any(a < b for a, b in zip(have, reach)):
        padded, kernel = (" x ".join(map(str, sizes)) for sizes in (have, reach))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({padded}). Kernel size: ({kernel}). "
            "Kernel size can't be greater than actual input size"
        )


@composite("torch F")
def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Ints = 1,
    padding: Any = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


@composite("torch F")
def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Ints = 1,
    padding: Any = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


@composite("torch F")
def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Ints = 1,
    padding: Any = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Any:
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


@composite("torch")
def im2col(
    input: Any, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Any:
    """`F.unfold`: each window as a column."""
    sides = [n for n in reversed(each(padding, 2)) for _ in range(2)]
    if any(sides):
        input = ops._pad(input, tuple(sides), 0)
    seen = windows(input, each(kernel_size, 2), each(stride, 2), each(dilation, 2), 2)
    batch, channels, rows, columns, height, width = facts(seen).shape
    ordered = ops.permute(seen, (0, 1, 4, 5, 2, 3))
    return ops.reshape(ordered, (batch, channels * height * width, rows * columns))


# ---- pools ---------------------------------------------------------------------------------------


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
    shape = _pooled(f"max_pool{space}d", input, space)
    size, dilation = each(size, space), each(dilation, space)
    stride = size if stride is None or stride == () else each(stride, space)
    sides = _pool_sides(shape, size, stride, each(padding, space), dilation, ceil_mode)
    if any(sides):
        input = ops._pad(input, tuple(sides), -inf)
    return windows(input, size, stride, dilation, space), sides


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
    size = each(size, space)
    stride = size if stride is None or stride == () else each(stride, space)
    ones = (1,) * space
    sides = _pool_sides(shape, size, stride, around, ones, ceil_mode)

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
    return ops.div(total(input, sides), count)


@decomposed("torch F")
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


@composite("F")
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Averages over windows as equal as can be, so many along each axis."""
    shape = _pooled("adaptive_avg_pool2d", input, 2)
    wanted = [n if w is None else w for n, w in zip(shape, each(output_size, 2))]
    for axis, (n, w) in zip((-2, -1), zip(shape, wanted)):
        parts = [
            ops.mean(ops.slice(input, axis, k * n // w, -(-(k + 1) * n // w)), axis)
            for k in range(w)
        ]
        input = ops.stack(parts, axis)
    return input
