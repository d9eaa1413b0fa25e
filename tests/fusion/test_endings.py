"""What is done once the last row is: sums of what rows made, and work on complete columns."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.fusion import FusionOptions, fuse_graph, lower, schedule
from labcore.fusion.verdicts import ONE_THREAD

from .graphs import assert_same, chain, floats, graph_of
from .programs import Checking, arrays

F = torch.nn.functional
ROWS, SQUARE, BATCH = torch.randn(5, 7), torch.randn(4, 4), torch.randn(2, 3, 4)
CLASSES = torch.tensor([3, 0, 6, 2, 2])


def root_of_squares(x):
    return (x * x).sum(1).sqrt().sum()


# (function, inputs, kernels)
PROGRAMS = [
    (lambda x: x.mean(0), (ROWS,), 1),
    (lambda x: torch.relu(x.amax(0)) * 2, (ROWS,), 1),
    (lambda x: (x.sum(0) * 2 + 1, x.amin(0)), (ROWS,), 1),
    (lambda x: (x * 2, (x * 2).mean(0)), (ROWS,), 1),
    (lambda x: (x > 0).all(0).to(torch.float32) + x.mean(0), (ROWS,), 1),
    (lambda x: torch.argmax(x, 0), (ROWS,), 2),
    (lambda x: x.var(0), (ROWS,), 1),
    (lambda x: x - x.mean(0), (ROWS,), 2),
    (lambda x: x.mean(1) * 2, (BATCH,), 1),
    (lambda x: (x.mean((0, 1)), x.sum((0, 1)).abs()), (BATCH,), 1),
    (lambda x: F.cross_entropy(x, CLASSES), (ROWS,), 1),
    (root_of_squares, (ROWS,), 1),
    (lambda x: (torch.softmax(x, 1), x.amax(1).mean() + 1), (ROWS,), 1),
    (lambda x: (x.sum(0) + 1, (x.sum(1) * 2).sum() - 1, x.exp()), (ROWS,), 1),
    (lambda x: (x.sum(0) + x.sum(1), x.sum(0) * 2), (SQUARE,), 3),
    (lambda x: x.sum(0).sum() * 2, (ROWS,), 2),
    (lambda x: x.sum(1).sum() * x.sum(0), (ROWS,), 2),
]


@pytest.mark.parametrize(("function", "inputs", "kernels"), PROGRAMS)
def test_kernels_and_values(function, inputs, kernels):
    with trace.record() as story:
        found = torch.compile(function, fullgraph=True)(*inputs)
    assert story.text("output_code").count("@kernel\n") <= kernels
    torch.testing.assert_close(found, function(*inputs))


@pytest.mark.parametrize(("function", "inputs", "kernels"), PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_every_way_to_run_them_agrees(function, inputs, kernels, seed):
    """Interpreter, printed text and ledger, in random orders of fusion."""
    checking = Checking(np.random.default_rng(seed), machine=False)
    found = torch.compile(function, backend=checking.backend, fullgraph=True)(*inputs)
    want = function(*inputs)
    both = [v if isinstance(v, tuple) else (v,) for v in (found, want)]
    assert_same(*map(arrays, both))


def test_a_mean_is_divided_where_its_sum_ends():
    """Not in each row that it is taken from; of a row it waits before the loop anyway."""
    function = lambda x, b: x * b + x.mean(0)
    with trace.record() as story:
        torch.compile(function, dynamic=True)(ROWS, ROWS[0])
    first, second = story.text("kernel_code").split("\n\ndef ")[-2:]
    assert " / " in first and " / " not in second


def test_rows_that_threads_may_share_keep_their_loop():
    """A total of all rows would leave one thread to do them; small ones need no other."""
    from labcore import ops

    def losses(x):
        return ops.sum(ops.sum(ops.exp(x), 1))

    few, many = (fuse_graph(graph_of(losses, floats(n, 64))) for n in (8, ONE_THREAD))
    assert (len(few.nests), len(many.nests)) == (1, 2)
    refused = [v for v in many.verdicts if not v.ok]
    assert [v.rule for v in refused] == ["rows would wait for each other"]
    assert f"{ONE_THREAD:,} elements" in refused[0].flip


def test_without_endings_rows_know_of_no_last_one():
    from labcore import ops

    graph = graph_of(lambda x: ops.relu(ops.sum(x, 0)), floats(4, 4))
    kept = [schedule(lower(graph), options=FusionOptions(endings=e)) for e in (True, False)]
    assert [len(plan.nests) for plan in kept] == [1, 2]
    assert not any(v.ok for v in kept[1].verdicts)


def test_what_comes_after_an_end_is_not_in_its_rows():
    """The column's result is used in each row: two kernels, and the second reads the first's."""
    from labcore import ops

    graph = graph_of(lambda x: ops.mul(x, ops.relu(ops.sum(x, 0))), floats(4, 5))
    plan = fuse_graph(graph)
    assert len(plan.nests) == 2
    assert len(fuse_graph(graph_of(chain, floats(4, 5), floats(5))).nests) == 1


@pytest.mark.parametrize("kind", ["amax", "amin", "sum", "mean"])
@pytest.mark.parametrize("dim", [0, 1])
def test_rows_that_read_a_total_of_all_rows_come_after_it(kind, dim):
    """The total and its reader agree on their own loops; in those of a row sum they do not."""

    def program(x):
        rows = x.sum(1, keepdim=True)
        total = getattr(rows, kind)(dim, keepdim=True)
        return total, torch.eq(total, rows), rows - total

    x = torch.arange(6.0).view(2, 3)
    for found, expected in zip(torch.compile(program)(x), program(x)):
        assert found.tolist() == expected.tolist()


def test_the_gradient_of_the_largest_row():
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    torch.compile(lambda x: x.sum(1, keepdim=True).amax(0))(x).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
