"""Thousands of random worlds: after each change, what was compiled gives what eager gives.

`python -m tests.guards.random_worlds.campaign [--worlds N] [--seed S] [--jobs J]`
Ends with 1 if there was a difference.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from unittest.mock import patch

import labcore as torch
from labcore.compiler import state
from labcore.compiler.points import Point
from labcore.trace import record

from .places import Kind
from .seeing import Seen
from .world import EVERY, World

CHANGES, LIMIT = 12, 64


@dataclass
class Tally:
    """How much was tested: `told` are changes after which eager gave something else."""

    worlds: int = 0
    changes: int = 0
    told: int = 0
    hits: int = 0
    unread: int = 0
    unread_hits: int = 0
    unchanged: int = 0
    unchanged_hits: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        for field in fields(self):
            name = field.name
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


class Misses:
    """Counts how often no variant fitted."""

    def __init__(self) -> None:
        self.count = 0

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        real = Point.add_variant

        def add_variant(point, *args):  # type: ignore[no-untyped-def]
            self.count += 1
            return real(point, *args)

        with patch.object(Point, "add_variant", add_variant):
            yield


@contextlib.contextmanager
def usual_state() -> Iterator[None]:
    """Whatever a world does to the lab is undone, and a contradiction is an error."""
    threads, before, state.strict = torch.get_num_threads(), state.strict, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        state.strict = before
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        torch.set_num_threads(threads)


def run(seed: int, tally: Tally, among: Sequence[Kind] = EVERY) -> str | None:
    """The first difference, in words."""
    with usual_state():
        world = World(seed, among)
        compiled = torch.compile(world.program, backend="eager", recompile_limit=LIMIT)
        misses, before, done = Misses(), None, []
        tally.worlds += 1
        for _ in range(CHANGES):
            text, noticed = world.change() if before is not None else ("", True)
            done.append(text)
            seen = Seen(world.scope)
            expected = seen(world.call(world.program))
            count = misses.count
            watched = record() if world.random.random() < 0.1 else contextlib.nullcontext()
            with misses.counted(), watched:
                found = seen(world.call(compiled))
            hit = misses.count == count
            tally.changes += 1
            tally.hits += hit
            tally.told += expected != before
            tally.unread += not noticed
            tally.unread_hits += not noticed and hit
            tally.unchanged += expected == before
            tally.unchanged_hits += expected == before and hit
            if expected != found:
                head, program = world.source.split("def make_program")
                changes = "\n".join(done)
                return (
                    f"seed {seed}\n{head.split(chr(10), 30)[-1]}\ndef make_program{program}\n"
                    f"-- changes --\n{changes}\n  eager:    {expected!r:.1500}\n"
                    f"  compiled: {found!r:.1500}\n"
                )
            before = expected
    return None


def chunk(first: int, last: int) -> tuple[Tally, list[str]]:
    tally = Tally()
    return tally, [text for seed in range(first, last) if (text := run(seed, tally))]


def campaign(worlds: int, seed: int, jobs: int) -> int:
    start, total, differences = time.perf_counter(), Tally(), 0
    firsts = range(seed, seed + worlds, 50)
    with ProcessPoolExecutor(jobs) as pool:
        for tally, found in pool.map(chunk, firsts, [min(n + 50, seed + worlds) for n in firsts]):
            total += tally
            differences += len(found)
            print("\n".join(found), end="", flush=True)
    print(total)
    print(f"{differences} differences in {time.perf_counter() - start:.0f} s, from seed {seed}")
    return int(bool(differences))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    examples = int(os.environ.get("LAB_FUZZ_EXAMPLES", "3000"))
    parser.add_argument("--worlds", type=int, default=examples)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    return campaign(given.worlds, given.seed, given.jobs)


if __name__ == "__main__":
    sys.exit(main())
