"""repr() of tensors: the text PyTorch prints."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import check, pair

ARRAYS = {
    "integers as floats": [1.0, 2.0, -3.0],
    "fractions": [0.1, -2.25, 3.0],
    "large": [1e10, 1.0],
    "small": [1e-5, 1.0],
    "very large": [1e38, 1.0],
    "nan and inf": [np.nan, np.inf, -np.inf, 1.0],
    "only nan": [np.nan],
    "zeros": [0.0, 0.0],
    "negative zero": [-0.0, 1.5],
    "mixed widths": [100.5, 1.25, -0.001],
    "thousands": [1234.5678, 0.5],
    "scientific": [1.5e-8, 2.0e8],
    "0-d": 2.5,
    "0-d whole": 2.0,
    "matrix": [[1.0, 2.0], [3.0, -4.5]],
    "cube": np.arange(8.0).reshape(2, 2, 2) / 3,
    "empty": [],
    "million": [1e6, 2.0],
    "ten million": [12345678.0, 1.0],
    "hundred thousand": [99999.0, 1.0],
    "tiny range": [1.0, 1.0001],
    "long row": np.arange(30.0) / 7,
}
WHOLE = {
    "few": [1, 0, -3], "none": [], "matrix": [[1, 100], [-20, 3]], "0-d": 7, "row": np.arange(40),
}
SHAPES = [
    (1001,), (2000, 2), (40, 40), (3, 1200), (11, 11, 11), (2, 3, 4, 5), (0, 3), (2, 0), (1, 1),
]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(name: str, dtype: str) -> None:
    check(lambda m, x: repr(x), pair(ARRAYS[name], dtype))
    check(lambda m, x: str(x), pair(ARRAYS[name], dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
@pytest.mark.parametrize("name", WHOLE)
def test_integers_and_bools(name: str, dtype: str) -> None:
    check(lambda m, x: repr(x), pair(WHOLE[name], dtype))


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_many_elements(shape: tuple) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    check(lambda m, x: repr(x), pair(array, "float32"))
    check(lambda m, x: repr(x), pair(array, "int64"))


@pytest.mark.parametrize("text", [
    "x", "x * 2", "x.relu()", "x.sum()", "x.detach()", "x.view(2, 2)", "x > 0", "x.double()",
    "(x + 1)[0]", "x.mean()", "m.cat([x, x])", "x[1:]", "x.shape", "x.size()", "x.dtype",
    "x.device", "x.stride()", "x.shape[1:]", "m.Size([2, 3])", "m.zeros(2, 0).shape", "x @ x",
    "f'{x.sum():.3f}'", "f'{x}'", "str(x.tolist())", "x.sum().item()", "x.requires_grad",
    "m.device('cpu')", "m.tensor([1.5], dtype=m.float64)",
])
def test_text(text: str) -> None:
    check(eval(f"lambda m, x: repr({text})"), pair([1.0, -2.0, 0.5, 3.25], "float32", True))
