"""Does compiling pay? Four hand calculations.

In: times in seconds, counts.  Out: what they come to.
Invariant: times may be in any unit, as long as it is the same one. A model, all of it: launches and
computing add up, a step takes as long as the last one, nothing overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf


@dataclass(frozen=True)
class Launches:
    """`kernels` that compute for `compute` in all, each of them launched at a price."""

    kernels: int
    compute: float

    def total(self, launch: float) -> float:
        return self.compute + self.kernels * launch


def speedup(before: Launches, after: Launches, launch: float) -> float:
    """How many times faster: a property of both programs and of the launch. As launches get dearer
    it nears the ratio of their numbers."""
    return before.total(launch) / after.total(launch)


def break_even(compiling: float, eager: float, compiled: float) -> float:
    """The step at which a compiled run has caught up; `inf` where a step is no faster. Raises
    ValueError for a time below zero."""
    if min(compiling, eager, compiled) < 0:
        raise ValueError("a time below zero: compiling, eager and compiled are all durations")
    if compiling == 0:
        return 0
    # Rounded where the clock ends: 12 / (0.1 - 0.07) is 400 and not 400.0000000000001.
    return ceil(round(compiling / (eager - compiled), 6)) if eager > compiled else inf


def ahead(steps: int, compiling: float, eager: float, compiled: float) -> float:
    """The time won after so many steps; below zero, what is still owed."""
    return steps * (eager - compiled) - compiling


def static_overtakes(
    variants: int, each: float, dynamic: float, static_step: float, dynamic_step: float
) -> float:
    """From which step on a variant for each size beats one variant for all, whose step is slower;
    0 if from the first one on, `inf` if never."""
    return break_even(max(0.0, variants * each - dynamic), dynamic_step, static_step)


def crossings(breaks: int, each: float, iterations: int) -> float:
    """What leaving compiled code costs in a whole run."""
    return breaks * each * iterations
