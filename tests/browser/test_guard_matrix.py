"""GuardMatrix in JupyterLab: predicted, stepped, and each guard reached by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

MATRIX = """
import labcore as torch
from widgets import GuardMatrix

def block(x, bias):
    y = x + bias
    return y.relu() * 2

GuardMatrix(block, 4, 8, 8)
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_the_first_guard_that_fails_is_found_and_leads_to_the_line(
    open_cells: Open, motion: str
) -> None:
    book = open_cells(MATRIX)
    book.run_all()
    widget = book.widget("guard_matrix")
    widget.part("bet-x.size() == (4,)").click()
    widget.press("Home")
    call = widget.part("call-2")
    call.focus()
    widget.page.keyboard.press("Enter")
    expect(call).to_have_attribute("aria-pressed", "true")
    failed = widget.root.locator(".gm-cell[data-state='fail']")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("came (8,)")
    detail = widget.part("detail")
    expect(detail).to_contain_text("size mismatch at index 0. expected 4, actual 8")
    expect(detail.locator(".lab-line[data-on]")).to_contain_text("y = x + bias")
    expect(detail.locator(".gm-carets")).to_have_text("        ^^^^^^^^", use_inner_text=False)
    widget.press("End")
    expect(widget.part("say")).to_contain_text("You said x.size() == (4,): right.")


@pytest.mark.parametrize("motion", ["reduce"])
def test_guards_are_walked_with_arrows_and_all_variants_are_asked_on_demand(
    open_cells: Open, motion: str
) -> None:
    book = open_cells(MATRIX)
    book.run_all()
    widget = book.widget("guard_matrix")
    widget.press("End")  # the third call hit 0/1; 0/0 behind it was not asked
    first = widget.root.locator("[data-testid='row-0/1'] .gm-cell").first
    first.focus()
    widget.page.keyboard.press("ArrowRight")
    widget.page.keyboard.press("ArrowDown")
    below = widget.root.locator("[data-testid='row-0/0'] .gm-cell").nth(1)
    expect(below).to_be_focused()
    widget.expect_state("done")  # the arrows did not move the clock
    widget.page.keyboard.press("Enter")
    expect(below).to_have_attribute("data-chosen", "")
    expect(below).to_have_attribute("data-state", "skip")
    widget.part("ask-all").check()
    expect(below).to_have_attribute("data-state", "would-ok")
    would = widget.root.locator("[data-testid='row-0/0'] .gm-cell[data-state='would-fail']")
    expect(would).to_contain_text("came (8,)")
    widget.part("ask-all").uncheck()
    expect(would).to_have_count(0)
