"""What can be wrong with a kernel, each as an exception that says where.

In: what the simulator saw.  Out: the error a learner reads: the kernel, its line with the user's
line beside it, the threads, the address, and what to do about it.
On a card nothing of this is an error: an address outside of an array reads what happens to lie
there, a race gives one result today and another tomorrow, a barrier that some threads miss waits
for ever. NVIDIA's compute-sanitizer (memcheck, racecheck, synccheck, initcheck) looks for the same.
"""

from __future__ import annotations


class GridError(RuntimeError):
    """Something that a kernel must not do."""


class OutOfBounds(GridError):
    """An address outside of the array."""


class Misaligned(GridError):
    """A word whose address is no multiple of its size."""


class Race(GridError):
    """Two threads use one address, one of them writes, and nothing orders the two."""


class NotConstant(GridError):
    """What is read through a pointer to const is written while the kernel runs."""


class DivergentBarrier(GridError):
    """Some threads of a block, or of a warp, wait for others that never come."""


class Uninitialised(GridError):
    """A cell of shared memory, or a register, that nobody has written is read."""


class Unsupported(GridError):
    """The text says something that the simulator does not know."""
