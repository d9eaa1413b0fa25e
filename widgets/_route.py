"""The way of one call as legs, with its loops found.

In: legs in order, each a region and the stop behind it.  Out: the same with every row of equal
rounds told once, as a `Loop`.
Invariant: `unrolled(folded(legs)) == legs`: nothing is left out, only told shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_IN_ROUND = 12  # legs of one round of a loop
FEWEST_ROUNDS = 4  # fewer are shown one by one


@dataclass(frozen=True)
class Leg:
    """A region, by its variant's id ("" where CPython ran the frame), and the place it stopped at
    (None: it returned). `event` is the handover, `hit` whether the region was there before.
    """

    region: str
    stop: Any
    hit: bool = field(default=True, compare=False)
    event: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Loop:
    """`rounds` of legs (or loops) that go the same way; each round has its own handovers."""

    rounds: tuple[tuple[Step, ...], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loop) and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(self.shape)

    @property
    def shape(self) -> tuple[Any, ...]:
        return len(self.rounds), self.rounds[0]


Step = Leg | Loop


def folded(legs: Sequence[Step]) -> list[Step]:
    """Inner loops first: a round of the outer one may have loops in it."""
    steps = list(legs)
    for size in range(1, MOST_IN_ROUND + 1):
        steps = list(_fold(steps, size))
    return steps


def _fold(steps: list[Step], size: int) -> Iterator[Step]:
    at = 0
    while at < len(steps):
        count = _rounds(steps, at, size)
        if count >= FEWEST_ROUNDS:
            ends = [at + size * n for n in range(count + 1)]
            yield Loop(tuple(tuple(steps[a:b]) for a, b in zip(ends, ends[1:])))
            at = ends[-1]
        else:
            yield steps[at]
            at += 1


def _rounds(steps: list[Step], at: int, size: int) -> int:
    """How many times the `size` steps from `at` on come one after the other."""
    first, count = steps[at : at + size], 1
    if len(first) < size:
        return 0
    while steps[at + count * size : at + (count + 1) * size] == first:
        count += 1
    return count


def unrolled(steps: Sequence[Step]) -> Iterator[Leg]:
    """All legs, in order."""
    for step in steps:
        if isinstance(step, Leg):
            yield step
        else:
            for one in step.rounds:
                yield from unrolled(one)
