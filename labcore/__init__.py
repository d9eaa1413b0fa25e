"""The lab: a small, real `torch.compile`, to be imported `as torch`.

In: nothing.  Out: PyTorch's names for the part of it that exists here.
Invariant: importing this loads numpy, the operators and the tensors; the compiler, the trace and
whatever they need (numba, matplotlib) are loaded when first asked for.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from labcore import ops as _ops
from labcore.devices import device as device
from labcore.dtypes import (
    bfloat16 as bfloat16,
    bool as bool,
    dtype as dtype,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int32 as int32,
    int64 as int64,
)
from labcore.tensor import *  # noqa: F403
from labcore.tensor import missing as _missing
from labcore.tensor.several import FUNCTIONS as _FUNCTIONS

__version__ = "0.1.0"

half, float, double, int, long = float16, float32, float64, int32, int64

# Operators whose PyTorch form is a method only, or no public name at all.
_NOT_PUBLIC = {"contiguous", "copy", "expand", "slice", "to", "view"}

for _name, _op in _ops.OPS.items():
    _public = "torch" in _op.homes and not _name.startswith("_") and _op.kind != "inplace"
    if _public and _name not in _NOT_PUBLIC:
        globals().setdefault(
            _name, _op
        )  # what `labcore.tensor` spells out (`zeros`, `arange`) stays

globals().update(_FUNCTIONS)

# Name -> the module it is, or the module and the name in it.
_LAZY: dict[str, tuple[str, str | None]] = {
    "compile": ("labcore.compiler", "compile"),
    "compiler": ("labcore.compiler", None),
    "cuda": ("labcore.cuda", None),
    "_dynamo": ("labcore.compiler._dynamo", None),
    "library": ("labcore.library", None),
    "nn": ("labcore.nn", None),
    "optim": ("labcore.optim", None),
    "trace": ("labcore.trace", None),
    "testing": ("labcore.testing", None),
    "utils": ("labcore.utils", None),
}


def __getattr__(name: str) -> Any:
    """The rooms that are loaded on first use."""
    found = _LAZY.get(name)
    if found is None:
        said = _missing.text("module 'labcore'", name, tuple(__dir__()))
        raise AttributeError(said, name=name, obj=sys.modules[__name__])
    module = importlib.import_module(found[0])
    value = module if found[1] is None else getattr(module, found[1])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
