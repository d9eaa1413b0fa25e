"""LaunchTimeline in JupyterLab: lanes that grow, sizes by keyboard, both languages' frame."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

VIEW = """
import labcore as torch
from widgets import LaunchTimeline

torch.cuda.simulate()

def chain(x, n):
    for _ in range(n):
        x = torch.relu(x + 1) * 0.5
    return x

view = LaunchTimeline(chain, counts=(1, 4))
view
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_small_tensors_leave_the_card_waiting(open_cells: Open, motion: str) -> None:
    book = open_cells(VIEW)
    book.run_all()
    widget = book.widget("launch_timeline")
    expect(widget.part("say")).to_contain_text("about to launch 12 kernels, of 4,096 elements")
    bet = widget.part("bet-about half")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home", "ArrowRight", "ArrowRight")
    expect(widget.part("say")).to_contain_text("eager has made 1 of 12 launches")
    widget.press("End")
    widget.expect_state("done")
    expect(widget.part("say")).to_contain_text("You said about half; it is less than a third.")
    expect(widget.part("say")).to_contain_text("The card waits for the CPU")
    waits = widget.root.locator(".lt-wait[visibility='visible']")
    assert waits.count() >= 12
    expect(widget.part("origin")).to_contain_text("Model: kernels and bytes of a recorded call")


@pytest.mark.parametrize("theme", ["dark"])
def test_large_tensors_keep_it_busy(open_cells: Open, theme: str) -> None:
    book = open_cells(VIEW)
    book.run_all()
    widget = book.widget("launch_timeline")
    widget.slide("elements N", 6)
    expect(widget.root).to_have_attribute("data-elements", str(4**12))
    widget.press("End")
    widget.expect_state("done")
    expect(widget.part("say")).to_contain_text("The CPU waits for the card")
    widget.slide("operations", 0)
    expect(widget.part("say")).to_contain_text("compiling alone")
    names = widget.root.locator(".lt-name[visibility='visible']").all_text_contents()
    assert "add" in names and "add_mul_relu" in names


def test_playing_ends_by_itself(open_cells: Open) -> None:
    book = open_cells(VIEW)
    book.run_all()
    widget = book.widget("launch_timeline")
    widget.play()
    expect(widget.root.locator(".lt-svg")).to_have_attribute(
        "aria-label",
        "eager: 12 launches, 12 kernels, 121 us, card busy 10 %; "
        "eager, replayed: 1 launch, 12 kernels, 15 us, card busy 80 %; "
        "compiled: 1 launch, 1 kernel, 11.4 us, card busy 9 %; "
        "compiled, replayed: 1 launch, 1 kernel, 10 us, card busy 10 %",
    )
