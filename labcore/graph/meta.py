"""What is known of a tensor without its data.

Invariant: strides count elements, not bytes; a size of 1 keeps whatever stride the rules give it.
PyTorch propagates `FakeTensor`s, whole tensors without storage; five facts are enough here.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from .. import devices, dtypes
from ..shapes import SymNumber


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides. As in PyTorch, sizes of 0 count as 1 here."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Are these the same sizes? Tuples of different lengths would be compared item by item, and a
    symbolic size would leave a guard for nothing."""
    return len(a) == len(b) and a == b


@dataclass(frozen=True)
class TensorMeta:
    """Shape, strides (in elements), dtype, device and whether gradients are wanted.

    Sizes and strides may be SymInts, which compute and compare as ints do.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: dtypes.dtype
    device: devices.device = devices.cpu
    requires_grad: bool = False

    @staticmethod
    def contiguous(shape: Sequence[int], dtype: dtypes.dtype) -> TensorMeta:
        return TensorMeta(tuple(shape), contiguous_strides(shape), dtype)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Row-major; the stride of a size-1 axis does not matter, nor any stride of an empty
        tensor.
        """
        if 0 in self.shape:
            return True
        wanted = contiguous_strides(self.shape)
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.stride, wanted))

    def at(self, values: Mapping[str, Any]) -> TensorMeta:
        """The meta for these values of the symbols in its sizes and strides."""
        shape, stride = (
            tuple(n.evaluate(values) if isinstance(n, SymNumber) else n for n in part)
            for part in (self.shape, self.stride)
        )
        return replace(self, shape=shape, stride=stride)

    def with_grad(self, requires_grad: bool) -> TensorMeta:
        return replace(self, requires_grad=requires_grad)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"
