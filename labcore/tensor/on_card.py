"""Memory of the card in use as tensors.

In: a layout.  Out: a tensor of it, uninitialised. Generated code makes its outputs and what lies in
between with it at each call, so what follows from a layout is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence

from labcore.dtypes import dtype as DType

from .cuda import card
from .tensor import Known, Tensor, learnt, wrap

MOST = 4096  # layouts that are remembered

_known: dict[tuple, tuple[tuple[int, ...], Known]] = {}


def empty_strided(shape: Sequence[int], stride: Sequence[int], dtype: DType) -> Tensor:
    """A tensor of this layout on the card, uninitialised. Raises OutOfMemory."""
    key = shape, stride, dtype
    found = _known.get(key)
    if found is None:
        steps = tuple([s * dtype.itemsize for s in stride])
        array = card().empty(shape, steps, dtype.numpy)
        if len(_known) > MOST:
            _known.clear()  # shapes that change on every call
        found = _known[key] = steps, learnt(array)
        return wrap(array, found[1])
    steps, known = found
    return wrap(card().empty(shape, steps, dtype.numpy), known)
