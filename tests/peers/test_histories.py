"""The rows of tests/autodiff/histories.py in the lab's eager mode and in PyTorch's."""

from __future__ import annotations

import warnings

import pytest

import labcore

from ..autodiff.histories import OVERWRITES, ROWS, compare, observe

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

BOTH = ROWS | OVERWRITES


@pytest.mark.parametrize("name", BOTH)
def test_like_pytorch(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the grad of what is no leaf
        expected = observe(BOTH[name], torch)
    compare(expected, observe(BOTH[name], labcore))
