"""BreakMap in JupyterLab: predicted, stepped, read and looked through by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

MAP = """
import labcore as torch
from widgets import BreakMap

def loop(x, n):
    x = x * 2
    for i in range(n):
        print(end="")
        x = x + 1
    return x.relu()

BreakMap(torch.compile(loop, backend="eager"), (torch.ones(4), 1000))
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_a_call_is_followed_through_its_regions(open_cells: Open, motion: str) -> None:
    book = open_cells(MAP)
    book.run_all()
    widget = book.widget("break_map")
    widget.expect_counters(0, 0, 0)
    expect(widget.part("tab-A")).to_be_hidden()  # nothing on the screen tells the answer
    bet = widget.part("bet-3")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home", "ArrowRight", "ArrowRight")
    widget.expect_counters(1, 1, 0)
    expect(widget.part("tab-A")).to_have_attribute("aria-pressed", "true")
    widget.press("ArrowRight", "ArrowRight")
    widget.expect_counters(1, 1, 1)
    expect(widget.part("say")).to_contain_text("breaks the graph: call of print()")
    widget.press("ArrowLeft")
    widget.expect_counters(1, 1, 0)
    widget.press("End")
    widget.expect_state("done")
    widget.expect_counters(3, 1001, 1000)
    expect(widget.part("say")).to_contain_text("You said 3: right.")


@pytest.mark.parametrize("motion", ["reduce"])
def test_rounds_and_cards_are_reached_by_keyboard(open_cells: Open, motion: str) -> None:
    book = open_cells(MAP)
    book.run_all()
    widget = book.widget("break_map")
    rounds = widget.part("slider-round").first
    beat = 0
    while not rounds.is_visible():
        widget.press("ArrowRight")
        beat += 1
        assert beat < 30, "no beat stands for many rounds"
    rounds.focus()
    widget.page.keyboard.press("Home")
    expect(widget.part("say")).to_contain_text("Round 2 of 999")
    widget.page.keyboard.press("ArrowRight")
    expect(widget.part("say")).to_contain_text("Round 3 of 999")
    tab = widget.part("tab-B")
    tab.focus()
    widget.page.keyboard.press("Enter")
    expect(tab).to_have_attribute("aria-pressed", "true")
    graph = widget.root.locator(".bm-card .lab-graph")
    expect(graph).to_be_visible()
    widget.part("form-graph").focus()
    widget.page.keyboard.press("ArrowRight")
    expect(graph).to_be_hidden()
    expect(widget.root.locator(".bm-bytecode")).to_contain_text("FOR_ITER")


LONG = """
import labcore as torch
from widgets import BreakMap

def long_line(x):
    y = x.relu() * 2 + x.abs() * 3 - x.exp() + x.sigmoid() * 0.5 + x.tanh() * 0.25 + x.cos()
    print(end="")
    return y

BreakMap(torch.compile(long_line, backend="eager"), 4)
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_a_line_that_does_not_fit_is_cut_with_an_ellipsis_and_told_in_full(
    open_cells: Open, motion: str
) -> None:
    book = open_cells(LONG)
    book.run_all()
    widget = book.widget("break_map")
    widget.press("Home", "ArrowRight", "ArrowRight")  # the region runs in the long line
    line = widget.root.locator(".bm-rows .lab-src", has_text="x.relu() * 2")
    cut = line.evaluate("src => src.scrollWidth > src.clientWidth")
    assert cut and line.evaluate("src => getComputedStyle(src).textOverflow") == "ellipsis"
    expect(widget.root.locator(".bm-full")).to_contain_text("+ x.tanh() * 0.25 + x.cos()")
