"""Which card there is, and who is told what is launched on it.

In: `use_simulator`, and a note of every launch.  Out: the launches, to those that record.
Invariant: without a card of any kind there is no tensor on "cuda", so no launch.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..devices import device as device

if TYPE_CHECKING:
    from ..simulator import Launch


class _Recorders(threading.local):
    def __init__(self) -> None:
        self.lists: list[list[Launch]] = []
        self.block: int | None = None


_recorders = _Recorders()


def use_simulator(wanted: bool) -> None:
    """From now on tensors on "cuda" live in the simulator's memory; or nowhere."""
    device.simulated = wanted


def note(launch: Launch) -> None:
    for found in _recorders.lists:
        found.append(launch)


def watched() -> int | None:
    """The block of each launch whose requests are kept, one by one; None for none."""
    return _recorders.block


@contextmanager
def recording(found: list[Launch], watch: int | None) -> Iterator[None]:
    """Launches of this thread made inside are appended."""
    before = _recorders.block
    _recorders.lists.append(found)
    _recorders.block = watch if watch is not None else before
    try:
        yield
    finally:
        _recorders.lists = [each for each in _recorders.lists if each is not found]
        _recorders.block = before
