"""VariantTheater in JupyterLab: guessed, switched, edited and played over the limit by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook, Widget
from .server import Lab

Open = Callable[..., OpenNotebook]

THEATER = """
import labcore as torch
from widgets import VariantTheater

def block(x, bias):
    return (x + bias).relu() * 2

show = VariantTheater(block, 4, 4, 8, 4)
show
"""


def guess(widget: Widget, call: int, wanted: str) -> None:
    widget.part(f"guess-{call}").select_option(wanted)


def totals(widget: Widget, setting: str, *values: int) -> None:
    """What the table says of a setting that is not shown now."""
    names = ("hits", "misses", "recompiles", "variants")
    for name, value in zip(names, values, strict=True):
        expect(widget.part(f"total-{setting}-{name}")).to_have_text(str(value))


@pytest.mark.parametrize("motion", ["reduce"])
def test_calls_are_guessed_and_scored(open_cells: Open, motion: str) -> None:
    book = open_cells(THEATER)
    book.run_all()
    widget = book.widget("variant_theater")
    widget.expect_counters(0, 0, 0, 0)
    for call, wanted in ((1, "compile"), (2, "hit"), (3, "hit")):
        guess(widget, call, wanted)
    expect(widget.part("score")).to_have_text("")
    widget.press("End")
    widget.expect_counters(2, 2, 1, 2)
    expect(widget.part("score")).to_have_text("2 of 3 right")
    expect(widget.part("say")).to_contain_text("You were right about 2 of 3.")
    expect(widget.part("ticket-3")).to_contain_text("you: hit")
    widget.press("Home")
    expect(widget.part("score")).to_have_text("")


@pytest.mark.parametrize("motion", ["reduce"])
def test_the_switch_replays_the_same_calls(open_cells: Open, motion: str) -> None:
    book = open_cells(THEATER, "show.dynamic = True\nprint(show.summary())")
    book.run_all()  # the second cell turned the switch
    widget = book.widget("variant_theater")
    expect(widget.part("dynamic-dynamic")).to_be_checked()
    expect(book.output(1)).to_contain_text("4 calls, 3 hits, 1 miss, 0 recompiles, 1 variant")
    widget.press("End")
    widget.expect_counters(3, 1, 0, 1)
    static = widget.part("dynamic-static")
    widget.part("dynamic-dynamic").focus()
    widget.page.keyboard.press("ArrowDown")  # round the corner of the radio group
    expect(static).to_be_checked()
    expect(static).to_be_focused()
    widget.expect_counters(2, 2, 1, 2)  # at its end, as the other one was
    totals(widget, "dynamic", 3, 1, 0, 1)
    expect(widget.part("total-automatic-hits")).to_have_text("–")  # not played yet
    widget.press("Home")
    widget.expect_counters(0, 0, 0, 0)


@pytest.mark.parametrize("motion", ["reduce"])
def test_other_sizes_and_another_limit_are_run_by_the_kernel(
    open_cells: Open, motion: str
) -> None:
    book = open_cells(THEATER)
    book.run_all()
    widget = book.widget("variant_theater")
    sizes = widget.part("sizes")
    sizes.fill("2, 3, 4, 5, 2")
    sizes.press("Enter")
    expect(widget.part("ticket-5")).to_be_visible()
    expect(widget.part("sizes")).to_be_focused()
    widget.press("End")
    widget.expect_counters(1, 4, 3, 4)
    widget.slide("recompile limit", 2)
    expect(widget.part("slider-limit")).to_be_focused()
    widget.expect_counters(1, 4, 1, 2)
    expect(widget.part("say")).to_contain_text("Past the limit, 2 calls ran in Python")
    widget.part("sizes").fill("2, three")
    widget.part("sizes").press("Enter")
    expect(widget.root).to_contain_text("Sizes are whole numbers from 0 to 4096")
    widget.expect_counters(1, 4, 1, 2)


@pytest.mark.parametrize("motion", ["reduce"])
def test_without_a_kernel_the_switch_works_and_editing_says_why_not(
    open_cells: Open, lab: Lab, motion: str
) -> None:
    book = open_cells(THEATER)
    book.run_all()
    widget = book.widget("variant_theater")
    lab.stop_kernels()
    widget.part("sizes").fill("2, 3")
    widget.part("sizes").press("Enter")
    expect(widget.root).to_contain_text("sizes and limit need a running kernel")
    widget.part("dynamic-dynamic").check()
    widget.press("End")
    widget.expect_counters(3, 1, 0, 1)


@pytest.mark.parametrize("motion", ["reduce"])
def test_two_on_a_page_have_each_its_own_switch(open_cells: Open, motion: str) -> None:
    book = open_cells(THEATER, "VariantTheater(block, 4, 8, dynamic=None)")
    book.run_all()
    first, second = (book.widget("variant_theater", n) for n in (0, 1))
    expect(first.part("dynamic-static")).to_be_checked()
    expect(second.part("dynamic-automatic")).to_be_checked()
    second.part("dynamic-dynamic").check()
    expect(first.part("dynamic-static")).to_be_checked()
    second.root.get_by_text("sizes of the calls").click()  # a label leads to its own field
    expect(second.part("sizes")).to_be_focused()
