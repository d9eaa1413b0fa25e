"""Loops that would make the program hold much more memory stay apart."""

from __future__ import annotations

import numpy as np
import pytest

from labcore import ops
from labcore.codegen import compile_schedule, memory_plan, print_kernel
from labcore.fusion import FusionOptions, fuse_graph, why_not
from labcore.measure.memory import peak_bytes
from labcore.tensor import from_numpy

from .graphs import arrays_for, floats, graph_of

ROWS, COLUMNS = 1024, 512
BIG = 4 * ROWS * COLUMNS
METAS = floats(ROWS, 64), floats(ROWS, 64), floats(64, COLUMNS), floats(COLUMNS)


def one_after_the_other(x, y, w, b):
    """Each product is folded before the next one is made."""
    first = ops.sum(ops.mul(ops.matmul(x, w), b), 1)
    return first, ops.sum(ops.mul(ops.matmul(y, w), b), 1)


def both_first(x, y, w, b):
    first, second = ops.matmul(x, w), ops.matmul(y, w)
    return ops.sum(ops.mul(first, b), 1), ops.sum(ops.mul(second, b), 1)


def results_as_large(x, y, w, b):
    """The memory of each product becomes that of its result."""
    first = ops.mul(ops.matmul(x, w), b)
    return first, ops.mul(ops.matmul(y, w), b)


def much_in_common(x, y, w, b):
    scale = ops.matmul(ops.relu(x), w)
    first = ops.sum(ops.mul(ops.matmul(x, w), scale), 1)
    return first, ops.sum(ops.mul(ops.matmul(y, w), scale), 1)


def needed_by_the_first(x, y, w, b):
    """The second product is there before the first sum can be."""
    second = ops.matmul(y, w)
    first = ops.sum(ops.mul(ops.matmul(x, w), ops.sum(second, 0)), 1)
    return first, ops.sum(ops.mul(second, b), 1)


def folds(plan):
    return [nest for nest in plan.nests if nest.reductions]


def test_a_product_is_not_held_for_the_sake_of_a_row():
    plan = fuse_graph(graph_of(one_after_the_other, *METAS))
    assert len(folds(plan)) == 2
    (refused,) = [v for v in plan.verdicts if v.rule == "more memory held"]
    assert refused.refused_by == "more_memory" and not refused.ok
    held = BIG - 4 * ROWS
    assert refused.detail == (
        "apart, matmul is let go of before matmul_1 is made; in one loop both are held, "
        f"{held:,} bytes more, and {4 * COLUMNS:,} less are moved."
    )
    assert f"they saved {held // 32:,} bytes" in refused.flip
    assert why_not(plan, "sum_1", "sum") == refused


@pytest.mark.parametrize("function", [both_first, results_as_large, much_in_common])
def test_where_apart_is_no_better_they_are_one(function):
    plan = fuse_graph(graph_of(function, *METAS))
    assert not [v for v in plan.verdicts if v.rule == "more memory held"]
    assert len(plan.nests) <= 2


def test_what_must_be_there_already_waits_anyway():
    plan = fuse_graph(graph_of(needed_by_the_first, *METAS))
    assert not [v for v in plan.verdicts if v.rule == "more memory held"]


def test_little_memory_is_not_worth_a_loop():
    metas = floats(64, 8), floats(64, 8), floats(8, 64), floats(64)
    assert len(fuse_graph(graph_of(one_after_the_other, *metas)).nests) == 1


@pytest.mark.parametrize("hold", [False, True])
def test_the_peak_is_what_a_run_measures(hold):
    graph = graph_of(one_after_the_other, *METAS)
    plan = fuse_graph(graph, options=FusionOptions(hold_memory=hold))
    assert len(plan.nests) == 1 if hold else 2
    kernels = [print_kernel(nest, number) for number, nest in enumerate(plan.nests)]
    peak = memory_plan(plan, kernels).peak({})
    assert BIG * (1 + hold) < peak < BIG * (1.1 + hold)
    call = compile_schedule(plan, {}, "inference")
    inputs = [from_numpy(a) for a in arrays_for(graph, np.random.default_rng(0))]
    assert peak_bytes(call, inputs) == peak
