"""AccessRace in JupyterLab with reductions: rows in passes, columns, a product between loops."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

import labcore as torch
from widgets import AccessRace

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

PROGRAMS = {
    "softmax": "torch.softmax(x, 1)",
    "columns": "x * 2 + x.sum(0)",
    "variance": "x.var(1).sum()",
    "product": "torch.relu(x @ x.t()).amax(1)",
}
CELL = """
import labcore as torch
from widgets import AccessRace

def fn(x):
    return {text}

AccessRace(fn, torch.tensor([[1.0, 2.0, -1.0], [0.5, 4.0, 3.0]]))
"""


def counts(text: str) -> tuple[int, int]:
    """The accesses of both lanes, by the kernel's own count."""
    scope = {"torch": torch}
    function = eval(f"lambda x: {text}", scope)
    race = AccessRace(function, torch.tensor([[1.0, 2.0, -1.0], [0.5, 4.0, 3.0]]))
    separate, fused = race.runs()
    return len(separate.accesses), len(fused.accesses)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("motion", ["reduce"])
def test_reductions_are_raced_access_by_access(open_cells: Open, name: str, motion: str) -> None:
    book = open_cells(CELL.format(text=PROGRAMS[name]))
    book.run_all()
    race = book.widget("access_race")
    separate, fused = counts(PROGRAMS[name])
    bet = race.part(f"bet-{fused}")
    bet.focus()
    race.page.keyboard.press("Enter")
    race.press("ArrowRight")
    expect(race.root).to_have_attribute("data-beat", "1")
    assert race.counters() == [1, 1]
    race.press("End")
    race.expect_state("done")
    race.expect_counters(separate, fused)
    race.press("ArrowLeft")
    assert race.counters()[0] == separate - 1


OUTSIDE = """lanes => lanes.flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  const names = [...svg.querySelectorAll(".ar-buf")].map(e => e.getBoundingClientRect().right);
  return [...svg.querySelectorAll(".ar-never")].filter(note => {
    const box = note.getBoundingClientRect();
    return box.left < Math.max(...names) || box.right > frame.right;
  }).map(note => note.textContent);
})"""


@pytest.mark.parametrize("width", [760, 1280])
@pytest.mark.parametrize("motion", ["reduce"])
def test_words_on_arrays_never_made_stay_in_their_row(
    open_cells: Open, width: int, motion: str
) -> None:
    book = open_cells(CELL.format(text=PROGRAMS["softmax"]))
    book.run_all()
    book.page.set_viewport_size({"width": width, "height": 1600})
    race = book.widget("access_race")
    race.press("End")
    race.expect_state("done")
    expect(race.root.locator(".ar-never").first).to_be_visible()
    assert race.root.locator("svg:has(.ar-never)").evaluate_all(OUTSIDE) == []
