"""README's table of graph counts: PyTorch's column."""

from __future__ import annotations

import pytest

from ..compiler.counting import count_graphs
from ..compiler.test_counts import table
from .pairs import torch

pytest.importorskip("torch._dynamo.testing")


@pytest.mark.parametrize("name", [*table()])
def test_pytorch_counts(name):
    assert count_graphs(torch, name) == table()[name][1]
