"""Indexing by tensors beside PyTorch: values, layouts, gradients, refusals."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import check, pair

CUBE = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
READS = [
    "x[i]", "x[:, j]", "x[..., j]", "x[0, j]", "x[i, j[:2]]", "x[i, :, j[:2]]", "x[:, j, 1:3]",
    "x[i.view(2, 1), j]", "x[None, i]", "x[:, j][i]", "x[x > 0.2]", "x[:, x[0, :, 0] > 0]",
    "x[x[:, :, 0] > 0]", "x[i, 1:, j[:2]]", "x[-1, j]", "x[i[:0]]", "x[i - 2]",
]
WRITES = [
    "x[i] = 0", "x[:, j] = y[:, :3]", "x[x > 0.2] = -1", "x[..., j] = 2.5", "x[0, j] = y[1]",
    "x[x > 0] = y[0, 0, 0]", "x[:, x[0, :, 0] > 0] = 3",
]
WRONG = [
    "x[j + 1]", "x[j - 9]", "x[i, j]", "x[y]", "x[x[0] > 0]", "x[i, i, i, i]",
]


def indices(m):
    return m.tensor([1, 0]), m.tensor([2, 0, -1])


@pytest.mark.parametrize("text", READS)
def test_reading(text: str) -> None:
    def program(m, x):
        i, j = indices(m)
        found = eval(text, {"x": x, "i": i, "j": j})
        weights = m.arange(found.numel()).to(found.dtype).reshape(found.shape) + 1
        (found * weights).sum().backward()
        return found.detach().contiguous(), x.grad

    check(program, pair(CUBE, "float64", True))


@pytest.mark.parametrize("text", WRITES)
def test_writing(text: str) -> None:
    def program(m, x):
        i, j = indices(m)
        y = x * 2
        z = x * 3
        exec(text, {"x": z, "y": y, "i": i, "j": j})
        (z * z).sum().backward()
        return z.detach(), x.grad

    check(program, pair(CUBE, "float64", True), ulps=16)


@pytest.mark.parametrize("text", WRONG)
def test_refusals(text: str) -> None:
    def program(m, x):
        i, j = indices(m)
        return eval(text, {"x": x, "y": x, "i": i, "j": j})

    check(program, pair(CUBE, "float64"))
