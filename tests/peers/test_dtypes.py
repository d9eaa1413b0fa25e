"""The lab's element types carry torch's names, sizes and text."""
from __future__ import annotations

from types import ModuleType

import pytest

from labcore import dtypes


@pytest.mark.parametrize("ours", dtypes.ALL, ids=str)
def test_a_type_is_described_as_in_torch(torch: ModuleType, ours: dtypes.dtype) -> None:
    theirs = getattr(torch, ours.name)
    assert repr(ours) == repr(theirs)
    assert ours.itemsize == theirs.itemsize
    assert ours.is_floating_point == theirs.is_floating_point
    assert torch.from_numpy(ours.numpy.type([1]).reshape(1)).dtype is theirs
