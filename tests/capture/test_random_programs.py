"""Random programs of whole Python, eager against compiled. `make fuzz` runs thousands."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from .random_programs.campaign import Way, run
from .random_programs.comparing import Tally
from .random_programs.program import program
from .random_programs.shrinking import shrunk
from .random_programs.worlds import World, compiled_source

PROGRAMS, CHUNK = 120, 40


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_random_programs(first):
    tally = Tally()
    for seed in range(first, first + CHUNK):
        source = program(seed)
        found = run(source, seed, tally, replace(Way.of(seed), backend="eager"))
        assert found is None, f"seed {seed}\n{source}\n{found}"
    assert tally.programs == CHUNK and not tally.overtime
    assert tally.graphs > CHUNK  # they compute something


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_random_programs_on_other_backends(backend):
    for seed in range(3):
        found = run(program(seed), seed, way=Way(backend, 0.0, False))
        assert found is None, f"seed {seed}\n{program(seed)}\n{found}"


MODULE = """
LOG, WEIGHT = [], torch.ones(2)
def between(n):
    pass
def inputs(n):
    return (WEIGHT * n, n, LOG, {"a": WEIGHT}), {}
"""
# What a run tells apart: if one of these two were compiled as the other, it would be seen.
TOLD_APART = {
    "value": ("return x + 1", "return x + 2"),
    "type": ("return n == 1", "return 1"),
    "identity": ("return [x, x]", "return [x, x.clone()]"),
    "sharing": ("return x, x[:]", "return x, x.clone()"),
    "mutation": ("log.append(n)", "log.insert(0, n)"),
    "events": ("note(log); log.append(x)", "log.append(x); note(log)"),
    "printed": ("print(n)", "print(n + 1)"),
    "error": ("raise ValueError(n)", "raise ValueError(str(n))"),
    "context": (
        "try: log[9]\n    except IndexError: raise ValueError",
        "try: log[9]\n    except IndexError: raise ValueError from None",
    ),
    "line": ("x[n, n]", "\n    x[n, n]"),
    "key order": ("return {**d, 'b': x}", "return {'b': x, **d}"),
    "warning": ("import warnings; warnings.warn('a')", "import warnings; warnings.warn('b')"),
    "generator": ("it = (a for a in d); next(it); return it", "return (a for a in d)"),
}


@pytest.mark.parametrize("kind", TOLD_APART)
def test_what_is_told_apart(kind):
    def seen(body):
        source = f"{MODULE}def f(x, n, log, d):\n    {body}\n"
        world = World(compiled_source(source, "<told apart>"))
        return [world.call(world.scope["f"], n) for n in (1, 2)]

    one, other = TOLD_APART[kind]
    assert seen(one) == seen(one)
    assert seen(one) != seen(other)


def test_a_program_shrinks_to_what_counts():
    source = "def f(a):\n    for b in a:\n        if b:\n            g(a, b + 1)\n    return a\n"
    small = shrunk(source, lambda text: "g(" in text and ast.parse(text) is not None)
    assert small == "def f(a):\n    g(a, None)"
