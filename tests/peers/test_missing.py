"""The names that the lab says it does not have are PyTorch's."""

from __future__ import annotations

import pytest

from labcore.tensor import missing

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")


def test_the_names_are_pytorchs():
    assert [name for name in missing.METHODS.split() if not hasattr(torch.Tensor, name)] == []
