"""Random graphs in random legal orders of fusing, on the simulated grid, in every form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from labcore.codegen.cuda import choose, form, program
from labcore.codegen.cuda.neighbours import neighbours
from labcore.codegen.cuda.options import ON_CARD
from labcore.fusion import lower, schedule
from labcore.fusion.verify import verify_program
from tests.fusion.graphs import RandomGraph, arrays_for, assert_same, eager

from .grid import on_card, on_grid

pytestmark = pytest.mark.usefixtures("card")
FEW = max(15, settings.default.max_examples // 3)
# Thresholds at which small sizes take the forms of large ones.
SIZES = {
    "as they are": {},
    "several blocks": {"NARROW": 0, "ONE_BLOCK": 4, "SHARE": 1},
    "nothing fits": {"NARROW": 0, "ONE_BLOCK": 4, "ROW_LIMIT": 3, "SHARE": 2},
}


@pytest.mark.fuzz
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1), inlined=st.booleans())
def test_a_random_graph_equals_eager_mode(sizes, seed, inlined):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    plan = schedule(verify_program(lower(on_card(graph), inlined, ON_CARD)),
                    priority=lambda *_: rng.random(), options=ON_CARD)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sizes.items():
            patch.setattr(form, name, value)
        found, _ = on_grid(plan, inputs)
    assert_same(found, want)


def some_form(nest, rng):
    """Where a search might arrive: a few steps from the form that sizes choose."""
    found = choose(nest)
    for _ in range(int(rng.integers(5))):
        if beside := neighbours(nest, found):
            found = beside[int(rng.integers(len(beside)))]
    return found


@pytest.mark.fuzz
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_form_that_a_search_may_reach_equals_eager_mode(sizes, seed):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    plan = schedule(verify_program(lower(on_card(graph), options=ON_CARD)), options=ON_CARD)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sizes.items():
            patch.setattr(form, name, value)
        forms = [some_form(nest, rng) for nest in plan.nests]
        chosen = program._forms  # of operators that the program calls, too
        patch.setattr(program, "_forms", lambda s: forms if s is plan else chosen(s))
        found, _ = on_grid(plan, inputs)
    assert_same(found, want)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_same_bits_twice(seed):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, 8).graph
    inputs = arrays_for(graph, rng)
    plan = schedule(verify_program(lower(on_card(graph), options=ON_CARD)), options=ON_CARD)
    runs = []
    for _ in range(2):
        found, call = on_grid(plan, inputs)
        runs.append(([a.tobytes() for a in found], [str(launch) for launch in call.launched]))
    assert runs[0] == runs[1]
