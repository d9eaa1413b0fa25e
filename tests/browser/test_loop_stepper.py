"""LoopStepper in JupyterLab: one body under six handlers, another body, another element."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

STEPPER = """
import labcore as torch
from widgets import LoopStepper

def block(x, bias):
    return (x + bias).relu() * 2

stepper = LoopStepper(block)
stepper
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_one_body_under_six_handlers(open_cells: Open, motion: str) -> None:
    book = open_cells(STEPPER)
    book.run_all()
    widget = book.widget("loop_stepper")
    bet = widget.part("bet-1")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home", "ArrowRight")
    expect(widget.part("say")).to_contain_text("ShowNest is asked to load x at i0")
    run = widget.part("run-count")
    run.focus()
    widget.page.keyboard.press("Enter")
    expect(widget.part("say")).to_contain_text("Count is asked to load x at i0")
    expect(widget.part("result")).to_have_text("4")
    widget.press("ArrowRight")
    expect(widget.part("result")).to_have_text("8")
    widget.press("ArrowLeft")
    expect(widget.part("result")).to_have_text("4")
    widget.part("run-cuda").focus()
    widget.page.keyboard.press("Enter")
    expect(widget.part("say")).to_contain_text("GridPrinter is asked to load x at i0")
    expect(widget.root.locator(".ls-lines")).to_contain_text("# launched as [1, 256]: flat")
    widget.press("End")
    widget.expect_state("done")
    expect(widget.part("say")).to_contain_text("You said 1: right.")
    expect(widget.part("say")).to_contain_text("12 lines for the CPU, 20 lines for a graphics card")
    widget.slide("element", 0)
    expect(widget.part("say")).to_contain_text("mul[0] = 0, with i0 = 0")


@pytest.mark.parametrize("theme", ["dark"])
def test_another_body_and_the_end_by_playing(open_cells: Open, theme: str) -> None:
    book = open_cells(STEPPER)
    book.run_all()
    widget = book.widget("loop_stepper")
    widget.part("when-before").check()
    menu = widget.part("choose-body")
    expect(menu.locator("option")).to_have_text(["add", "relu", "mul"])
    menu.select_option("2")
    expect(widget.root.locator(".ls-question").first).to_have_text('v0 = ops.load("relu", i0)')
    widget.press("+", "+")
    widget.play()
    expect(widget.part("say")).to_contain_text("The same 4 questions each time")
