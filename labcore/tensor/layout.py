"""What a tensor's type, device, sizes and strides are, and whether it requires grad, as one object.

In: these, and which sizes the program has marked as dynamic or static.
Out: the `Layout` of all tensors that have these.
Invariant: equal layouts are one object as long as anybody holds it, so that a guard compares six
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
Key = tuple[tuple[int, ...], tuple[int, ...], dtypes.dtype, devices.device, Marks, bool]

UNMARKED: Marks = frozenset()

_known: weakref.WeakValueDictionary[Key, Layout] = weakref.WeakValueDictionary()
_lock = threading.Lock()


class Layout:
    """Strides are in elements."""

    __slots__ = (
        "__weakref__",
        "_recorded",
        "device",
        "dtype",
        "marks",
        "requires_grad",
        "shape",
        "stride",
    )

    def __init__(
        self,
        shape: Size,
        stride: tuple[int, ...],
        dtype: dtypes.dtype,
        device: devices.device,
        marks: Marks,
        requires_grad: bool,
    ) -> None:
        self.shape, self.stride, self.dtype, self.device = shape, stride, dtype, device
        self.marks, self.requires_grad = marks, requires_grad
        self._recorded: Layout | None = None  # what `requiring(True)` has found

    def __repr__(self) -> str:
        grad = ", requires_grad" if self.requires_grad else ""
        return f"Layout({self.shape}, {self.stride}, {self.dtype}, {self.device}{grad})"

    def marked(self, marks: Marks) -> Layout:
        """The same, with other marks."""
        return self._with(marks, self.requires_grad)

    def requiring(self, grad: bool) -> Layout:
        """The same, of a tensor that requires grad, or of one that does not."""
        if grad is self.requires_grad:
            return self
        if not grad:
            return self._with(self.marks, False)
        if self._recorded is None:  # kept, for every result of a recorded operator asks
            self._recorded = self._with(self.marks, True)
        return self._recorded

    def _with(self, marks: Marks, grad: bool) -> Layout:
        return layout_of(self.shape, self.stride, self.dtype, self.device, marks, grad)

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
    requires_grad: bool = False,
) -> Layout:
    key = tuple(shape), stride, dtype, device, marks, requires_grad
    with _lock:  # two threads that meet it at once get the same one
        found = _known.get(key)
        if found is None:
            found = _known[key] = Layout(Size(shape), stride, dtype, device, marks, requires_grad)
        return found
