"""Amortizer in JupyterLab: a guess, a slider, another sum, and the figures of a function."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .notebook import OpenNotebook

Open = Callable[..., OpenNotebook]

PAYS = """
import labcore as torch
from widgets import Amortizer

def block(x, bias):
    return torch.relu(x + bias) * 2

widget = Amortizer(block, torch.ones(64), torch.ones(64))
widget
"""


@pytest.mark.parametrize("theme", ["light"])
def test_four_sums(open_cells: Open, theme: str) -> None:
    book = open_cells(PAYS)
    book.run_all()
    root = book.page.locator('[data-widget="amortizer"]')
    part = lambda name: root.get_by_test_id(name)
    expect(root).to_have_attribute("data-state", "asking")
    expect(part("count-result")).to_have_text("1.625×")
    part("bet-5×").click()
    expect(part("say")).to_contain_text("You said 5×; it is 2.545×.")
    expect(part("value-launch")).to_have_text("20 us")
    part("put-back").click()
    expect(part("formula")).to_contain_text("130 us / 80 us = 1.625×")
    part("mode-break_even").check()
    expect(part("count-result")).to_have_text("?")
    part("bet-−9 s").click()
    expect(part("count-result")).to_have_text("400")
    part("slider-steps").focus()
    book.page.keyboard.press("ArrowRight")
    expect(part("value-steps")).to_have_text("110")
    expect(part("say")).to_contain_text("8.7 s behind")
    part("mode-breaks").check()
    part("bet-80 s").click()
    expect(root.locator(".am-diamond")).to_have_count(4)
    part("source-measured").check()
    expect(part("value-breaks")).to_have_text("0")
    expect(part("say")).to_contain_text("No break, one region")
