"""README's table of graph counts is what is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import labcore as torch

from .counting import count_graphs, programs

README = Path(torch.__file__).parents[1] / "README.md"
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \|", re.MULTILINE)


def table() -> dict[str, tuple[int, int]]:
    """{function: (here, in PyTorch)}."""
    text = README.read_text()
    section = text[text.index("### Graphs of functions with breaks") :]
    return {name: (int(ours), int(theirs)) for name, ours, theirs in ROW.findall(section)}


def test_every_program_is_in_the_table():
    assert [*table()] == [*programs(torch)["CALLS"]]


@pytest.mark.parametrize("name", [*table()])
def test_the_lab_counts(name):
    assert count_graphs(torch, name) == table()[name][0]
