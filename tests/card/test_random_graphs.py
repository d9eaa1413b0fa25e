"""Random graphs, fused in random legal orders, in every form, on a card of silicon. What the grid
simulator makes of the same kernels is tested beside the printers."""

from __future__ import annotations

import numpy as np
import pytest

from labcore.codegen.cuda import form
from labcore.codegen.cuda.options import ON_CARD
from labcore.fusion import lower, schedule
from labcore.fusion.verify import verify_program
from tests.codegen.grid import on_card, on_grid
from tests.codegen.test_grid_random import SIZES
from tests.fusion.graphs import RandomGraph, arrays_for, assert_same, eager

from .cards import silicon_card


@pytest.fixture(autouse=True)
def card():
    with silicon_card():
        yield


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("seed", range(40))
def test_a_random_graph_equals_eager_mode(sizes, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    plan = schedule(verify_program(lower(on_card(graph), bool(rng.integers(2)), ON_CARD)),
                    priority=lambda *_: rng.random(), options=ON_CARD)
    for name, value in sizes.items():
        monkeypatch.setattr(form, name, value)
    found, _ = on_grid(plan, inputs)
    assert_same(found, want)
