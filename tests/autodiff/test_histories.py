"""The rows of `histories.py`: the same in eager mode and compiled, on every backend; tests/peers
compares the eager run with PyTorch's."""

from __future__ import annotations

from functools import partial

import pytest

import labcore as torch

from .histories import OVERWRITES, ROWS, compare, observe

BACKENDS = ["eager", "aot_eager", "inductor"]


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_like_eager(number):
    """Each third row in machine code, too."""
    row = [*ROWS.values()][number]
    expected = observe(row, torch)
    for backend in BACKENDS if number % 3 == 0 else BACKENDS[:2]:
        compare(expected, observe(row, torch, partial(torch.compile, backend=backend)))


@pytest.mark.parametrize("name", OVERWRITES)
def test_what_was_overwritten_has_its_gradient(name):
    refused = observe(OVERWRITES[name], torch)
    assert refused.error[1].startswith("one of the variables needed for gradient computation")
    seen = [observe(OVERWRITES[name], torch, partial(torch.compile, backend=b)) for b in BACKENDS]
    for found in seen:
        compare(seen[0], found)
        assert found.error == ("", "") and len(found.values[-1]) == 2
