"""SaveOrRecompute in JupyterLab: a guess, the budget, a forced value, and the kernel's answer."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

SAVING = """
import labcore as torch
from widgets import SaveOrRecompute

def wave(x, w):
    return torch.tanh(torch.sin(x * w) + 1)

widget = SaveOrRecompute(wave)
widget
"""


@pytest.mark.parametrize("theme", ["dark"])
def test_the_cut_moves(open_cells: Open, theme: str) -> None:
    book = open_cells(SAVING)
    book.run_all()
    root = book.page.locator('[data-widget="save_or_recompute"]')
    part = lambda name: root.get_by_test_id(name)
    expect(root).to_have_attribute("data-state", "asking")
    expect(part("count-bytes")).to_have_text("64 B")
    part("bet-48 B").click()
    expect(part("say")).to_contain_text("You said 48 B: right.")
    expect(root.locator(".sr-cell")).to_have_count(3)
    part("slider-budget").focus()
    book.page.keyboard.press("Home")
    expect(part("count-bytes")).to_have_text("32 B")
    expect(part("count-again")).to_have_text("4")
    book.page.keyboard.press("End")
    mark = root.locator('.sr-pill[data-name="tanh"]').first
    mark.focus()
    book.page.keyboard.press("Enter")
    expect(part("card")).to_contain_text("it lies in memory in any case")
    part("force-again").check()
    expect(part("count-bytes")).to_have_text("32 B")
    root.locator('.sr-pill[data-name="mul"]').first.click()
    part("force-save").check()
    expect(part("say")).to_contain_text("48 B cross the cut")  # only the kernel could tell
    part("release").click()
    expect(root.locator(".sr-pin")).to_have_count(0)
