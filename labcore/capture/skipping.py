"""Frames that CPython runs although their callees are captured.

In: a code object, from `disable(recursive=False)` or `skip_frame()`.  Out: every tensor operator
of its own is a break, and nothing else is.
Invariant: a code object is known by its identity, and is not kept alive by being known here.
PyTorch's frame hook leaves such a frame alone and is asked again for each function that it calls;
here its Python is read all the same, to get to those calls.
"""

from __future__ import annotations

from types import CodeType
from weakref import WeakValueDictionary

_disabled: WeakValueDictionary[int, CodeType] = WeakValueDictionary()
_skipped: WeakValueDictionary[int, CodeType] = WeakValueDictionary()


class CaptureAgain(Exception):
    """What was captured of a region so far rests on something that is true no more."""


def disable_code(code: CodeType) -> None:
    """Skip frames of this code for good."""
    _disabled[id(code)] = code


def skip_code(code: CodeType) -> None:
    """Skip frames of this code until `reset()`."""
    _skipped[id(code)] = code


def is_skipped(code: CodeType) -> bool:
    key = id(code)
    return _disabled.get(key) is code or _skipped.get(key) is code


def forget() -> None:
    _skipped.clear()
