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
    "06_a_clean_graph",
    "07_backward_ahead_of_time",
)


@pytest.mark.parametrize("motion", ["reduce"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_from_top_to_bottom(open_in_lab: Open, lesson: str, motion: str) -> None:
    book = open_in_lab(f"{lesson}.ipynb")
    book.run_all()
    assert book.errors() == []
    expect(book.panel.locator(".jp-OutputPlaceholder")).to_have_count(0)
    # An exercise that nobody has begun says so, and hides nothing behind it.
    assert book.panel.get_by_text("Not begun: replace the ...").count() >= 2
