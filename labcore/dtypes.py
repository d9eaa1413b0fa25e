"""The element types: five `dtype` objects, one name each.

In: nothing.  Out: `float32 float64 int64 int32 bool` and the table that finds them.
Invariant: there is exactly one object per type, so types compare by `is`.
PyTorch has some forty (half precision, complex, quantized); these are the ones the lab computes
with.
"""
from __future__ import annotations

import numpy as np


class dtype:
    """An element type. `numpy` is its numpy type, `itemsize` is in bytes."""

    __slots__ = ("name", "numpy", "itemsize", "is_floating_point", "title")

    def __init__(self, name: str, title: str, numpy: np.dtype) -> None:
        self.name, self.title, self.numpy = name, title, numpy
        self.itemsize = numpy.itemsize
        self.is_floating_point = numpy.kind == "f"

    def __repr__(self) -> str:
        # The lab is imported `as torch`, so this text can be pasted back.
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # a copied or unpickled type is the very same object


float32 = dtype("float32", "Float", np.dtype(np.float32))
float64 = dtype("float64", "Double", np.dtype(np.float64))
int64 = dtype("int64", "Long", np.dtype(np.int64))
int32 = dtype("int32", "Int", np.dtype(np.int32))
bool = dtype("bool", "Bool", np.dtype(np.bool_))

# what a Python float becomes; read as `dtypes.default`, since `set_default_dtype` changes it
default = float32

ALL = (float32, float64, int64, int32, bool)
BY_NAME = {t.name: t for t in ALL}
_BY_NUMPY = {t.numpy: t for t in ALL}


def from_numpy(type_: np.dtype) -> dtype:
    """The lab's type for a numpy type.

    Raises TypeError for a numpy type that the lab does not compute with.
    """
    found = _BY_NUMPY.get(type_)
    if found is None:
        names = ", ".join(BY_NAME)
        raise TypeError(f"can't convert np.ndarray of type {type_}; supported types are: {names}")
    return found
