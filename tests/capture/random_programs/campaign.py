"""Thousands of random programs, with a summary of what they tested.

`python -m tests.capture.random_programs.campaign [--programs N] [--seed S] [--jobs J]`: runs the
programs of the seeds S to S + N - 1 and prints each difference with the smallest program that shows
it.  Ends with 1 if there was one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

from .comparing import Difference, Overtime, Tally, difference, stopping_anywhere
from .program import program
from .shrinking import shrunk

TOP = 25


@dataclass(frozen=True)
class Way:
    """How a seed's program is compiled and called."""

    backend: str
    often: float  # how often a region ends where it need not
    recorded: bool
    fullgraph: bool = False

    @classmethod
    def of(cls, seed: int) -> Way:
        random = Random(f"way {seed}")
        backend = random.choices(("eager", "aot_eager", "inductor"), (95, 4, 1))[0]
        often = random.choice((0.0, 0.0, 0.0, 0.2, 0.9))
        recorded = random.random() < 0.5
        if random.random() < 0.06:
            return cls(backend, 0.0, False, fullgraph=True)
        return cls(backend, often, recorded)


def run(
    source: str, seed: int, tally: Tally | None = None, way: Way | None = None
) -> Difference | None:
    """Compare the two worlds, in the way of that seed if none is given."""
    way = way or Way.of(seed)
    anywhere = stopping_anywhere(Random(seed), way.often) if way.often else contextlib.nullcontext()
    with anywhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return difference(source, way.backend, tally, way.recorded, way.fullgraph)
        except Overtime:
            if tally is not None:
                tally.overtime += 1
            return None


def explain(seed: int, found: Difference) -> str:
    """The difference, and the smallest program that shows one of its kind."""

    def still(source: str) -> bool:
        try:
            again = run(source, seed)
        except Exception:
            return False
        return again is not None and again.sort == found.sort

    small = shrunk(program(seed), still)
    again = run(small, seed) or found
    return f"seed {seed}, {Way.of(seed)}\n{again}\n{small}\n"


def chunk(first: int, last: int) -> tuple[Tally, list[tuple[int, str]]]:
    tally, found = Tally(), []
    for seed in range(first, last):
        other = run(program(seed), seed, tally)
        if other is not None:
            found.append((seed, explain(seed, other)))
    return tally, found


def campaign(programs: int, seed: int, jobs: int) -> int:
    start, total, differences = time.perf_counter(), Tally(), 0
    firsts = range(seed, seed + programs, 50)
    with ProcessPoolExecutor(jobs) as pool:
        lasts = [min(first + 50, seed + programs) for first in firsts]
        for tally, found in pool.map(chunk, firsts, lasts):
            total += tally
            differences += len(found)
            for _, text in found:
                print(text, flush=True)
    print(total.text(TOP))
    print(f"{differences} differences in {time.perf_counter() - start:.0f} s, from seed {seed}")
    return int(bool(differences))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    examples = int(os.environ.get("LAB_FUZZ_EXAMPLES", "3000"))
    parser.add_argument("--programs", type=int, default=examples)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    return campaign(given.programs, given.seed, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
