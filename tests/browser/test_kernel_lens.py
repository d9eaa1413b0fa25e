"""KernelLens in JupyterLab: kin light up by pointing, by keyboard and by playing; other kernels."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook, Widget

Open = Callable[..., OpenNotebook]

LENS = """
import labcore as torch
from widgets import KernelLens

def block(x, bias):
    return (x + bias).relu() * 2

lens = KernelLens(block)
lens
"""
SEVERAL = """
import labcore as torch
from widgets import KernelLens

def layer(x, w):
    return torch.relu(x @ w + 1).sum(1)

lens = KernelLens(layer, torch.ones(8, 64, requires_grad=True), torch.ones(64, 64))
lens
"""


def lit(widget: Widget, level: str) -> list[str]:
    """The texts of a level's lit lines."""
    rows = widget.root.locator(f".kl-col[data-level='{level}'] .kl-row[data-role] .lab-src")
    return [text.strip() for text in rows.all_text_contents()]


@pytest.mark.parametrize("motion", ["reduce"])
def test_kin_light_up_by_keyboard_and_by_pointing(open_cells: Open, motion: str) -> None:
    book = open_cells(LENS, "lens.beat = 3")
    book.run_all()
    widget = book.widget("kernel_lens")
    expect(widget.root).to_have_attribute("data-beat", "3")
    assert lit(widget, "kernel") == ["tmp2 = tmp0 + tmp1"]
    widget.press("ArrowRight", "ArrowRight")
    assert lit(widget, "kernel") == ["tmp4 = tmp3 * float32(2)"]
    assert lit(widget, "graph") == ["mul = relu * 2"]
    assert lit(widget, "loops") == ["tmp4 = tmp3 * 2.0"]
    expect(widget.part("say")).to_contain_text("mul becomes tmp4 = tmp3 * float32(2)")

    row = widget.root.locator(".kl-col[data-level='kernel'] .kl-row").filter(has_text="relu(")
    row.last.focus()
    expect(widget.part("say")).to_contain_text("relu becomes tmp3 = relu(tmp2)")
    widget.page.keyboard.press("ArrowDown")
    expect(widget.part("say")).to_contain_text("mul becomes")
    widget.page.keyboard.press("ArrowUp")
    widget.page.keyboard.press("Enter")  # pins it
    widget.part("act-play").focus()
    assert lit(widget, "kernel") == ["tmp3 = relu(tmp2)"]
    widget.press("ArrowLeft")  # time goes on
    assert lit(widget, "kernel") == ["tmp3 = relu(tmp2)"]
    widget.press("ArrowLeft")
    assert lit(widget, "kernel") == ["tmp2 = tmp0 + tmp1"]

    graph = widget.root.locator(".kl-col[data-level='graph'] .kl-row")
    wide = widget.root.evaluate("el => el.clientWidth") > 960
    (graph.first.hover if wide else graph.first.click)()
    assert lit(widget, "kernel") == ["tmp0 = x[i0]"]


@pytest.mark.parametrize("theme", ["dark"])
def test_the_form_for_reading_and_other_kernels(open_cells: Open, theme: str) -> None:
    book = open_cells(SEVERAL)
    book.run_all()
    widget = book.widget("kernel_lens")
    expect(widget.part("say")).to_contain_text("hands this step to a library")
    menu = widget.part("choose-kernel")
    menu.select_option("1")
    kernel = widget.root.locator(".kl-col[data-level='kernel']")
    expect(kernel).to_contain_text("radd(")
    widget.part("form-plain").check()
    expect(kernel).to_contain_text("sum_total = sum_total + ")
    bet = widget.part("bet-1")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("+", "+")
    widget.press("End")
    widget.expect_state("done")
    expect(widget.part("say")).to_contain_text("You said 1: right.")
    last = menu.locator("option").count() - 1
    menu.select_option(str(last))
    expect(menu).to_have_value(str(last))
    expect(widget.root).to_contain_text("backward")
