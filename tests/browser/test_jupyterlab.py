"""JupyterLab itself: a cell runs, a widget draws, the keyboard belongs to the focused control."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

RACE = """
from widgets import AccessRace

AccessRace(lambda x, bias: (x + bias).relu() * 2)
"""

# The frame of every widget of the lab, at its smallest: a stage, a slider, a counter, two states.
PROBE = '''
import anywidget, traitlets

class Probe(anywidget.AnyWidget):
    size = traitlets.Int(4).tag(sync=True)
    _esm = """
    export default { render({ model, el }) {
      el.innerHTML = `<section class="lab" data-widget="probe" data-state="paused" data-beat="0">
        <label>size<input type="range" min="1" max="16" value="4" aria-label="size"
          data-lm-suppress-shortcuts="true"></label>
        <div class="lab-stage" tabindex="0" data-lm-suppress-shortcuts="true">stage</div>
        <div class="lab-counter"><b class="lab-num">0</b></div>
        <span data-testid="answer"></span></section>`;
      const root = el.querySelector("section"), $ = (q) => el.querySelector(q);
      $("input").oninput = (e) => { model.set("size", +e.target.value); model.save_changes(); };
      $(".lab-stage").onkeydown = (e) => { if (e.key !== " ") return;
        $(".lab-num").textContent = 7 * model.get("size");
        root.dataset.beat = 1; root.dataset.state = "done"; };
      model.on("msg:custom", (m) => { $("[data-testid=answer]").textContent = m.twice; });
    } };
    """

probe = Probe()
probe.observe(lambda change: probe.send({"twice": 2 * change["new"]}), "size")
probe
'''


def test_cells_run_and_their_errors_are_seen(open_cells: Open) -> None:
    book = open_cells("print(6 * 7)", "import labcore.dtypes\nlabcore.dtypes.float32.itemsize")
    book.run_all()
    expect(book.output(0)).to_have_text("42")
    expect(book.output(1)).to_contain_text("4")
    assert book.errors() == []


def test_a_raised_error_is_reported(open_cells: Open) -> None:
    book = open_cells("import sys\nprint('a note', file=sys.stderr)\n(3).shape")
    book.run_all()
    (error,) = book.errors()
    assert "'int' object has no attribute 'shape'" in error


def test_a_notebook_that_stops_at_an_error_fails_with_it(open_cells: Open) -> None:
    # The kernel drops what waits behind an error: the second cell has to wait when it happens.
    book = open_cells("import time; time.sleep(2); 1 / 0", "print('never reached')")
    with pytest.raises(AssertionError, match="stopped at an error:(?s:.*)ZeroDivisionError"):
        book.run_all()


def test_a_widget_and_its_kernel_answer_the_keyboard_alone(open_cells: Open) -> None:
    book = open_cells(PROBE)
    book.run_all()
    widget = book.widget("probe")
    widget.expect_state("paused")
    widget.tab_to(widget.root.get_by_role("slider", name="size"))
    widget.slide("size", 8)
    expect(widget.part("answer")).to_have_text("16")
    widget.play()
    widget.expect_counters(56)
    assert widget.counters() == [56]
    assert widget.beat() == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_reader(open_cells: Open, theme: str) -> None:
    book = open_cells("'themed'")
    is_light = "true" if theme == "light" else "false"
    expect(book.page.locator("body")).to_have_attribute("data-jp-theme-light", is_light)


def test_the_controls_stay_in_sight_on_a_small_screen(open_cells: Open) -> None:
    """A widget is taller than a laptop's window; its bar sticks to the window's end."""
    book = open_cells(RACE)
    book.page.set_viewport_size({"width": 1366, "height": 700})
    book.run_all()
    widget = book.widget("access_race")
    widget.root.evaluate("root => root.scrollIntoView({block: 'start'})")
    expect(widget.root.locator(".lab-title")).to_be_in_viewport()
    expect(widget.root.locator(".lab-bar")).to_be_in_viewport(ratio=1)
