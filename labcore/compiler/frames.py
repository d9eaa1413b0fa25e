"""Compile ids: `frame/variant`, one frame number for each code object, and one for each place
inside of a function where a captured region begins.

Invariant: frames are numbered from 0 in the order of their first call; `reset()` starts again at 0.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import CodeType


class FrameId:
    """A place's number, and how many variants it was given."""

    def __init__(self, number: int, codes: tuple[CodeType, ...]) -> None:
        self.number, self.variants = number, 0
        self.codes = codes  # kept alive, so that their ids stay their own

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


class _Apart(threading.local):
    """The numbering of this thread, while it has one of its own."""

    frames: dict[Hashable, FrameId] | None = None


_lock = threading.Lock()
_frames: dict[Hashable, FrameId] = {}
_apart = _Apart()


def frame_of(code: CodeType) -> FrameId:
    return frame_at(id(code), (code,))


def frame_at(key: Hashable, codes: tuple[CodeType, ...]) -> FrameId:
    """The number of a place; `key` tells it by the ids of `codes`."""
    with _lock:
        frames = _frames if _apart.frames is None else _apart.frames
        return frames.setdefault(key, FrameId(len(frames), codes))


@contextmanager
def numbered_apart() -> Iterator[None]:
    """Number from 0/0 inside, in this thread: the same function compiled under several settings,
    to compare them, has the same ids each time, and those of the program outside go on."""
    before, _apart.frames = _apart.frames, {}
    try:
        yield
    finally:
        _apart.frames = before


def reset() -> None:
    with _lock:
        _frames.clear()
