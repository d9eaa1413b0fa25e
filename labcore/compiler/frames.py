"""Compile ids: `frame/variant`, one frame number for each code object.

Invariant: frames are numbered from 0 in the order of their first call; `reset()` starts again at 0.
"""

from __future__ import annotations

import threading
from types import CodeType


class FrameId:
    """A code object's number, and how many variants it was given."""

    def __init__(self, number: int, code: CodeType) -> None:
        self.number, self.variants = number, 0
        self.code = code  # kept alive, so that its id stays its own

    def next_variant(self) -> str:
        """A new compile id."""
        with _lock:
            self.variants += 1
            return f"{self.number}/{self.variants - 1}"

    def give_back(self, compile_id: str) -> None:
        """Nothing came of it: the next variant may have the id."""
        with _lock:
            if compile_id == f"{self.number}/{self.variants - 1}":
                self.variants -= 1


_lock = threading.Lock()
_frames: dict[int, FrameId] = {}


def frame_of(code: CodeType) -> FrameId:
    with _lock:
        return _frames.setdefault(id(code), FrameId(len(_frames), code))


def reset() -> None:
    with _lock:
        _frames.clear()
