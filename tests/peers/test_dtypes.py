"""The lab's element types carry torch's names, sizes and text."""
from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from labcore import dtypes


@pytest.mark.parametrize("ours", dtypes.ALL, ids=str)
def test_a_type_is_described_as_in_torch(torch: ModuleType, ours: dtypes.dtype) -> None:
    theirs = getattr(torch, ours.name)
    assert repr(ours) == repr(theirs)
    assert ours.itemsize == theirs.itemsize
    assert ours.is_floating_point == theirs.is_floating_point
    array = np.ones(1, ours.numpy)
    if ours is not dtypes.bfloat16:  # PyTorch gives and takes no arrays of it
        assert torch.from_numpy(array).dtype is theirs
    assert dtypes.from_numpy(array.dtype) is ours
