"""What a tensor's type, device, sizes and strides are, as one object.

In: shape, strides, dtype and device, and which sizes the program has marked as dynamic or static.
Out: the `Layout` of all tensors that have these.
Invariant: equal layouts are one object as long as anybody holds it, so that a guard compares five
properties by one identity. PyTorch compares each, in C++.
"""

from __future__ import annotations

import threading
import weakref
from typing import NamedTuple

from labcore import devices, dtypes

from .size import Size


class Mark(NamedTuple):
    """What was said of the size of an axis: `kind` is "dynamic", "maybe" or "static". One that is
    dynamic may be said to stay between two ends, which belong to it (None: no such end)."""

    axis: int
    kind: str
    low: int | None = None
    high: int | None = None

    def __str__(self) -> str:
        return f"{self.axis} {self.words}"

    @property
    def words(self) -> str:
        """What was said: "dynamic from 2 to 8"."""
        low = "" if self.low is None else f" from {self.low}"
        return self.kind + low + ("" if self.high is None else f" to {self.high}")

    @property
    def ends(self) -> list[int]:
        return [end for end in (self.low, self.high) if end is not None]

    @property
    def is_one(self) -> bool:
        """Is one size left?"""
        return self.low is not None and self.low == self.high

    def allows(self, size: int) -> bool:
        low, high = self.low, self.high
        return (low is None or low <= size) and (high is None or size <= high)


Marks = frozenset[Mark]  # one for an axis at most
Key = tuple[tuple[int, ...], tuple[int, ...], dtypes.dtype, devices.device, Marks]

UNMARKED: Marks = frozenset()

_known: weakref.WeakValueDictionary[Key, Layout] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class Layout:
    """Strides are in elements."""

    __slots__ = ("__weakref__", "device", "dtype", "marks", "shape", "stride")

    def __init__(
        self,
        shape: Size,
        stride: tuple[int, ...],
        dtype: dtypes.dtype,
        device: devices.device,
        marks: Marks,
    ) -> None:
        self.shape, self.stride, self.dtype, self.device = shape, stride, dtype, device
        self.marks = marks

    def __repr__(self) -> str:
        return f"Layout({self.shape}, {self.stride}, {self.dtype}, {self.device})"

    def marked(self, marks: Marks) -> Layout:
        """The same, with other marks."""
        return layout_of(self.shape, self.stride, self.dtype, self.device, marks)

    @property
    def hint(self) -> str:
        """A Python name that reminds of it: "float32_4x3"."""
        return f"{self.dtype.name}_{'x'.join(map(str, self.shape)) or 'scalar'}"


def layout_of(
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    dtype: dtypes.dtype,
    device: devices.device = devices.cpu,
    marks: Marks = UNMARKED,
) -> Layout:
    key = tuple(shape), stride, dtype, device, marks
    with _lock:  # two threads that meet it at once get the same one
        found = _known.get(key)
        if found is None:
            found = _known[key] = Layout(Size(shape), stride, dtype, device, marks)
        return found
