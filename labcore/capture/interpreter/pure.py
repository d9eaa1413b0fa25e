"""Which C functions may be called while capturing: they compute a plain value from plain values.

Invariant: what is pure looks at nothing but its arguments, changes nothing, and calls nobody.
PyTorch lists such functions one by one (`trace_rules.py`).
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import os
from types import BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from ...devices import device
from ...tensor.size import Size

MODULES = (math, cmath)
NAMES = (
    "abs ascii bin bool bytes chr complex divmod float format frozenset hash hex int len oct ord "
    "pow range repr round slice str"
)
TYPES = (int, float, complex, bool, str, bytes, range, slice, tuple, frozenset, type(None), Size)
OTHERS = (Size, device, os.fspath, operator.index, str.maketrans, bytes.maketrans)
_PURE = frozenset(map(id, [*(getattr(builtins, name) for name in NAMES.split()), *OTHERS]))


def is_pure(function: Any) -> bool:
    """May it be called with plain values while capturing?"""
    if id(function) in _PURE:
        return True
    kind = type(function)
    if kind is BuiltinFunctionType:  # of a module, or a class's own constructor: int.from_bytes
        owner = function.__self__
        return any(owner is module for module in MODULES) or any(owner is cls for cls in TYPES)
    if kind in (MethodDescriptorType, WrapperDescriptorType):  # str.upper
        return function.__objclass__ in TYPES
    return False
