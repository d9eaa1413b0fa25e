"""Who is told what is launched on a card.

In: a note of every launch.  Out: the launches, to those that record, in this thread.
Invariant: with nobody recording, a launch costs one look at `listening.on`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Launched:
    """A launch on a card of silicon, which counts no accesses."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]


class _Recorders(threading.local):
    """`on`: is anybody listening? `lists` get launches, `steps` what a replay would make again."""

    on = False

    def __init__(self) -> None:
        self.lists: list[list[Any]] = []
        self.steps: list[Any] | None = None
        self.block: int | None = None


listening = _Recorders()


def note(launch: Any, step: Any = None) -> None:
    """A launch, and how it would be made again."""
    for found in listening.lists:
        found.append(launch)
    if listening.steps is not None:
        listening.steps.append(step)


def recorded() -> list[Any] | None:
    """The steps of the replay that is being recorded; None if none is."""
    return listening.steps


def watched() -> int | None:
    """The block of each launch whose requests are kept, one by one; None for none."""
    return listening.block


@contextmanager
def recording(found: list[Any], watch: int | None) -> Iterator[None]:
    """Launches of this thread made inside are appended."""
    before = listening.block, listening.on
    listening.lists.append(found)
    listening.on = True
    listening.block = watch if watch is not None else listening.block
    try:
        yield
    finally:
        listening.lists = [each for each in listening.lists if each is not found]
        listening.block, listening.on = before


@contextmanager
def recording_steps(steps: list[Any]) -> Iterator[None]:
    """All that is done on the card inside is noted, to be done again."""
    before = listening.steps, listening.on
    listening.steps, listening.on = steps, True
    try:
        yield
    finally:
        listening.steps, listening.on = before
