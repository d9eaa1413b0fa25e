"""What a program says about itself.

A program without a mark is captured whole: one region, no graph break.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

Program = TypeVar("Program", bound=Callable)


def breaks(*ids: str) -> Callable[[Program], Program]:
    """The first call breaks for exactly these reasons, in this order, and that is as it should
    be."""

    def mark(program: Program) -> Program:
        program.breaks = ids  # type: ignore[attr-defined]
        return program

    return mark


def pending(why: str, since: tuple[int, ...] = (3, 11)) -> Callable[[Program], Program]:
    """Not captured whole yet, on Pythons `since` that one. Who makes it pass takes the mark away:
    the test is strict."""

    def mark(program: Program) -> Program:
        if sys.version_info >= since:
            program.pending = why  # type: ignore[attr-defined]
        return program

    return mark
