"""Forms beside the one that sizes choose: each computes the same, and says how it differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.codegen.cuda import choose, cubin, form, print_kernels, program
from labcore.codegen.cuda.neighbours import describe, neighbours
from labcore.codegen.cuda.trial import text_of
from tests.fusion.graphs import (
    arrays_for,
    assert_same,
    chain,
    eager,
    floats,
    graph_of,
    layer_norm_backward,
    softmax,
)

from .grid import fused, on_grid
from .test_grid_cubin import needs_extra
from .test_grid_forms import gelu_backward
from .test_grid_tiles import plus_turned, turned

# a function, its operands, the form that sizes choose, how many there are beside it
CASES = {
    "flat": (chain, [floats(3000), floats(3000)], "flat", 4),
    "flat halves": (chain, [floats(3000, dtype=dtypes.float16)] * 2, "flat", 5),
    "flat rows": (chain, [floats(7, 300), floats(300)], "flat", 4),
    "tiles": (plus_turned, [floats(100, 70), floats(70, 100)], "tiles", 3),
    "tiles, doubles": (turned, [floats(70, 100, dtype=dtypes.float64)], "tiles", 3),
    "tiles, bools": (turned, [floats(70, 100, dtype=dtypes.bool)], "tiles", 3),
    "a warp a row": (softmax, [floats(9, 100)], "rows", 7),
    "rows": (softmax, [floats(5, 700)], "rows", 6),
    "rows and a rest": (softmax, [floats(3, 1100)], "rows", 6),
    "one row": (lambda x: ops.sum(x), [floats(900)], "rows", 5),
    "wide rows": (softmax, [floats(2, 8200)], "rows", 6),
    "too wide rows": (softmax, [floats(2, 53000)], "long rows", 1),
    "rows, columns": (layer_norm_backward, [
        floats(40, 96), floats(40, 96), floats(96), floats(40, 1), floats(40, 1)],
        "rows, columns", 5),
    "rows ahead": (layer_norm_backward, [
        floats(300, 64), floats(300, 64), floats(64), floats(300, 1), floats(300, 1)],
        "rows, columns", 7),
    "columns": (lambda x: ops.sum(x, 0), [floats(300, 300)], "columns", 6),
    "few columns": (lambda x: ops.sum(x, 0), [floats(300, 20)], "columns", 4),
    "columns beside": (gelu_backward, [floats(30, 96), floats(30, 96), floats(96)], "columns", 3),
    "total": (lambda x: (ops.sum(x), ops.amax(x)), [floats(40000)], "total", 6),
    "a thread a row": (lambda x: ops.cumsum(x, -1), [floats(100, 40)], "thread a row", 2),
    "a thread a column": (lambda x: ops.cumsum(x, 0), [floats(40, 100)], "thread a column", 2),
    "one thread": (lambda x: ops.cumsum(ops.cumsum(x, 0), -1), [floats(4, 5)], None, 0),
}


def schedule_of(name):
    function, metas, *_ = CASES[name]
    graph = graph_of(function, *metas)
    return graph, fused(graph)


def reached(nest, steps=1):
    """The forms that so many steps lead to, the chosen one first."""
    found = [choose(nest)]
    for _ in range(steps):
        found += [n for f in list(found) for n in neighbours(nest, f) if n not in found]
    return found


@pytest.mark.usefixtures("card")
@pytest.mark.parametrize("name", CASES)
def test_each_computes_the_same(name, monkeypatch):
    graph, plan = schedule_of(name)
    inputs = arrays_for(graph, np.random.default_rng(0))
    want = eager(graph, inputs)
    nest, *others = plan.nests
    for each in reached(nest):
        forms = [each, *map(choose, others)]
        monkeypatch.setattr(program, "_forms", lambda schedule, forms=forms: forms)
        assert_same(on_grid(plan, inputs)[0], want)


@pytest.mark.parametrize("name", CASES)
def test_each_is_another_one_and_says_so(name):
    _, plan = schedule_of(name)
    nest, (_, _, chosen, count) = plan.nests[0], CASES[name]
    first = choose(nest)
    beside = neighbours(nest, first)
    assert chosen in (None, first.name) and len(beside) == count
    texts = {describe(f) for f in (first, *beside)}
    assert len(texts) == count + 1 and all(f.reason == describe(f) for f in beside)


def test_a_sum_of_many_numbers_is_wide_in_every_form():
    for rows, short in ((1000, True), (1 << 22, False)):
        (nest,) = fused(graph_of(lambda x: ops.sum(x, 0), floats(rows, 64))).nests
        for each in reached(nest, 3):
            numbers = rows / each.shares / (each.threads // 32)
            assert each.short is (numbers <= form.SHORT)
    (nest,) = fused(graph_of(lambda x: ops.sum(x), floats(1 << 26))).nests
    for each in reached(nest, 2):
        assert each.short is ((1 << 26) <= each.shares * form.THREADS * form.SHORT)


def test_large_squares_are_chosen_where_there_are_enough_of_them():
    chosen = {shape: choose(fused(graph_of(turned, floats(*shape))).nests[0])
              for shape in ((2048, 2048), (4096, 2048))}
    assert [(f.side, f.each) for f in chosen.values()] == [(32, 4), (64, 8)]

    def three(x, y, z):  # squares of 64 find no room for all of them
        return ops.add(ops.add(turned(x), turned(y)), turned(z))

    (nest,) = fused(graph_of(three, *[floats(4096, 4096)] * 3)).nests
    assert choose(nest).side == 32


def test_small_blocks_that_walk_over_rows_are_many():
    def shares(rows, columns):
        metas = [floats(rows, columns)] * 2 + [floats(columns)] + [floats(rows, 1)] * 2
        (nest,) = fused(graph_of(layer_norm_backward, *metas)).nests
        return choose(nest).shares

    # two blocks of 256 threads find registers, or eight of 64; fewer where each has few rows
    assert (shares(16384, 4096), shares(16384, 1024)) == (264, 1056)
    assert (shares(2000, 1024), shares(512, 1024), shares(100, 1024)) == (500, 264, 100)


def test_rows_that_are_read_again_may_be_a_warp_s(card, monkeypatch):
    graph = graph_of(softmax, floats(5, 70))
    plan = fused(graph)
    inputs = arrays_for(graph, np.random.default_rng(0))
    for rows in (1, 4):
        again = replace(choose(plan.nests[0]), name="long rows", threads=32, rows=rows)
        monkeypatch.setattr(program, "_forms", lambda schedule, again=again: [again])
        found, call = on_grid(plan, inputs)
        assert_same(found, eager(graph, inputs))
        assert call.launched[0].block == ((32, 4) if rows == 4 else (32,))
        assert ("one warp a block" if rows == 1 else "4 warps a block, each") in describe(again)


@needs_extra
@pytest.mark.parametrize("name", ["flat", "flat halves", "a warp a row", "rows ahead", "columns"])
def test_each_compiles(name):
    _, plan = schedule_of(name)
    nest = plan.nests[0]
    kernels = [kernel for k, each in enumerate(reached(nest))
               for kernel in print_kernels(nest, f"form_{k}", each)]
    found = cubin.compile_source(text_of(kernels))
    assert set(found) == {kernel.name for kernel in kernels}
    assert all(each.registers for each in found.values())
