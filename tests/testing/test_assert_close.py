"""assert_close: the tolerances of each type, and PyTorch's messages to the letter."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore.testing import assert_close

X = torch.tensor([1.0, 2.0, 3.0, 4.0])


def message(*args, **kwargs) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_close(*args, **kwargs)
    return str(caught.value)


def test_tensors_that_differ():
    assert message(X, X + torch.tensor([0.0, 0.0, 0.0, 1.0])) == (
        "Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n"
        "Greatest absolute difference: 1.0 at index (3,) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 0.20000000298023224 at index (3,) (up to 1.3e-06 allowed)"
    )
    assert message(X.long(), X.long() + 1) == (
        "Tensor-likes are not equal!\n\nMismatched elements: 4 / 4 (100.0%)\n"
        "Greatest absolute difference: 1 at index (0,)\nGreatest relative difference: 0.5 at "
        "index (0,)"
    )
    assert "at index (1, 1)" in message(X.view(2, 2) * 3, X.view(2, 2))


def test_numbers_that_differ():
    expected = (
        "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to {}"
    )
    assert message(X[0], X[1]).startswith(expected.format("1e-05"))
    assert message(1.0, 2.0).startswith(expected.format("1e-07"))
    assert message(True, False) == "Booleans mismatch: True is not False"
    assert message(1, 1.0) == "The (d)types do not match: <class 'int'> != <class 'float'>."


@pytest.mark.parametrize(
    ("dtype", "near", "far"), [(torch.float32, 1e-5, 2e-5), (torch.float64, 1e-7, 3e-7)]
)
def test_tolerances_of_the_type(dtype, near, far):
    zero = torch.zeros(2, dtype=dtype)
    assert_close(zero + near * 0.9, zero)
    assert "not close" in message(zero + far, zero)
    assert_close(zero + far, zero, rtol=0, atol=1e-3)


def test_attributes():
    assert (
        message(X, X[:3])
        == "The values for attribute 'shape' do not match: torch.Size([4]) != torch.Size([3])."
    )
    assert (
        message(X, X.double())
        == "The values for attribute 'dtype' do not match: torch.float32 != torch.float64."
    )
    assert_close(X, X.double(), check_dtype=False)
    square = X.view(2, 2)
    assert_close(square, square.t().contiguous().t())
    assert "attribute 'stride()' do not match: (2, 1) != (1, 2)" in message(
        square, square.t().contiguous().t(), check_stride=True
    )


def test_nan():
    x = X * float("nan")
    assert "Greatest absolute difference: nan at index (0,)" in message(x, x)
    assert_close(x, x, equal_nan=True)
    assert_close(X * float("inf"), X * float("inf"))


def test_containers():
    assert message([X, X], [X, X + 1]).endswith("\n\nThe failure occurred for item [1]")
    assert message({"a": (X, X)}, {"a": (X, X + 1)}).endswith(
        "The failure occurred for item ['a'][1]"
    )
    assert message([X], [X, X]) == "The length of the sequences mismatch: 1 != 2"
    assert message({"a": X}, {"b": X}) == (
        "The keys of the mappings do not match:\nMissing keys in the actual mapping: "
        "['b']\nAdditional keys in the actual mapping: ['a']"
    )
    assert message(None, X).startswith("None mismatch: None is not tensor(")
    assert_close({"a": None, "b": [1, np.ones(2)]}, {"a": None, "b": [1, np.ones(2)]})


def test_message_and_misuse():
    assert message(X, X + 1, msg="mine") == "mine"
    assert message(X, X + 1, msg=lambda text: "see: " + text).startswith(
        "see: Tensor-likes are not close!"
    )
    with pytest.raises(ValueError, match="but got no atol"):
        assert_close(X, X, rtol=1)
    with pytest.raises(TypeError, match="No comparison pair was able to handle"):
        assert_close(X, [1.0, 2.0, 3.0, 4.0])
