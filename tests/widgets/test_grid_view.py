"""GridView: requests of a block's warps, in the widget, its text and its picture."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from labcore.simulator import OutOfBounds
from labcore.tensor.cuda import card_in_use
from tests.card.fake import paper_card
from tests.widgets import grid_fixture
from tests.widgets.grid_fixture import apart, rows, square, turned
from tests.widgets.programs import block
from widgets import GridView


def test_the_text():
    assert repr(GridView(block)).splitlines() == [
        "GridView(block: 1 kernel, 24 sectors, 24 would do)",
        "  numba_fused_add_mul_relu_0[1, 256]",
        "    flat: pointwise: 4 elements a thread, 256 threads a block",
        "    x: 64 read, 0 written, 8 sectors of 8",
        "    bias: 64 read, 0 written, 8 sectors of 8",
        "    mul: 0 read, 64 written, 8 sectors of 8",
    ]


def test_a_read_with_a_stride_is_seen():
    view = GridView(apart, torch.ones(1024), torch.ones(8192))
    assert "y: 1024 read, 0 written, 1024 sectors of 128" in repr(view)
    read = next(e for e in view.shown["events"] if e["array"] == "y")
    assert (len(read["parts"]), set(read["parts"]), set(read["gaps"])) == (32, {4}, {1})
    assert read["of"] == list(range(32))


def test_a_transposed_operand_is_turned_in_shared_memory():
    view = GridView(turned, square(64), square(64))
    assert "1536 sectors, 1536 would do" in repr(view)
    assert "y_tile: 256 requests of shared memory, 0 turns lost" in repr(view)
    row, column = (
        next(e for e in view.shown["events"] if (e["space"], e["kind"]) == ("shared", kind))
        for kind in ("write", "read"))
    assert all(set(e["parts"]) == {1} and len(set(e["of"])) == 32 for e in (row, column))


def test_shared_memory_has_banks():
    view = GridView(rows, torch.ones(2, 600))
    shared = [e for e in view.shown["events"] if e["space"] == "shared"]
    assert {e["array"] for e in shared} == {"amax_acc_slots", "sum_acc_slots"}
    assert all(len(e["parts"]) == 32 and max(e["parts"]) == 1 for e in shared)
    assert "0 turns lost" in repr(view)


def test_sums_are_the_simulator_s():
    x = torch.ones(3, 600)
    view = GridView(rows, x)
    with torch_on_card(), torch.cuda.record() as launches:
        torch.compile(rows)(x.cuda())
    (launch,), (kernel,) = launches, view.trace["kernels"]
    assert {row["array"]: (row["reads"], row["writes"], row["sectors"])
            for row in kernel["traffic"]} == {
        name: (t.reads, t.writes, t.sectors) for name, t in launch.traffic.items()}


def torch_on_card():
    from widgets._grid import simulated

    return simulated()


def test_another_block_and_another_kernel():
    def total(x):
        return x.sum()

    view = GridView(total, torch.ones(20000), watch=3, kernel=1)
    assert view.shown["name"].endswith("_then_1") and view.shown["grid"] == [1]
    first = view.trace["kernels"][0]
    assert {e["warp"] // 8 for e in first["events"]} == {3}
    view.kernel = 0
    assert view.shown is first


def test_the_lines_are_those_of_the_text():
    kernel = GridView(rows, torch.ones(2, 600)).shown
    text = dict(kernel["lines"])
    read = kernel["events"][0]
    assert "load4(x, 600*i0 + i1, x_r, 4 * k)" in text[read["line"]]
    assert read["width"] == 16
    slots = next(e for e in kernel["events"] if e["space"] == "shared")
    assert text[slots["line"]].strip() == "slots[cuda.threadIdx.x >> 5] = v"


def test_the_card_is_as_it_was_before():
    assert not torch.cuda.is_available()
    GridView(block)
    assert not torch.cuda.is_available()


def test_a_card_that_was_in_use_is_so_again(monkeypatch):
    with paper_card(monkeypatch) as card:
        x = torch.ones(64).cuda()
        assert repr(GridView(block, x, x)) == repr(GridView(block))
        assert card_in_use() is card and (x + 1).tolist() == [2.0] * 64


def test_nobody_who_listens_hears_of_single_operators():
    with torch_on_card(), trace.record() as story:
        torch.ones(3, device="cuda") + 1
    assert story.of(trace.KernelForm) == []


def test_a_function_without_kernels():
    with pytest.raises(ValueError, match="GridView: nothing of <lambda> became a kernel"):
        GridView(lambda x: x, torch.ones(3))


def test_what_the_call_raises():
    def f(x, i):
        return x[i] + 1

    with pytest.raises((IndexError, OutOfBounds)):
        GridView(f, torch.ones(3), torch.tensor([7, 1]))


def test_a_long_story_is_cut_and_says_so():
    def many(x):
        return x * 2

    view = GridView(many, torch.ones(1024))
    assert view.shown["hidden"] == 0
    view = GridView(lambda x: x.cumsum(-1), torch.ones(130, 100))
    kernel = view.shown
    assert kernel["hidden"] > 0 and len(kernel["events"]) == 400


def test_the_picture_is_svg_and_the_same_every_time():
    pictures = {GridView(rows, torch.ones(2, 600)).picture() for _ in range(2)}
    assert len(pictures) == 1
    root = ElementTree.fromstring(pictures.pop())
    words = " ".join(text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "64 threads a row of 600" in words and "sectors" in words
    assert "image/svg+xml" in GridView(block)._repr_mimebundle_()[0]
    json.dumps(GridView(block).trace)


def test_the_javascript_s_traces_are_those_of_today():
    assert grid_fixture.FILE.read_text() == grid_fixture.printed(), (
        "run: python -m tests.widgets.grid_fixture"
    )
