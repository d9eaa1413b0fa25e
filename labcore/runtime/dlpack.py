"""DLPack: a tensor on a card handed to another library, and taken from one, without a copy.

In: a `CardArray`, or a capsule of another library's.  Out: a capsule, or an array.
The layout of the structures is that of DLPack's header (dlpack.h, version 0.8): a tensor, whoever
manages it, and a function that lets go of it. Whoever takes a capsule renames it, and calls the
function once.
Invariant: memory that was handed out lives until its taker lets go; memory that was taken is let go
of when no array looks into it any more.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..dtypes import BY_NAME, dtype

CPU, CUDA = 1, 2
INT, FLOAT, BFLOAT, BOOL = 0, 2, 4, 6
CODES = {"i": INT, "f": FLOAT, "b": BOOL, "V": BFLOAT}  # numpy has no letter for bfloat16
TYPES = {(INT, 32): "int32", (INT, 64): "int64", (FLOAT, 32): "float32", (FLOAT, 64): "float64",
         (FLOAT, 16): "float16", (BFLOAT, 16): "bfloat16", (BOOL, 8): "bool"}
FRESH, TAKEN = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_is_valid = _api.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_rename = _api.PyCapsule_SetName
_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
_raw_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))

_given: dict[int, tuple] = {}  # what capsules need, by the address of their structure


@_Deleter
def _let_go(managed: Any) -> None:
    _given.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _unwanted(capsule: int) -> None:
    """A capsule died: if nobody took it, nobody else lets go."""
    if _is_valid(capsule, FRESH):
        _given.pop(_raw_pointer(capsule, FRESH), None)


def capsule_of(array: np.ndarray, address: int, device: int = CUDA) -> Any:
    """A capsule of an array on the card, or of one of the host's."""
    kind = array.dtype.kind
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*[s // array.itemsize for s in array.strides])
    type_ = CODES[kind], 8 * array.itemsize, 1
    managed = _Managed(
        _Tensor(address, device, 0, array.ndim, *type_, shape, strides, 0), None, _let_go)
    place = ctypes.addressof(managed)
    _given[place] = (managed, shape, strides, array)
    return _new(place, FRESH, ctypes.cast(_unwanted, ctypes.c_void_p))


class Foreign:
    """Memory of another library's, seen by numpy through the interface."""

    def __init__(self, interface: dict[str, Any], owner: Any, driver: Any) -> None:
        self.__array_interface__ = interface
        self.owner, self.driver = owner, driver


class _Owner:
    def __init__(self, managed: Any) -> None:
        self.managed = managed

    def __del__(self) -> None:
        if self.managed.contents.deleter:
            self.managed.contents.deleter(self.managed)


def interface_of(capsule: Any, device: int = CUDA) -> tuple[dict[str, Any], Any, dtype]:
    """What numpy has to know of a capsule's tensor, whoever keeps it, and the type, which numpy may
    not know; the capsule is taken. Raises TypeError for what is not on a card (or elsewhere than on
    the `device`), or of a type the lab does not compute with."""
    managed = ctypes.cast(_pointer(capsule, FRESH), ctypes.POINTER(_Managed))
    t = managed.contents.tensor
    name = TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if t.device_type != device or name is None:
        what = f"device type {t.device_type}, type code {t.code} of {t.bits} bits"
        where = "cuda" if device == CUDA else "cpu"
        raise TypeError(f"from_dlpack() takes tensors on '{where}' of {', '.join(TYPES.values())}, "
                        f"and this one has {what}")
    found, shape = BY_NAME[name], tuple(t.shape[k] for k in range(t.ndim))
    steps = [1] * t.ndim
    for k in reversed(range(t.ndim - 1)):
        steps[k] = steps[k + 1] * shape[k + 1]
    if t.strides:
        steps = [t.strides[k] for k in range(t.ndim)]
    _rename(capsule, TAKEN)
    return {
        "data": ((t.data or 0) + t.byte_offset, False), "shape": shape,
        "typestr": "<u2" if found.is_half else found.numpy.str,
        "strides": tuple(s * found.itemsize for s in steps), "version": 3,
    }, _Owner(managed), found
