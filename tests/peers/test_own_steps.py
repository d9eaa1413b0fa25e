"""Hooks, and derivatives of the program's own, in the lab's eager mode and in PyTorch's."""

from __future__ import annotations

import pytest

import labcore

from ..tensor.own_steps import FUNCTIONS, HOOKS, outcome

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

PROGRAMS = HOOKS | FUNCTIONS
WORDS = {"leaf_written"}  # "is being used" there, "has been used" here


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_pytorch(name):
    expected, found = outcome(PROGRAMS[name], torch), outcome(PROGRAMS[name], labcore)
    if name in WORDS:
        expected, found = expected[0], found[0]
    assert found == expected
