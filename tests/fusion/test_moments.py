"""Mean and spread of the same values: one pass over them, as exact as float64 makes it."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import ops, trace
from labcore.fusion import FusionOptions, fuse_graph, ledger, lower, plan_memory, schedule
from labcore.fusion.moments import find_spreads

from .graphs import floats, graph_of, layer_norm
from .programs import Checking, arrays

F = torch.nn.functional
ROWS, BATCH = torch.randn(5, 7), torch.randn(2, 3, 4)


def passes(function, *metas, **options):
    plan = fuse_graph(graph_of(function, *metas), options=FusionOptions(**options))
    return [len(nest.passes) for nest in plan.nests]


def centered(x, dim=-1):
    return ops.sub(x, ops.mean(x, dim, True))


def var(x, dim, keepdim=False):
    return ops.mul(ops.sum(ops.square(centered(x, dim)), dim, keepdim), 0.25)


SPELLINGS = [
    lambda x: ops.sum(ops.square(centered(x)), -1),
    lambda x: ops.mean(ops.square(centered(x)), 1, True),
    lambda x: ops.sum(ops.pow(centered(x), 2), (-1,)),
    lambda x: ops.mean(ops.mul(d := centered(x), d), -1),
    lambda x: ops.sum(ops.square(ops.sub(x, ops.mean(x)))),
    lambda x: ops.sum(ops.square(centered(x, (0, 1))), (1, 0)),
]
OTHERS = [
    lambda x: ops.sum(ops.square(centered(x)), 0),
    lambda x: ops.sum(ops.square(ops.sub(x, ops.amax(x, -1, True))), -1),
    lambda x: ops.sum(ops.square(ops.sub(x, ops.mean(ops.relu(x), -1, True))), -1),
    lambda x: ops.sum(ops.square(ops.sub(x, ops.mean(x, -1, True), alpha=2)), -1),
    lambda x: ops.sum(ops.mul(centered(x), x), -1),
    lambda x: ops.sum(ops.pow(centered(x), 3), -1),
    lambda x: ops.sum(ops.square(centered(x)), -1, dtype=torch.float64),
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_every_spelling_of_a_spread_is_one_pass(spelled):
    graph = graph_of(spelled, floats(4, 4))
    assert len(find_spreads(graph)) == 1
    plan = fuse_graph(graph)
    assert [sum(bool(p.inside) for p in nest.passes) for nest in plan.nests] == [1]


@pytest.mark.parametrize("other", OTHERS)
def test_what_only_looks_like_one_is_left_alone(other):
    assert not find_spreads(graph_of(other, floats(4, 4)))


def test_what_is_read_and_what_is_saved():
    """Each row once, and its first element before; two passes read it again."""
    graph = graph_of(lambda x: var(x, 1), floats(4, 8))
    one, two = (ledger(schedule(lower(graph, options=FusionOptions(one_pass=which))))
                for which in (True, False))
    assert {"x": 32 + 4} == {b: int(n) for b, n in one.loads.items()} and not one.again
    assert int(two.loads["x"]) == int(two.again["x"]) == 32


def test_columns_and_totals_need_no_second_kernel():
    counts = {}
    for one_pass in (True, False):
        for name, dim in (("columns", 0), ("total", None)):
            graph = graph_of(lambda x: var(x, dim), floats(64, 8))
            plan = fuse_graph(graph, options=FusionOptions(one_pass=one_pass))
            loads = ledger(plan)
            counts[name, one_pass] = len(plan.nests), int(loads.loads["x"]), sum(
                int(n) for n in loads.again.values())
    assert counts == {
        ("columns", True): (1, 2 * 64 * 8, 0),  # the first row stays in the nearest cache
        ("columns", False): (2, 2 * 64 * 8, 0),
        ("total", True): (1, 64 * 8 + 1, 0),
        ("total", False): (1, 64 * 8, 64 * 8),
    }


# ---- values --------------------------------------------------------------------------------------


def errors(x):
    """Of variances along rows, down columns, and of all, by float64's."""
    found = torch.compile(lambda x: (x.var(1), x.var(0), x.var(), x.std(1)))(torch.from_numpy(x))
    wide = x.astype(np.float64)
    want = wide.var(1, ddof=1), wide.var(0, ddof=1), wide.var(ddof=1), wide.std(1, ddof=1)
    return [float(np.abs(f.numpy() / w - 1).max()) for f, w in zip(found, want)]


@pytest.mark.parametrize("mean", [0.0, 1e2, 1e4, 1e6, 3e7])
def test_a_large_mean_costs_no_digits(mean):
    """One rounding to float32, whatever the mean is: PyTorch's eager mode gives as much."""
    noise = np.random.default_rng(0).standard_normal((40, 300))
    x = (noise * max(1, mean / 1e6) + mean).astype(np.float32)
    assert max(errors(x)) < 2.5e-7


def test_a_pivot_far_from_all_else_costs_no_digits_either():
    x = np.random.default_rng(0).standard_normal((40, 300)).astype(np.float32)
    x[:, 0] += 1e6
    x[0] -= 3e6
    assert max(errors(x)) < 2.5e-7


def test_equal_values_do_not_spread():
    x = torch.full((3, 1000), 0.1)
    for found in torch.compile(lambda x: (x.var(1), x.var(0), x.std()))(x):
        assert not found.numpy().any()


def test_infinities_and_nan_are_nan_in_their_row_alone():
    x = torch.randn(4, 6).numpy()
    x[1, 3], x[2, 0], x[3, 5] = np.inf, -np.inf, np.nan
    found = torch.compile(lambda x: x.var(1))(torch.from_numpy(x)).numpy()
    assert np.isnan(found).tolist() == [False, True, True, True]


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (3, 1), (1, 3)])
def test_rows_that_are_empty_or_have_one_element(shape):
    f = lambda x: (x.var(1), x.var(1, correction=0), x.var(0), x.mean(1))
    x = torch.randn(*shape)
    for found, want in zip(torch.compile(f)(x), f(x)):
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-6)


def test_symbolic_rows():
    f = torch.compile(lambda x: torch.var_mean(x, 1), dynamic=True)
    for n in (2, 5, 9):
        x = torch.randn(3, n)
        for found, want in zip(f(x), torch.var_mean(x, 1)):
            torch.testing.assert_close(found, want)


# ---- company -------------------------------------------------------------------------------------

PROGRAMS = [
    (lambda x: torch.var_mean(x, 1), 1),
    (lambda x: torch.var_mean(x, 0), 1),
    (lambda x: (x * 2, (x * 2 + 1).std(1)), 1),
    (lambda x: (y := torch.relu(x), y.var(0), y.sum(1)), 1),
    (lambda x: F.layer_norm(x.exp(), (7,)), 1),
    (lambda x: F.layer_norm(x @ x.t(), (5,)), 1),
    (lambda x: F.batch_norm(x, None, None, training=True), 2),
    (lambda x: (torch.softmax(x, 1).var(1), torch.softmax(x, 1).var(0)), 2),
    (lambda x: x.var(0).sum() + x.var(1).amax(), 3),
    (lambda x: x.copy_(F.layer_norm(x, (7,))), 1),
]


@pytest.mark.parametrize(("function", "kernels"), PROGRAMS)
def test_kernels_and_values(function, kernels):
    with trace.record() as story:
        found = torch.compile(function, fullgraph=True)(ROWS.clone())
    assert story.text("output_code").count("@kernel\n") <= kernels
    torch.testing.assert_close(found, function(ROWS.clone()))


@pytest.mark.parametrize(("function", "kernels"), PROGRAMS)
@pytest.mark.parametrize("seed", range(2))
def test_every_way_to_run_them_agrees(function, kernels, seed):
    checking = Checking(np.random.default_rng(seed), machine=False)
    found = torch.compile(function, backend=checking.backend, fullgraph=True)(ROWS.clone())
    both = [v if isinstance(v, tuple) else (v,) for v in (found, function(ROWS.clone()))]
    for got, want in zip(*map(arrays, both)):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_product_is_still_written_over_and_its_rows_still_shared():
    """The first element of a row was read before the row is written."""
    from labcore.codegen.sharing import shareable

    normed = lambda x, y, w, b: layer_norm(ops.matmul(x, y), w, b)
    plan = schedule(lower(graph_of(
        normed, floats(64, 64), floats(64, 64), floats(64), floats(64))))
    (life,) = plan_memory(plan).lives.values()
    assert list(life.buffers) == ["matmul", "add_1"]
    assert shareable(plan.nests[0]).rule == "rows"


def test_the_first_row_is_not_written_over_while_others_need_it():
    normed = lambda x, y: ops.mul(product := ops.matmul(x, y), var(product, 0, True))
    plan = schedule(lower(graph_of(normed, floats(4, 4), floats(4, 4))))
    assert len(plan.nests) == 2
    columns = lambda x, y: (var(product := ops.matmul(x, y), 0), ops.relu(product))
    plan = schedule(lower(graph_of(columns, floats(4, 4), floats(4, 4))))
    assert len(plan.nests) == 1 and plan.buffers["relu"].storage == "relu"


def test_without_the_option_there_are_two_passes():
    assert passes(lambda x: var(x, 1), floats(4, 8), one_pass=False) == [3]
    assert passes(lambda x: var(x, 1), floats(4, 8)) == [2]
