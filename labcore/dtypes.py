"""The element types: seven `dtype` objects, one name each.

In: nothing.  Out: `float32 float64 float16 bfloat16 int64 int32 bool` and the table that finds
them.
Invariant: there is exactly one object per type, so types compare by `is`. The two halves are types
of memory: whatever computes with them computes in float32, and rounds its result once.
numpy has no bfloat16; the one of `ml_dtypes` is loaded when the first such array is made.
PyTorch has some forty (complex, eight bits, quantized); these are the ones the lab computes with.
"""
from __future__ import annotations

from typing import Any

import numpy as np


class dtype:
    """An element type. `numpy` is its numpy type, `itemsize` is in bytes; `is_half`: two of them,
    for a float."""

    __slots__ = ("name", "numpy", "itemsize", "is_floating_point", "is_half", "title")

    numpy: np.dtype

    def __init__(self, name: str, title: str, itemsize: int) -> None:
        self.name, self.title, self.itemsize = name, title, itemsize
        self.is_floating_point = "float" in name
        self.is_half = self.is_floating_point and itemsize == 2

    def __getattr__(self, name: str) -> Any:
        """`numpy`, at the first time that somebody asks for it."""
        if name != "numpy":
            raise AttributeError(f"'dtype' object has no attribute {name!r}")
        if self.name == "bfloat16":
            from ml_dtypes import bfloat16 as scalar

            found = np.dtype(scalar)
        else:
            found = np.dtype(self.name)
        self.numpy = found
        return found

    def __repr__(self) -> str:
        # The lab is imported `as torch`, so this text can be pasted back.
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # a copied or unpickled type is the very same object


float32 = dtype("float32", "Float", 4)
float64 = dtype("float64", "Double", 8)
float16 = dtype("float16", "Half", 2)
bfloat16 = dtype("bfloat16", "BFloat16", 2)
int64 = dtype("int64", "Long", 8)
int32 = dtype("int32", "Int", 4)
bool = dtype("bool", "Bool", 1)

# what a Python float becomes; read as `dtypes.default`, since `set_default_dtype` changes it
default = float32

ALL = (float32, float64, float16, bfloat16, int64, int32, bool)
HALVES = (float16, bfloat16)
WHOLE = tuple(t for t in ALL if not t.is_half)  # those that numpy computes in
BY_NAME = {t.name: t for t in ALL}
_BY_NUMPY = {t.numpy: t for t in WHOLE}


def from_numpy(type_: np.dtype) -> dtype:
    """The lab's type for a numpy type.

    Raises TypeError for a numpy type that the lab does not compute with.
    """
    found = _BY_NUMPY.get(type_) or _half(type_)
    if found is None:
        names = ", ".join(BY_NAME)
        raise TypeError(f"can't convert np.ndarray of type {type_}; supported types are: {names}")
    return found


def _half(type_: np.dtype) -> dtype | None:
    """A half that nobody has asked for before."""
    if type_.itemsize != 2 or type_.name not in (t.name for t in HALVES):
        return None
    found = BY_NAME[type_.name]
    if found.numpy != type_:
        return None
    _BY_NUMPY[type_] = found
    return found


def computed_in(type_: dtype) -> dtype:
    """What is computed in where a result is of this type: float32 for halves."""
    return float32 if type_.is_half else type_
