"""GridView in JupyterLab: requests of warps, another kernel, the end by playing."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

VIEW = """
import labcore as torch
from widgets import GridView

def total(x, y):
    return (x + y.t()).sum()

view = GridView(total, torch.ones(160, 160), torch.ones(160, 160))
view
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_requests_of_warps(open_cells: Open, motion: str) -> None:
    book = open_cells(VIEW)
    book.run_all()
    widget = book.widget("grid_view")
    bet = widget.part("bet-32")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home", "ArrowRight")
    expect(widget.part("say")).to_contain_text("Warp 0: 32 threads read x. 128 bytes in 4 sectors")
    expect(widget.part("count-sectors")).to_have_text("4")
    expect(widget.root.locator(".lab-line[data-on] .lab-src")).to_contain_text("x_r[k] = x[")
    widget.press("End")
    widget.expect_state("done")
    expect(widget.part("say")).to_contain_text("You said 32; it is 4.")
    expect(widget.part("say")).to_contain_text("would do")


@pytest.mark.parametrize("theme", ["dark"])
def test_another_kernel(open_cells: Open, theme: str) -> None:
    book = open_cells(VIEW)
    book.run_all()
    widget = book.widget("grid_view")
    menu = widget.part("choose-kernel")
    expect(menu.locator("option")).to_have_count(2)
    menu.select_option("1")
    expect(widget.root.locator(".gv-reason")).to_contain_text("one row of 25600")
    widget.press("End")
    widget.expect_state("done")
