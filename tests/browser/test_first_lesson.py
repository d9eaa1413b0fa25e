"""The first lesson as a learner has it: run every cell, watch the race and the calls, by keyboard
alone.
"""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook, Widget

Open = Callable[..., OpenNotebook]
LESSON = "00_one_function_two_plans.ipynb"


def answer(widget: Widget, choice: str) -> None:
    """Commit to a prediction with the keyboard."""
    bet = widget.part(f"bet-{choice}")
    bet.focus()
    widget.page.keyboard.press("Enter")


@pytest.mark.parametrize("motion", ["reduce"])
def test_the_lesson_runs_and_its_widgets_count(open_in_lab: Open, motion: str) -> None:
    book = open_in_lab(LESSON)
    book.run_all()
    (refused,) = book.errors()  # the one cell that breaks on purpose
    assert "Unsupported" in refused and ".item()" in refused

    race = book.widget("access_race")
    race.expect_counters(0, 0)
    answer(race, "12")
    race.press("End")
    race.expect_state("done")
    race.expect_counters(28, 12)
    race.slide("elements N", 8)
    race.press("End")
    race.expect_counters(56, 24)

    theater = book.widget("variant_theater")
    theater.press("End")
    theater.expect_state("done")
    theater.expect_counters(2, 2, 1, 2)


def test_the_race_is_watched_access_by_access(open_in_lab: Open) -> None:
    book = open_in_lab(LESSON)
    book.run_all()
    race = book.widget("access_race")
    race.tab_to(race.part("bet-28"), limit=200)
    race.page.keyboard.press("Enter")
    race.press("ArrowRight")
    expect(race.root).to_have_attribute("data-beat", "1")
    assert race.counters() == [1, 1]
    race.press("ArrowRight", "ArrowRight")
    expect(race.root).to_have_attribute("data-beat", "3")
    assert race.counters() == [3, 3]
    race.press("ArrowLeft")
    expect(race.root).to_have_attribute("data-beat", "2")
    race.press("+", "+")
    race.play()
    race.expect_counters(28, 12)
    expect(race.part("say")).to_contain_text("12")
