"""When the CPU launches and the card computes: the model, and what is measured on a card."""

from __future__ import annotations

import gc

import pytest

import labcore as torch
from labcore.measure import figures, watched
from labcore.measure.lanes import H200, PLANS, launched, modelled, replayed
from tests.card.fake import paper_card
from tests.widgets.programs import block


def test_lanes_overlap():
    found = launched([8e-6] * 10, [5e-6] * 10)
    assert found.end == pytest.approx(85e-6)
    assert found.host[-1] == pytest.approx((45e-6, 50e-6))
    assert found.busy == pytest.approx(80 / 85)


def test_small_kernels_wait_for_their_launch():
    found = launched([1e-6] * 3, [5e-6] * 3)
    assert found.device == tuple(
        pytest.approx((5e-6 * k, 5e-6 * k + 1e-6)) for k in (1, 2, 3))


def test_a_replay_has_one_launch():
    found = replayed([1e-6, 2e-6], 3e-6)
    assert found.host == ((0.0, 3e-6),)
    assert found.device == (pytest.approx((3e-6, 4e-6)), pytest.approx((4e-6, 6e-6)))
    assert (launched([], []).end, launched([], []).busy) == (0.0, 0.0)


def test_what_each_plan_costs_the_cpu():
    kernels = [(1e-6, True), (1e-6, False)]
    host = {plan: modelled(plan, kernels).host[-1][1] for plan in PLANS}
    assert host == pytest.approx({
        "eager": H200.operator + H200.launch, "eager_replayed": H200.replay,
        "compiled": H200.call + 2 * H200.launch, "compiled_replayed": H200.call + H200.replay})


@pytest.fixture
def card(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(watched, "CALLS", 1)
    monkeypatch.setattr(watched, "REPEAT", 2)
    with paper_card(monkeypatch) as card:
        yield card


def test_a_product_has_its_place_in_the_lanes(card):
    x, w = torch.ones(4, 6).cuda(), torch.ones(6, 5).cuda()
    lanes, names = watched.watched(lambda x, w: torch.relu(x @ w) + 1, [x, w], "compiled")
    assert names[0] == "matmul" and len(lanes.device) == len(names) == 2


def test_a_kernel_that_is_launched_again_is_measured_once(card):
    def twice(x):
        return (x + 1) + 1

    x = torch.ones(6).cuda()
    before = len(card.driver.replays)
    lanes, names = watched.watched(twice, [x], "eager")
    assert names == ["numba_fused_add_0"] * 2 and len(card.driver.replays) == before + 1
    first, second = [to - start for start, to in lanes.device]
    assert first == pytest.approx(second)


def test_what_cannot_be_measured_says_why(card):
    x = torch.ones(6).cuda()
    for fn, plan, why in ((lambda x: x.argsort(), "eager", "argsort runs on the host"),
                          (lambda x: x, "compiled", "nothing runs on the card")):
        with pytest.raises(watched.Refused, match=why):
            watched.watched(fn, [x], plan)


def test_figures_of_a_card(card, monkeypatch):
    monkeypatch.setattr(figures, "REGION", 1)
    found = figures.figures("a card of paper", large=1000, matrix=8)
    assert found.of == "a card of paper"
    assert min(found.operator, found.launch, found.shortest, found.bandwidth, found.arithmetic) > 0
    assert found.call >= 0 and found.replay >= 0


def test_memory_of_what_was_watched_goes_back(card):
    given = [torch.ones(40).cuda(), torch.ones(40).cuda()]
    used = torch.cuda.memory_allocated()
    for plan in PLANS:
        watched.watched(block, given, plan)
    gc.collect()  # compiled functions are in cycles
    assert torch.cuda.memory_allocated() == used
