"""Accesses, counted three ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from labcore import dtypes, ops
from labcore.codegen import print_kernel
from labcore.fusion import count_by_running, count_in_source, ledger, lower, schedule, separate
from labcore.graph import TensorMeta

from .graphs import chain, floats, graph_of, layer_norm, layer_norm_backward, softmax


def three_ways(plan, rng=None) -> tuple[int, int, int]:
    """Everything executed, by the loop IR, by running, and by the printed text."""
    rng = rng or np.random.default_rng(0)
    inputs = [
        rng.standard_normal([int(n) for n in b.shape]).astype(b.dtype.numpy)
        for b in plan.program.inputs
    ]
    source = "\n".join(print_kernel(nest, k).source for k, nest in enumerate(plan.nests))
    counted, ran = count_by_running(plan, inputs)
    lists = sum(m.reads + m.writes for m in ran.memory.values())
    if not counted.rows and not counted.folds:  # nothing in scratch: the lists saw every access
        assert lists == int(counted.executed)
    return int(ledger(plan).executed), int(counted.executed), count_in_source(source).executed


def test_twenty_eight_and_twelve():
    graph = graph_of(chain, floats(4), floats(4), names=("x", "bias"))
    apart, together = separate(graph), schedule(lower(graph))
    assert three_ways(apart) == (28, 28, 28)
    assert three_ways(together) == (12, 12, 12)
    assert int(ledger(apart).bytes) == 112 and int(ledger(together).bytes) == 48
    found = ledger(together)
    assert {b: int(n) for b, n in found.loads.items()} == {"x": 4, "bias": 4}
    assert {b: int(n) for b, n in found.stores.items()} == {"mul": 4}
    assert str(found).startswith("12 accesses, 48 bytes")


@pytest.mark.parametrize("n", [1, 2, 3, 16, 1000])
def test_seven_n_and_three_n(n):
    graph = graph_of(chain, floats(n), floats(n))
    assert int(ledger(separate(graph)).accesses) == 7 * n
    assert int(ledger(schedule(lower(graph))).accesses) == 3 * n


@given(
    st.lists(st.sampled_from(["relu", "neg", "add", "mul"]), min_size=1, max_size=6),
    st.integers(2, 9),
)
def test_any_pointwise_chain(names, n):
    def function(x, y):
        for name in names:
            x = getattr(ops, name)(x, y) if name in ("add", "mul") else getattr(ops, name)(x)
        return x

    graph = graph_of(function, floats(n), floats(n))
    binary = sum(name in ("add", "mul") for name in names)
    apart, together = three_ways(separate(graph)), three_ways(schedule(lower(graph)))
    assert set(apart) == {n * (2 * len(names) + binary)}
    assert set(together) == {n * (3 if binary else 2)}


@pytest.mark.parametrize(
    ("function", "metas"),
    [
        (softmax, (floats(4, 6),)),
        (layer_norm, (floats(4, 6), floats(6), floats(6))),
        (layer_norm_backward, (floats(4, 6), floats(4, 6), floats(6), floats(4, 1), floats(4, 1))),
        (lambda x, b: ops.add(x, b), (floats(4, 6), floats(4, 1))),
        (lambda x: ops.sum(ops.mul(x, 2.0)), (floats(5, 3),)),
        (lambda x: ops.sum(x, 0), (floats(5, 3, dtype=dtypes.float64),)),
    ],
)
def test_the_three_ways_agree(function, metas):
    graph = graph_of(function, *metas)
    for plan in (separate(graph), schedule(lower(graph))):
        assert len(set(three_ways(plan))) == 1


@pytest.mark.parametrize("shape", [(3, 0), (0, 3)])
def test_what_is_read_before_a_loop_of_no_turns_is_read(shape):
    """Once a row, as the kernel's text has it."""
    graph = graph_of(lambda x, c: ops.add(x, c), floats(*shape), floats(shape[0], 1))
    assert set(three_ways(schedule(lower(graph)))) == {shape[0]}


def test_nothing_is_read_of_what_has_no_elements():
    """One place repeated no times: it does not vary along the loop, and is not there."""
    repeated = TensorMeta((0,), (0,), dtypes.float32)
    assert set(three_ways(schedule(lower(graph_of(chain, repeated, repeated))))) == {0}


def test_softmax_loads_once_and_stores_once():
    found = ledger(schedule(lower(graph_of(softmax, floats(4, 6)))))
    assert {b: int(n) for b, n in found.loads.items()} == {"x": 24}
    assert {b: int(n) for b, n in found.stores.items()} == {"div": 24}
    assert {b: int(n) for b, n in found.again.items()} == {"x": 24}
    assert {b: int(n) for b, n in found.rows.items()} == {"exp": 48}


def test_what_does_not_vary_is_read_before_the_loop():
    found = ledger(
        schedule(lower(graph_of(lambda x, v: ops.mul(x, v), floats(4, 6), floats(4, 1))))
    )
    assert {b: int(n) for b, n in found.loads.items()} == {"x": 24, "y": 4}


KERNEL = """
def k(x: "float32*", y: "float32*"):
    for i0 in range(3):
        a = x[i0] + x[i0]
        for i1 in range(2, n):
            y[i1] += a
"""


def test_source_counts_subscripts_times_turns():
    found = count_in_source(KERNEL, {"n": 6})
    assert found.loads == {"x": 6, "y": 12} and found.stores == {"y": 12} and found.executed == 30


def test_source_that_does_not_tell_its_turns_is_refused():
    with pytest.raises(ValueError, match="line 5: the bounds of this loop need 'n'"):
        count_in_source(KERNEL)
    with pytest.raises(ValueError, match="line 1: a while loop cannot be counted"):
        count_in_source("while x: y[0] = 1")
