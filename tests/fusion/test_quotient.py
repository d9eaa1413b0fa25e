"""Softmax's quotient: one division a row, and values as good as a division's."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import ops
from labcore.fusion import lower, schedule

from .graphs import floats, graph_of, softmax

INF, NAN = np.inf, np.nan
EDGES = np.array([
    [0, 1, 2, 3], [-INF, 0, 0, -INF], [-INF] * 4, [INF, 0, 1, 2], [NAN, 0, 1, 2],
    [1e30, -1e30, 0, 1], [-200, 0, -87.4, -103.9], [5, 5, 5, 5],
], np.float32)  # fmt: skip


def told(function, *metas, **more):
    return str(schedule(lower(graph_of(function, *metas), **more)))


def test_one_division_serves_a_row():
    text = told(softmax, floats(4, 8))
    assert text.count(" / ") == 1 and "= 1.0 / sum" in text
    for dim, count in ((0, 0), (1, 1), ((0, 1), 1)):
        assert told(lambda x: softmax(x, dim), floats(4, 8)).count("1.0 / sum") == count


@pytest.mark.parametrize("function", [
    lambda x: ops.div(ops.exp(x), ops.sum(ops.exp(x), -1, True)),  # any sum at all
    lambda x: ops.div(x, ops.sum(ops.exp(ops.sub(x, ops.amax(x, -1, True))), -1, True)),
    lambda x: ops.div(2.0, ops.sum(ops.exp(ops.sub(x, ops.amax(x, -1, True))), -1, True)),
    lambda x: ops.div(ops.exp(ops.sub(x, ops.amax(x, -1, True))), 3.0),
])  # fmt: skip
def test_other_divisions_stay(function):
    assert "1.0 / sum" not in told(function, floats(4, 8))


def test_a_graph_that_is_not_fused_keeps_its_operators():
    assert "inverse" not in told(softmax, floats(4, 8), fuse=False)


@pytest.mark.parametrize("columns", [4, 100, 5000])
def test_as_close_as_a_division(columns):
    rng = np.random.default_rng(0)
    given = rng.normal(0, 8, (50, columns)).astype(np.float32)
    wide = given.astype(np.float64)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    true = powers / powers.sum(1, keepdims=True)
    eager = torch.softmax(torch.from_numpy(given), -1).numpy()
    found = torch.compile(lambda x: torch.softmax(x, -1))(torch.from_numpy(given)).numpy()
    known = true > 1e-37
    errors = [np.abs(each - true)[known] / np.spacing(true[known].astype(np.float32))
              for each in (eager, found)]
    assert errors[1].mean() <= errors[0].mean() + 0.5
    assert errors[1].max() <= 1.1 * errors[0].max() + 1


def test_edges_are_eager_mode_s():
    x = torch.from_numpy(EDGES)
    for dim in (0, 1):
        run = lambda x, dim=dim: torch.softmax(x, dim)
        np.testing.assert_allclose(
            torch.compile(run)(x).numpy(), run(x).numpy(), 2e-7, 1e-45, equal_nan=True)
