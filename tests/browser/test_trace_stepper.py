"""TraceStepper in JupyterLab: stepped forward and back, jumped, and read by keyboard alone."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

STEPPER = """
import labcore as torch
from widgets import TraceStepper

def helper(y):
    return y * 2

def calling(x):
    return helper(x + 1).relu()

TraceStepper(calling, torch.ones(4))
"""


@pytest.mark.parametrize("motion", ["reduce"])
def test_a_graph_grows_as_the_bytecode_is_read(open_cells: Open, motion: str) -> None:
    book = open_cells(STEPPER)
    book.run_all()
    widget = book.widget("trace_stepper")
    widget.expect_counters(0, 0, 0)
    bet = widget.part("bet-3")
    bet.focus()
    widget.page.keyboard.press("Enter")
    widget.press("Home")
    jump = widget.part("jump-node")
    jump.focus()
    widget.page.keyboard.press("Enter")
    expect(widget.part("say")).to_contain_text("the graph gets x + 1")
    assert widget.counters()[1] == 1
    frames = widget.root.locator(".ts-frame")
    expect(frames).to_have_count(1)
    jump.focus()
    widget.page.keyboard.press("Enter")
    expect(frames).to_have_count(2)
    expect(frames.first).to_contain_text("helper()")
    assert widget.counters()[1] == 2
    beat = widget.beat()
    widget.press("ArrowLeft")
    expect(widget.root).to_have_attribute("data-beat", str(beat - 1))
    assert widget.counters()[1] == 1
    widget.press("End")
    widget.expect_state("done")
    assert widget.counters()[1] == 3
    expect(frames).to_have_count(1)
    expect(widget.part("say")).to_contain_text("You said 3: right.")
    nodes = widget.root.locator(".lab-node:not([data-hidden])")
    expect(nodes).to_have_count(5)


@pytest.mark.parametrize("theme", ["dark"])
def test_it_plays_to_the_end(open_cells: Open, theme: str) -> None:
    book = open_cells(STEPPER)
    book.run_all()
    widget = book.widget("trace_stepper")
    widget.press("+", "+")
    widget.play()
    assert widget.counters()[1] == 3
