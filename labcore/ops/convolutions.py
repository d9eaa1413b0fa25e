"""Convolutions: `conv1d conv2d conv3d`.

In: (batch, channels, one to three axes of space).  Out: the same, with other channels and sizes.
Invariant: a convolution is a matrix product with the windows, laid out as a matrix.
PyTorch hands convolutions to oneDNN or cuDNN; its own fallback does what is done here (im2col).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph import TensorMeta
from . import linear  # noqa: F401  its product
from .derivatives import meta_of as facts
from .op import Table
from .parts import composite
from .windows import Ints, each, windows

ops = Table()

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
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(weight.shape)} instead"
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
