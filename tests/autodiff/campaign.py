"""Thousands of random programs that write in place, and gradients of thousands.

`python -m tests.autodiff.campaign [--writes N] [--gradients N] [--seed S] [--jobs J]`: the programs
of the seeds from S on. Prints each difference with its program, then one line for each of the two.
Ends with 1 if there was a difference.

writes     eager against compiled, in everything that can be observed, for sizes that change; one in
           twenty on backend "inductor", the others half and half on "eager" and "aot_eager"; one
           in five with derivatives of its own
gradients  in double precision, of both compilers against eager mode, and of all against differences
           of the values; one in fifty in machine code, the others as the Python that kernels are
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from random import Random

import labcore as torch
from labcore.autodiff import AutodiffOptions, run_by_operators
from labcore.codegen import compile_graph
from labcore.compiler import reset

from . import mutation
from .programs import SHAPES, Program
from .test_gradients import check as check_gradients, fused_as_python

CHUNK = 25

# Steps with derivatives of their own, wrong ones, so that they show; and what they stand in for.
STEPS = """\
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0.5

    @staticmethod
    def backward(ctx, g):
        return g * 3

class Masked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sin()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        h = g * x.cos()
        h[y > 0.5] = 0
        return h + g * y

"""
INSTEAD = {
    r"= (\w+) \* 0\.5 \+ 1$": r"= Scaled.apply(\1)",
    r"= (\w+)\.(?:exp|clone)\(\)$": r"= Masked.apply(\1)",
    r"= (\w+) \* (\w+)$": r"= Masked.apply(\1) * Scaled.apply(\2)",
}


def write(seed: int) -> None:
    """Raises AssertionError, with the program, where compiled is not eager."""
    backend = "inductor" if seed % 20 == 0 else ("eager", "aot_eager")[seed % 2]
    program = mutation.generate(seed)
    mutation.check(with_own_steps(program) if seed % 5 == 3 else program, backend)


def with_own_steps(program: mutation.Program) -> mutation.Program:
    """The program with a Function in some places of operators."""
    text = program.text
    for operator, step in INSTEAD.items():
        text = re.sub(operator, step, text, flags=re.MULTILINE)
    return replace(program, text=STEPS + text)


def gradient(seed: int) -> None:
    """The same for the gradients of a program that has some."""
    random = Random(f"gradient {seed}")
    while True:
        program = random_program(random)
        try:
            if check_gradients(program, _compilers(seed, random), seed):
                return
        except Exception as error:
            error.add_note(f"{program}")
            raise


def _compilers(seed: int, random: Random) -> list:
    budget = AutodiffOptions("min_cut", random.choice((0.0, 0.5, 1.0)))
    fused = compile_graph if seed % 50 == 0 else fused_as_python
    return [(run_by_operators, AutodiffOptions()), (fused, budget)]


def random_program(random: Random) -> Program:
    """Three to nine steps, through each of which a gradient may flow."""

    def number() -> int:
        return random.randint(0, 20)

    inputs = [(random.choice(SHAPES), random.random() < 0.7) for _ in range(random.randint(1, 3))]
    steps = [
        (random.randrange(3), number(), number(), number()) for _ in range(random.randint(3, 9))
    ]
    return Program(
        tuple(inputs), tuple(steps), tuple(number() for _ in range(random.randint(1, 4)))
    )


def chunk(run: Callable[[int], None], first: int, last: int) -> list[str]:
    """What differs, in words."""
    os.environ["LAB_CACHE"] = "0"
    torch.set_default_dtype(torch.float64 if run is gradient else torch.float32)
    found = []
    for seed in range(first, last):
        try:
            run(seed)
        except Exception as error:
            found.append(
                f"{run.__name__}, seed {seed}\n{''.join(traceback.format_exception(error))}"
            )
    reset()
    return found


def campaign(run: Callable[[int], None], count: int, seed: int, jobs: int) -> int:
    """How many differ."""
    start, differences = time.perf_counter(), 0
    firsts = range(seed, seed + count, CHUNK)
    lasts = [min(first + CHUNK, seed + count) for first in firsts]
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(chunk, [run] * len(firsts), firsts, lasts):
            differences += len(found)
            print("\n".join(found), end="", flush=True)
    seconds = time.perf_counter() - start
    print(
        f"{run.__name__}s: {count} programs, {differences} differences in {seconds:.0f} s, "
        f"from seed {seed}",
        flush=True,
    )
    return differences


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    examples = os.environ.get("LAB_FUZZ_EXAMPLES")
    parser.add_argument("--writes", type=int, default=int(examples or 2000))
    parser.add_argument("--gradients", type=int, default=int(examples or 5000))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    found = campaign(write, given.writes, given.seed, given.jobs)
    found += campaign(gradient, given.gradients, given.seed, given.jobs)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
