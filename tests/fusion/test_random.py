"""Random graphs in random legal fusion orders: the schedule in pure Python equals eager mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from labcore.fusion import count_by_running, ledger, lower, schedule
from labcore.fusion.verify import verify_program

from .graphs import RandomGraph, arrays_for, assert_same, eager


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_any_legal_order_of_fusion_is_right(seed, inlined):
    """`inlined`: values stay lazy; otherwise each operator is a loop, and all fusing is the
    scheduler's.
    """
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    program = verify_program(lower(graph, inlined))
    plan = schedule(program, priority=lambda *_: rng.random())
    counted, ran = count_by_running(plan, inputs)
    assert_same(ran.outputs, want)
    if (
        0 not in graph.placeholders[0].meta.shape
    ):  # a loop of no turns reads nothing before it, either
        assert _tables(counted) == _tables(ledger(plan))


def _tables(found):
    return {
        name: {b: int(n) for b, n in getattr(found, name).items() if int(n)}
        for name in ("loads", "stores", "again", "rows", "folds")
    }


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1))
def test_fused_equals_separate(seed):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, 8).graph
    inputs = arrays_for(graph, rng)
    apart = schedule(verify_program(lower(graph, fuse=False)), fuse=False)
    together = schedule(verify_program(lower(graph)))
    assert len(together.nests) <= len(apart.nests)
    assert_same(
        count_by_running(together, inputs)[1].outputs, count_by_running(apart, inputs)[1].outputs
    )
