"""A grid of threads without a card: runs a kernel's text, counts, and finds what is wrong with it.

    machine.py     a launch: grid, blocks, what was counted
    interpret.py   the text, statement by statement, for all threads of some blocks in lockstep
    lanes.py       where a thread is, which threads take part, barriers and shuffles
    memory.py      global, shared and local memory: bounds, sectors, banks
    tracker.py     who touched what last: races
    words.py       the words of the text on vectors

In: the text that `codegen/cuda` prints, arrays and numbers.  Out: the arrays, written as a card
would write them, and a `Launch`. What a card does not say is an error here: see errors.py.
Nothing of the project but numpy is needed to run a text. It says nothing about time. numba has a
simulator, too, one Python thread a CUDA thread and without shuffles, which is about to be dropped.
"""

from __future__ import annotations

from .errors import (
    DivergentBarrier as DivergentBarrier,
    GridError as GridError,
    Misaligned as Misaligned,
    NotConstant as NotConstant,
    OutOfBounds as OutOfBounds,
    Race as Race,
    Uninitialised as Uninitialised,
    Unsupported as Unsupported,
)
from .machine import Launch as Launch, launch as launch
from .memory import Access as Access, Traffic as Traffic
