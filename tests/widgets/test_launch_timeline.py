"""LaunchTimeline: launches and kernels of a recorded call, in the widget, its text, its picture."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore.measure.lanes import H200, PLANS
from labcore.tensor.cuda import card_in_use
from tests.card.fake import paper_card
from tests.widgets import launches_fixture
from tests.widgets.launches_fixture import LAYER, chain, columns, layer
from tests.widgets.programs import block
from widgets import LaunchTimeline
from widgets.launch_timeline import rows


def test_the_text():
    assert repr(LaunchTimeline(block)).splitlines() == [
        "LaunchTimeline(block: 4,096 elements; a model with the figures of "
        "one NVIDIA H200, 2026-11-30)",
        "  eager               3 launches, 3 kernels: 31 us, card busy 10%",
        "  eager, replayed     1 launch, 3 kernels: 6 us, card busy 50%",
        "  compiled            1 launch, 1 kernel: 11.4 us, card busy 9%",
        "  compiled, replayed  1 launch, 1 kernel: 10 us, card busy 10%",
    ]


def test_bytes_are_those_that_the_threads_moved():
    (variant,) = LaunchTimeline(block, torch.ones(1000), torch.ones(1000)).trace["variants"]
    assert [k["bytes"] for k in variant["eager"]] == [12000, 8000, 8000]
    assert [k["bytes"] for k in variant["compiled"]] == [12000]
    assert [k["name"] for k in variant["eager"]] == ["add", "relu", "mul"]


def test_a_slider_for_the_number_of_operations():
    view = LaunchTimeline(chain, counts=(1, 2, 8))
    assert view.variant == 1 and "chain, 2: 4,096" in repr(view)
    assert [len(v["eager"]) for v in view.trace["variants"]] == [3, 6, 24]
    assert [len(v["compiled"]) for v in view.trace["variants"]] == [1, 1, 1]
    view.variant = 2
    assert "24 launches" in repr(view)


def test_a_product_of_matrices_has_its_bytes_and_its_work():
    (variant,) = LaunchTimeline(layer, *LAYER).trace["variants"]
    assert [k["name"] for k in variant["eager"]] == ["matmul", "add", "relu"]
    assert [k["name"] for k in variant["compiled"]] == ["matmul", "add_relu"]
    product = variant["compiled"][0]
    assert product["bytes"] == 4 * (32 * 24 + 24 * 16 + 32 * 16)
    assert product["work"] == 2 * 32 * 24 * 16
    assert H200.kernel(0, 51e12) == 1.0


def test_a_module_is_copied_to_the_card():
    model = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU())
    view = LaunchTimeline(model, torch.ones(4, 8))
    (variant,) = view.trace["variants"]
    assert [k["name"] for k in variant["compiled"]] == ["matmul", "add_relu"]
    assert view.trace["function"] == "Sequential"
    assert {p.device.type for p in model.parameters()} == {"cpu"}


def test_an_operator_s_first_kernel_is_known():
    (variant,) = LaunchTimeline(columns, torch.ones(64, 64)).trace["variants"]
    first = [k["first"] for k in variant["eager"]]
    assert sum(first) == 2 < len(first)


def test_large_tensors_hide_launches():
    variant = LaunchTimeline(chain, counts=(4,)).trace["variants"][0]
    lanes = {plan: found for plan, found, _ in rows(variant, 4**8)}
    assert lanes["eager"].busy > 0.99
    assert lanes["eager_replayed"].end > 0.99 * lanes["eager"].end
    small = {plan: found for plan, found, _ in rows(variant)}
    assert small["eager_replayed"].end < 0.2 * small["eager"].end


@pytest.mark.parametrize(("fn", "args", "why"), [
    (block, (torch.ones(5000), torch.ones(5000)), "5,000 elements take too long there"),
    (lambda x: x @ x.argsort().float(), (torch.ones(4),), "shows kernels: argsort runs on the"),
    (lambda x: x.argsort(), (torch.ones(4),), "shows kernels: argsort runs on the host"),
    (lambda x: x, (torch.ones(4),), "nothing of it became a kernel"),
])
def test_what_it_cannot_show(fn, args, why):
    with pytest.raises(ValueError, match=why):
        LaunchTimeline(fn, *args)


def test_without_a_card_nothing_is_measured():
    before = card_in_use()
    trace = LaunchTimeline(block).trace
    assert (trace["card"], trace["measured"]) == ("", []) and card_in_use() is before
    json.dumps(trace)


def test_on_a_card_it_is_measured(monkeypatch, tmp_path):
    monkeypatch.setenv("LAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("labcore.measure.watched.CALLS", 1)
    monkeypatch.setattr("labcore.measure.watched.REPEAT", 2)
    with paper_card(monkeypatch) as card:
        x, bias = torch.ones(40).cuda(), torch.ones(40).cuda()
        trace = LaunchTimeline(block, x, bias).trace
        assert card_in_use() is card and card.allocator.here.pool is None
        assert x.tolist() == [1.0] * 40
    assert trace["card"] == "a card of paper"
    ((found,),) = trace["measured"]
    assert found["elements"] == 40 and list(found["plans"]) == list(PLANS)
    counts = {plan: (len(p["host"]), len(p["device"])) for plan, p in found["plans"].items()}
    assert counts == {"eager": (3, 3), "eager_replayed": (1, 3), "compiled": (1, 1),
                      "compiled_replayed": (1, 1)}
    assert found["plans"]["eager"]["names"] == ["add", "relu", "mul"]
    for plan in found["plans"].values():
        assert all(a < b for a, b in [*plan["host"], *plan["device"]])
    json.dumps(trace)


def test_the_figures_are_those_of_a_card():
    assert H200.kernel(0) == H200.shortest and H200.kernel(4.2e9) == pytest.approx(1e-3)


def test_the_picture_is_svg_and_the_same_every_time():
    pictures = {LaunchTimeline(block).picture() for _ in range(2)}
    assert len(pictures) == 1
    root = ElementTree.fromstring(pictures.pop())
    words = " ".join(text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "compiled, replayed" in words and "31 us, card busy 10%" in words
    assert "image/svg+xml" in LaunchTimeline(block)._repr_mimebundle_()[0]


def test_the_javascript_s_traces_are_those_of_today():
    assert launches_fixture.FILE.read_text() == launches_fixture.printed(), (
        "run: python -m tests.widgets.launches_fixture"
    )
