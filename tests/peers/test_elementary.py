"""The error of the kernels' elementary functions beside that of PyTorch's, both to the true value.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.test_elementary import TRUE, computed, numbers

from .pairs import torch


def largest_error(got: np.ndarray, true: np.ndarray) -> float:
    """In units in the last place, of results that are normal numbers."""
    rounded = true.astype(got.dtype)
    usual = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(got.dtype).tiny)
    return (np.abs(got - true)[usual] / np.spacing(np.abs(rounded[usual]))).max()


@pytest.mark.parametrize("name", ["sin", "cos", "pow", "log", "log1p", "expm1", "sigmoid"])
def test_no_less_exact_than_pytorch(name):
    given = numbers(name, np.float32)
    with np.errstate(all="ignore"):
        true = TRUE[name](*(each.astype(np.float64) for each in given))
        ours = largest_error(computed(name, *given), true)
        theirs = getattr(torch, name)(*map(torch.from_numpy, given)).numpy()
        assert ours <= largest_error(theirs, true)
