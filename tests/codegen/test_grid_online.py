"""Softmax's two reductions in one pass on a grid: rows in registers, and rows that do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import labcore as torch
from labcore import ops, trace
from labcore.codegen.cuda.options import ON_CARD
from tests.fusion.graphs import arrays_for, eager, floats, graph_of, softmax
from tests.fusion.test_online import EDGES, logsumexp

from .grid import check, forms, fused, on_grid

pytestmark = pytest.mark.usefixtures("card")
ONLINE = replace(ON_CARD, online=True)


@pytest.mark.parametrize(("shape", "form"), [
    ((3, 5), ["thread a row"]),
    ((5, 40), ["rows"]),  # a warp a row
    ((3, 700), ["rows"]),  # several warps
    ((2, 53_000), ["long rows"]),
    ((900,), ["rows"]),
    ((20_000,), ["total", "total"]),  # a kernel a pass: one fewer
])
def test_softmax_in_each_form(shape, form):
    assert forms(check(softmax, floats(*shape), options=ONLINE)) == form
    check(logsumexp, floats(*shape), options=ONLINE)


def test_columns_and_running_sums_beside_it():
    beside = lambda x: (softmax(x), ops.sum(x, 0))
    assert forms(check(beside, floats(9, 300), options=ONLINE)) == ["rows, columns"] * 2
    running = lambda x: (softmax(x), ops.cumsum(x, 1))
    assert forms(check(running, floats(9, 30), options=ONLINE)) == ["thread a row"]


def test_long_rows_are_gone_over_twice_instead_of_three_times():
    """By default, where the registers of a block do not hold a row."""
    counts = []
    for options in (replace(ON_CARD, online=False), ON_CARD):
        (launch,) = check(softmax, floats(2, 60_000), options=options).launched
        counts.append((launch.reads // 120_000, launch.writes // 120_000))
    assert counts == [(3, 2), (2, 1)]
    assert forms(check(softmax, floats(2, 50_257))) == ["rows"]


@pytest.mark.parametrize("times", [1, 100, 6_000])
def test_infinities_and_nan(times):
    """A thread may see nothing, or infinities alone."""
    rows = np.repeat(np.array(EDGES, np.float32), times, 1)
    graph = graph_of(lambda x: (softmax(x), logsumexp(x)), floats(*rows.shape))
    with np.errstate(all="ignore"):
        want = eager(graph, [rows])
    found, _ = on_grid(fused(graph, ONLINE), [rows])
    for got, wanted in zip(found, want):
        np.testing.assert_allclose(got, wanted, rtol=2e-6)


def test_a_row_that_always_grows_costs_no_digits():
    row = (np.arange(60_000) * 1e-5).astype(np.float32)[None]
    graph = graph_of(logsumexp, floats(*row.shape))
    (found,), _ = on_grid(fused(graph), [row])
    want = np.log(np.exp(row.astype(np.float64)).sum())
    np.testing.assert_allclose(found.item(), want, rtol=3e-7)


def test_symbolic_rows_by_default():
    f = torch.compile(lambda x: torch.softmax(x, -1), dynamic=True)
    for n in (5, 300, 3000):
        x = torch.randn(3, n)
        torch.testing.assert_close(f(x.cuda()).cpu(), torch.softmax(x, -1))


def test_the_same_on_random_rows():
    graph = graph_of(lambda x, y: softmax(ops.mul(x, y)), floats(4, 333), floats(333))
    inputs = arrays_for(graph, np.random.default_rng(3))
    (one,), _ = on_grid(fused(graph, ONLINE), inputs)
    (two,), _ = on_grid(fused(graph), inputs)
    np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize(("first", "block"), [
    (48, (32, 4)), (1000, (32, 4)), (1100, (64,)), (4096, (128,)), (20000, (512,))])
def test_threads_of_a_row_of_any_length_suit_the_first_one(first, block):
    f = torch.compile(lambda x: torch.softmax(x, -1), dynamic=True)
    for columns in (first, 70, 2000):
        x = torch.randn(3, columns)
        with trace.record() as story, torch.cuda.record() as launches:
            found = f(x.cuda())
        torch.testing.assert_close(found.cpu(), torch.softmax(x, -1), rtol=1e-5, atol=1e-6)
        assert launches[-1].block == block
        assert columns == first or not story.of(trace.KernelForm)
        if columns == first:
            assert f", {first} at first: no bound" in story.text("forms").replace("\n    ", " ")
