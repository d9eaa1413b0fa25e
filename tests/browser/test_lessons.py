"""Lessons as a learner has them: every cell runs, and running unfolds what was folded."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]
LESSONS = (
    "03_guards_and_variants",
    "04_sizes",
    "clinic_a_slower_after_a_day",
    "clinic_b_nothing_happened",
    "06_a_clean_graph",
    "07_backward_ahead_of_time",
    "08_save_or_recompute",
    "08b_trained_twice",
    "11_reading_kernels",
    "13_compile_against_replay",
)


@pytest.mark.parametrize("motion", ["reduce"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_from_top_to_bottom(open_in_lab: Open, lesson: str, motion: str) -> None:
    book = open_in_lab(f"{lesson}.ipynb")
    book.run_all()
    assert book.errors() == []
    expect(book.panel.locator(".jp-OutputPlaceholder")).to_have_count(0)
    # An exercise that nobody has begun says so, and hides nothing behind it.
    assert book.panel.get_by_text("Not begun: replace the ...").count() >= 1


@pytest.mark.parametrize("motion", ["reduce"])
def test_the_budget_moves_the_cut(open_in_lab: Open, motion: str) -> None:
    book = open_in_lab("08_save_or_recompute.ipynb")
    book.run_all()
    cut = book.widget("save_or_recompute", nth=2)
    cut.expect_state("asking")
    expect(cut.part("count-bytes")).to_have_text("1792 B")
    cut.part("bet-1280 B").click()
    expect(cut.part("say")).to_contain_text("You said 1280 B: right.")
    slider = cut.part("slider-budget")
    slider.focus()
    cut.page.keyboard.press("Home")
    expect(slider).to_be_focused()
    expect(cut.part("count-bytes")).to_have_text("512 B")
    expect(cut.root.locator('.sr-pill[data-name="matmul"]')).to_have_count(2)
