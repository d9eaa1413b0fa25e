"""`Storage`: the memory that tensors are views of, and the count of writes to it.

In: a numpy array that owns, or looks into, some memory.  Out: that memory as one flat array, its
address, its version.
Invariant: tensors share memory exactly when they share their storage object (or, after `.data`, its
`memory`); every in-place operator counts `version` up, which is how a stale saved tensor is found
out. Memory of a card is a `DeviceArray`, which is where tensors have their device from. PyTorch's
storages can also grow and be freed early.
"""

from __future__ import annotations

import numpy as np

from labcore import devices

from .cuda import DeviceArray


class Storage:
    """Flat memory of one element type, with its version counter."""

    __slots__ = ("_array", "_memory", "inference", "unseen", "writes")

    def __init__(self, array: np.ndarray, inference: bool = False) -> None:
        self._array = array
        self._memory: np.ndarray | None = None  # flat; made when somebody asks
        self.writes = 0
        self.unseen = 0  # further ones, before anybody could save the tensor for a backward
        self.inference = (
            inference  # made under inference_mode: no versions, so never saved for a backward
        )

    @property
    def device(self) -> devices.device:
        return devices.cuda if isinstance(self._array, DeviceArray) else devices.cpu

    @property
    def version(self) -> int:
        """How often it was written."""
        return self.writes + self.unseen

    @property
    def memory(self) -> np.ndarray:
        """All elements in the order of their addresses."""
        if self._memory is None:
            self._memory = flat(self._array)
        return self._memory

    def data_ptr(self) -> int:
        """The address of the first element."""
        return address(self._array)

    def nbytes(self) -> int:
        return self.memory.nbytes

    def alias(self) -> Storage:
        """The same memory under a version counter of its own: what `.data` gives."""
        other = Storage(self._array, self.inference)
        other._memory = self.memory
        return other


def address(array: np.ndarray) -> int:
    """Where the first element lies."""
    return array.__array_interface__["data"][0]


def flat(array: np.ndarray) -> np.ndarray:
    """The addresses from the first to the last element as a 1-D array, gaps included."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    steps = zip(array.shape, array.strides)
    span = 1 + sum((n - 1) * s // array.itemsize for n, s in steps) if array.size else 0
    memory = array.view(np.ndarray)
    found = np.lib.stride_tricks.as_strided(memory, (span,), (array.itemsize,))
    return found.view(type(array))
