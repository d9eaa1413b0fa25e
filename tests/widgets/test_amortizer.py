"""Amortizer: four sums in text and picture, and what was measured in the view alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import labcore as torch
from tests.widgets.programs import block
from widgets import Amortizer, _bundle
from widgets._amortize import TEXTBOOK, measured
from widgets.amortizer import sums

TEXT = """\
  launches: 130 us -> 80 us, 1.625 x
  break-even: 12 s are back after 400 steps
  variants: 12 s or 6 s; ahead from step 3,000
  breaks: 80 us an iteration, 80 s in 1,000,000"""


def broken(x):
    y = torch.sin(x)
    if y.sum() > 0:
        y = y * 2
    return y + 1


def test_the_text_is_the_textbooks() -> None:
    assert repr(Amortizer()) == f"Amortizer()\n{TEXT}"
    widget = Amortizer(block, torch.ones(64), torch.ones(64))
    assert repr(widget) == f"Amortizer(block: measured figures are in the view)\n{TEXT}"
    assert widget.picture() == Amortizer().picture()
    ElementTree.fromstring(widget.picture())


def test_what_is_measured_goes_to_the_view() -> None:
    widget = Amortizer(block, torch.ones(64), torch.ones(64))
    figures = widget.trace["figures"]
    assert figures["article"] == TEXTBOOK
    assert {mode: set(values) for mode, values in figures["measured"].items()} == {
        mode: set(values) for mode, values in TEXTBOOK.items()
    }


def test_measured_totals_are_kept_by_the_split() -> None:
    found = measured(block, torch.ones(64), torch.ones(64))
    one, two, three, four = found.values()
    assert (one["kernels"], one["fused_kernels"], four["breaks"]) == (3, 1, 0)
    assert one["compute"] + 3 * one["launch"] == pytest.approx(two["eager"])
    assert one["fused_compute"] + one["launch"] == pytest.approx(two["compiled"])
    assert min(one["compute"], one["fused_compute"]) >= 0
    assert two["compiling"] == three["each"] > 100 * two["compiled"] == 100 * three["static_step"]
    assert three["dynamic"] > 0
    assert 2e-7 < four["crossing"] < 1e-3  # a difference that noise does not reach


def test_breaks_are_counted() -> None:
    assert measured(broken, torch.ones(8))["breaks"]["breaks"] == 1


def test_a_call_that_raises_raises() -> None:
    with pytest.raises(RuntimeError):
        Amortizer(block, torch.ones(3), torch.ones(4))


def test_sums_of_other_figures() -> None:
    slower = {**TEXTBOOK, "break_even": {**TEXTBOOK["break_even"], "compiled": 0.2}}
    assert sums(slower)[1] == "break-even: 12 s are back after inf steps"


def test_settings() -> None:
    widget = Amortizer(language="zh")
    assert (widget.mode, widget.source, widget.moved) == ("launches", "article", {})
    widget.mode = "breaks"
    with pytest.raises(Exception, match="mode"):
        widget.mode = "no such sum"


def test_the_module_is_whole() -> None:
    assert not re.search(r"^import\b", _bundle.esm("amortizer"), re.M)
    assert ".am-stage" in _bundle.css("amortizer")
