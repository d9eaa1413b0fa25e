"""Windows that slide over a tensor, as a view; and what is put around a tensor for them: `unfold`,
`pad`, `im2col`.

In: (batch, channels, one to three axes of space).  Out: all windows, or a tensor with padding.
Invariant: a window is a view: `unfold` reads one element in several windows, by strides alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import TensorMeta
from .arrays import empty, in_float32, meta_of, ndarray
from .derivatives import derivative, meta_of as facts
from .op import Table, naming, register
from .parts import check_no_bool, composite
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
register("_fold_windows", "other", in_float32(_fold_kernel, _fold), _fold)


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
    if mode != "circular":
        kernel = f"{mode.replace('reflect', 'reflection').replace('replicate', 'replication')}"
        check_no_bool(f"{kernel}_pad{len(pad) // 2}d", facts(input).dtype)
    for place in range(len(pad) // 2):
        axis, before, after = ndim - 1 - place, pad[2 * place], pad[2 * place + 1]
        size = facts(input).shape[axis]
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {axis} of input "
                f"{list(facts(input).shape)}"
            )
        if mode == "circular" and max(before, after) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        numbers = ops.arange(-before, size + after)
        input = ops.index_select(input, axis, _PLACES[mode](numbers, size))
    return input


_PLACES = {
    "replicate": lambda at, size: ops.clamp(at, 0, size - 1),
    "circular": lambda at, size: ops.remainder(at, size),
    "reflect": lambda at, size: ops.sub(size - 1, ops.abs(ops.sub(size - 1, ops.abs(at)))),
}


# ---- over space --------------------------------------------------------------------------------


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
