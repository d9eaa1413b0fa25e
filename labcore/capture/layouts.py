"""Which sizes and strides of a tensor are symbols, and the guards on all of them.

In: a tensor of the call, and what is known to vary.  Out: its meta, in symbols where it varies.
Invariant: sizes of 0 and 1 are constants (they mean other things: nothing to do, broadcasting), so
a symbol is at least 2. Where all sizes are symbols from the start, equal ones share one, under a
guard that they stay equal; a size that is one since it varied has its own. A stride that follows
from the sizes is written in terms of them, as that of a contiguous tensor is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..graph import TensorMeta
from ..guards import Source, kinds
from ..shapes import SymInt
from ..tensor import Tensor
from ..tensor.marks import mark_of
from .marked import LEAST
from .numbers import Numbers


def varies(numbers: Numbers, source: Source, tensor: Tensor) -> bool:
    """Is any size or stride of an input a symbol?"""
    axes = range(len(tensor.shape))
    return any(
        _is_symbol(numbers, source, tensor, axis) or _stride_varies(numbers, source, tensor, axis)
        for axis in axes
    )


def layout(
    numbers: Numbers, source: Source, tensor: Tensor, home: str, key: str = ""
) -> TensorMeta:
    """The meta of an input, its layout guarded."""
    rank, builder = len(tensor.shape), numbers.builder
    chosen = [_is_symbol(numbers, source, tensor, axis) for axis in range(rank)]
    steps = [_stride_varies(numbers, source, tensor, axis) for axis in range(rank)]
    if not any(chosen) and not any(steps):
        builder.add(kinds.size_match(source.name, home, tensor, builder.origin, key))
        builder.add(kinds.stride_match(source.name, home, tensor, builder.origin, key))
        return tensor.meta
    symbolic = {axis: _ends(tensor, axis) for axis in range(rank) if chosen[axis]}
    builder.add(kinds.some_sizes(source.name, home, tensor, symbolic, builder.origin))
    shape: tuple[Any, ...] = tuple(
        _size(numbers, source, tensor, axis) if chosen[axis] else tensor.shape[axis]
        for axis in range(rank)
    )
    stride = _strides(numbers, source, tensor, shape, steps)
    wanted = tuple(numbers.in_check(step) for step in stride)
    seen = tuple(None if isinstance(step, SymInt) else step for step in stride)
    words = tuple(numbers.in_words(step) for step in stride)
    builder.add(kinds.strides_follow(source.name, home, wanted, seen, words, builder.origin))
    return replace(tensor.meta, shape=shape, stride=stride)


def size_source(source: Source, axis: int) -> Source:
    return Source(f"{source.name}.size()[{axis}]", f"{{}}.shape[{axis}]", source)


def stride_source(source: Source, axis: int) -> Source:
    return Source(f"{source.name}.stride()[{axis}]", f"{{}}._stride[{axis}]", source)


def _size(numbers: Numbers, source: Source, tensor: Tensor, axis: int) -> SymInt:
    """A size that was marked or has varied is nobody else's."""
    where = size_source(source, axis)
    own = mark_of(tensor, axis).kind or where.name in numbers.varying.symbols
    return numbers.size(where, tensor.shape[axis], *_ends(tensor, axis), shared=not own)


def _ends(tensor: Tensor, axis: int) -> kinds.Ends:
    """Between which sizes an axis of the variant varies."""
    mark = mark_of(tensor, axis)
    return max(LEAST, mark.low or 0), mark.high


def _is_symbol(numbers: Numbers, source: Source, tensor: Tensor, axis: int) -> bool:
    mark, name, size = mark_of(tensor, axis), size_source(source, axis).name, tensor.shape[axis]
    if mark.kind == "dynamic" and (size >= LEAST or mark.ends):
        numbers.marked.add(name, mark, size, numbers.builder.origin)
    if size < LEAST or mark.kind == "static" or not mark.allows(size):
        return False
    return bool(mark.kind) or numbers.varying.everything or name in numbers.varying.symbols


def _stride_varies(numbers: Numbers, source: Source, tensor: Tensor, axis: int) -> bool:
    varies = stride_source(source, axis).name in numbers.varying.symbols
    return varies and tensor._stride[axis] >= LEAST


def _strides(
    numbers: Numbers, source: Source, tensor: Tensor, shape: tuple[Any, ...], varies: list[bool]
) -> tuple[Any, ...]:
    """From the smallest on: what follows from the axes within, a symbol, or a constant."""
    found: dict[int, Any] = {}
    follow: dict[int, Any] = {}  # the value of a product of a stride and its size -> the product
    axes = sorted(range(len(shape)), key=lambda axis: (tensor._stride[axis], -axis))
    for axis in axes:
        step = tensor._stride[axis]
        if step in follow and step >= LEAST:
            found[axis] = follow[step]
        elif varies[axis]:
            where = stride_source(source, axis)
            found[axis] = numbers.size(where, step, LEAST, None, shared=False)
        else:
            found[axis] = step
        follow.setdefault(step * tensor.shape[axis], found[axis] * shape[axis])
    return tuple(found[axis] for axis in range(len(shape)))
