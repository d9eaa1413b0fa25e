"""How shapes join, and which strides a pointwise result gets.

In: shapes and strides of the operands.  Out: shape and strides of the result.
Invariant: strides are those of PyTorch's TensorIterator: operands that agree on an order of axes
hand it on to the result, so the result of an operation on transposed tensors is laid out
transposed. PyTorch also has channels-last as a named format.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import dtypes
from ..graph import TensorMeta, contiguous_strides, same_shape

Ints = tuple[int, ...]
NUMBER = TensorMeta((), (), dtypes.int64)  # a Python number, as an operand: no axes


def broadcast_shapes(*shapes: Sequence[int]) -> Ints:
    """The common shape: axes align at the right and a size of 1 stretches."""
    result: Ints = ()
    for shape in shapes:
        result = _broadcast_two(result, tuple(shape))
    return result


def _broadcast_two(a: Ints, b: Ints) -> Ints:
    if not b or same_shape(a, b):
        return a
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    for axis in reversed(range(ndim)):
        if a[axis] != b[axis] and a[axis] != 1 and b[axis] != 1:
            raise RuntimeError(
                f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) "
                f"at non-singleton dimension {axis}"
            )
    return tuple(m if n == 1 else n for n, m in zip(a, b))


def is_dense(shape: Ints, stride: Ints) -> bool:
    """Does every address between the first and the last element belong to exactly one element?"""
    if 0 in shape:
        return True
    step = 1
    for size, stride_ in sorted(
        ((n, s) for n, s in zip(shape, stride) if n != 1), key=lambda axis: axis[1]
    ):
        if stride_ != step:
            return False
        step *= size
    return True


def pointwise_strides(shape: Ints, operands: Sequence[TensorMeta]) -> Ints:
    """The strides of a pointwise result of `operands` (`NUMBER` for a Python number)."""
    if all(same_shape(m.shape, shape) for m in operands):
        if all(m.is_contiguous for m in operands):
            return contiguous_strides(shape)
        first = operands[0]
        if all(m.stride == first.stride for m in operands) and is_dense(shape, first.stride):
            return first.stride
    order = _axis_order(shape, [_stretched(m, shape) for m in operands])
    if order == list(reversed(range(len(shape)))):
        return contiguous_strides(shape)
    strides, step = [0] * len(shape), 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _stretched(meta: TensorMeta, shape: Ints) -> Ints:
    """The operand's strides in the common shape: 0 where it repeats."""
    missing = len(shape) - len(meta.shape)
    own = zip(meta.shape, meta.stride, shape[missing:])
    return (0,) * missing + tuple(0 if n == 1 and wanted != 1 else s for n, s, wanted in own)


def _axis_order(shape: Ints, strides: Sequence[Ints]) -> list[int]:
    """The axes, fastest first: an insertion sort, since two axes may not be comparable."""
    order = list(reversed(range(len(shape))))
    for start in range(1, len(order)):
        moving = start
        for place in reversed(range(start)):
            verdict = _compare(order[place], order[moving], shape, strides)
            if verdict > 0:
                order[place], order[moving] = order[moving], order[place]
                moving = place
            elif verdict < 0:
                break
    return order


def _compare(first: int, second: int, shape: Ints, strides: Sequence[Ints]) -> int:
    """1 when `first` must come after `second`, -1 when it stays before, 0 when no operand tells."""
    for stride in strides:
        a, b = stride[first], stride[second]
        if a == 0 or b == 0:
            continue  # a broadcast axis says nothing about the order
        if a != b:
            return -1 if a < b else 1
        if shape[first] > shape[second]:
            return 1
    return 0


def dense_strides(meta: TensorMeta) -> Ints:
    """The strides of a copy: the same where there are no gaps, else in the same order."""
    if is_dense(meta.shape, meta.stride):
        return meta.stride
    return pointwise_strides(meta.shape, [meta])
