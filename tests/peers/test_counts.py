"""README's table of graph counts: PyTorch's column."""

from __future__ import annotations

import pytest
import torch._dynamo.testing

from ..compiler.counting import count_graphs
from ..compiler.test_counts import table
from .pairs import torch


@pytest.mark.parametrize("name", [*table()])
def test_pytorch_counts(name):
    assert count_graphs(torch, name) == table()[name][1]
