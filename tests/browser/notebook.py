"""A notebook open in JupyterLab, and the lab's widgets in it, as a learner sees and handles them.

In: a page and a server.  Out: `OpenNotebook` (run, outputs) and `Widget` (state, counters, keys).
Invariant: a wait ends on something that the page shows, never on a time.
"""
from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from .server import Lab

RUN_SECONDS = 180
ERROR = re.compile(r"Traceback \(most recent call last\)|^(?:Syntax|Indentation)Error:", re.M)
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
# Done: every cell has a number.  Stopped: some have none and nothing runs: an error ends "Run All".
HOW_FAR = """panel => {
  const prompts = [...document.querySelectorAll(`${panel} .jp-CodeCell .jp-InputPrompt`)]
    .map((p) => p.textContent.trim().replace(/:$/, ""));
  if (prompts.length === 0 || prompts.includes("[*]")) return null;
  const numbered = prompts.filter((p) => /^\\[\\d+\\]$/.test(p)).length;
  return numbered === prompts.length ? "done" : numbered > 0 ? "stopped" : null;
}"""


OPEN = """async path => {
  await jupyterapp.commands.execute("docmanager:open", { path, factory: "Notebook" });
}"""
CLOSE = "() => [...jupyterapp.shell.widgets('main')].forEach(widget => widget.dispose())"
SHOWN = ".jp-Document, .jp-Dialog, .jp-toastContainer .Toastify__toast"


class OpenNotebook:
    """The visible notebook of a page, joined to its kernel."""

    def __init__(self, page: Page, panel: Locator) -> None:
        self.page, self.panel = page, panel

    def run_all(self, seconds: float = RUN_SECONDS) -> None:
        """Run every cell from the menu; done is: each has a number, and the kernel rests."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        how_far = self.page.wait_for_function(HOW_FAR, arg=PANEL, timeout=seconds * 1000)
        wait_for_idle(self.page, seconds)
        if how_far.json_value() != "done":
            raise AssertionError("the notebook stopped at an error:\n" + "\n".join(self.errors()))

    def errors(self) -> list[str]:
        """What cells raised, as shown."""
        # JupyterLab draws an error as it draws stderr; the words tell them apart.
        shown = self.panel.locator(".jp-OutputArea-output[data-mime-type$='.stderr']")
        return [text for text in shown.all_text_contents() if ERROR.search(text)]

    def output(self, cell: int) -> Locator:
        """The output area of the code cell number `cell`, counted from 0."""
        return self.panel.locator(".jp-CodeCell").nth(cell).locator(".jp-Cell-outputArea")

    def widget(self, name: str, nth: int = 0) -> Widget:
        root = self.panel.locator(f"[data-widget='{name}']").nth(nth)
        expect(root).to_be_visible()
        return Widget(root)


class Widget:
    """One widget: its root says `data-state` (paused, running, done) and `data-beat`."""

    def __init__(self, root: Locator) -> None:
        self.root, self.page = root, root.page

    def part(self, testid: str) -> Locator:
        return self.root.get_by_test_id(testid)

    def beat(self) -> int:
        return int(self.root.get_attribute("data-beat") or "-1")

    def counters(self) -> list[int]:
        """The big numbers, in reading order."""
        return [int(t) for t in self.root.locator(".lab-counter .lab-num").all_text_contents()]

    def expect_counters(self, *values: int) -> None:
        """Wait until the big numbers, in reading order, are these."""
        shown = self.root.locator(".lab-counter .lab-num")
        expect(shown).to_have_text([str(v) for v in values])

    def expect_state(self, state: str) -> None:
        expect(self.root).to_have_attribute("data-state", state)

    def press(self, *keys: str) -> None:
        """Keys on the focused stage: Space plays, arrows step, Home and End jump."""
        self.root.locator(".lab-stage").focus()
        for key in keys:
            self.page.keyboard.press(key)

    def play(self) -> None:
        """Play to the end, by keyboard."""
        self.press("Space")
        self.expect_state("done")

    def slide(self, label: str, value: int) -> None:
        """Move a slider with the arrow keys alone, one step at a time."""
        slider = self.root.get_by_role("slider", name=label)
        slider.focus()
        there = int(slider.input_value())
        for step in range(abs(value - there)):
            self.page.keyboard.press("ArrowRight" if value > there else "ArrowLeft")
            # A key that the notebook took would also take the focus away.
            expect(slider).to_be_focused()
            expect(slider).to_have_value(str(there + (step + 1) * (1 if value > there else -1)))

    def tab_to(self, target: Locator, limit: int = 60) -> None:
        """Reach a control with Tab alone, from wherever the focus is."""
        for _ in range(limit):
            if target.evaluate("el => el === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{limit} times Tab did not reach {target}")


def wait_for_idle(page: Page, seconds: float) -> None:
    """The status bar names kernel and state only once the kernel is joined.

    The notebook's own indicator says "idle" even with no kernel at all.
    """
    bar = page.locator("#jp-main-statusbar")
    idle = bar.get_by_text(re.compile(r"Python 3 \(ipykernel\) \| Idle"))
    expect(idle).to_be_visible(timeout=seconds * 1000)


def open_notebook(lab: Lab, page: Page, path: str) -> OpenNotebook:
    """Open one notebook by itself, with its kernel running: in the JupyterLab of the page, or in a
    new one, with a workspace of its own."""
    lab.start_kernel(path)
    if page.url.startswith(lab.base):
        page.evaluate(OPEN, path)
    else:
        url = f"{lab.base}/doc/tree/{path}?token={lab.token}&reset"
        page.goto(url, wait_until="domcontentloaded")
    wait_for_idle(page, 90)
    return OpenNotebook(page, page.locator(PANEL))


def close_notebooks(lab: Lab, page: Page) -> None:
    """Close what is open, without a question what to do with changes."""
    if page.url.startswith(lab.base):
        page.evaluate(CLOSE)


def is_empty(page: Page) -> bool:
    """Is nothing shown but JupyterLab itself?"""
    return page.locator(SHOWN).count() == 0
