"""FusionCourt in JupyterLab: pairs one after the other, and a verdict on demand, three ways."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

COURT = """
import labcore as torch
from widgets import FusionCourt

def centred(x):
    y = torch.tanh(x)
    return y.sum(0, keepdim=True) + y * 2

court = FusionCourt(centred, torch.ones(2, 4))
court
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_pairs_are_tried_one_after_the_other(open_cells: Open, motion: str) -> None:
    book = open_cells(COURT)
    book.run_all()
    widget = book.widget("fusion_court")
    widget.expect_counters(4, 68, 272)
    bet = widget.part("bet-2")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home", "ArrowRight")
    expect(widget.part("say")).to_contain_text("mul and add share a loop: producer and consumer")
    widget.expect_counters(3, 52, 208)
    widget.press("ArrowRight")
    expect(widget.part("verdict")).to_contain_text("Two loops. It would flip if")
    failed = widget.root.locator(".fc-rules [data-mark='fail']")
    expect(failed).to_have_text("no reduction is read before it is complete")
    widget.press("ArrowLeft")
    expect(widget.part("verdict")).to_contain_text("One loop.")
    widget.press("End")
    widget.expect_state("done")
    widget.expect_counters(2, 44, 176)
    expect(widget.part("say")).to_contain_text("You said 2: right.")


@pytest.mark.parametrize("theme", ["dark"])
def test_a_verdict_on_demand(open_cells: Open, theme: str) -> None:
    book = open_cells(COURT, "court.pair = ['tanh', 'mul']")
    book.run_all()
    widget = book.widget("fusion_court")
    expect(widget.part("pair")).to_have_text("tanh|add")  # set from a cell; add computes mul
    expect(widget.part("bet-2")).to_be_hidden()  # its question is not on show
    mark = lambda name: widget.root.locator(f".lab-node[data-name='{name}']")
    for name in ("tanh", "mul"):  # by key: let go of both
        mark(name).focus()
        widget.page.keyboard.press("Enter")
    expect(widget.part("bet-2")).to_be_visible()
    mark("sum").focus()
    widget.page.keyboard.press("Enter")
    expect(widget.part("say")).to_contain_text("sum is chosen")
    expect(widget.part("bet-2")).to_be_hidden()
    mark("tanh").focus()
    widget.page.keyboard.press(" ")
    expect(widget.part("say")).to_contain_text("tanh and sum share a loop")
    mark("add").drag_to(mark("sum"))
    expect(widget.part("say")).to_contain_text("sum and add stay apart: reduction not finished")
    widget.press("ArrowRight")  # time goes on: the court has its own pair again
    expect(widget.part("pair")).to_have_text("mul|add")
