"""Tensors from data, from nothing, from chance; the settings of the process."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, torch.int64, ()),
        (1.5, torch.float32, ()),
        (True, torch.bool, ()),
        ([], torch.float32, (0,)),
        ([1, 2.5], torch.float32, (2,)),
        ([True, 2], torch.int64, (2,)),
        ([[], []], torch.float32, (2, 0)),
        (((1, 2), (3, 4)), torch.int64, (2, 2)),
        (range(3), torch.int64, (3,)),
        (np.float32(3), torch.float32, ()),
        ([np.float64(3)], torch.float64, (1,)),
        (np.ones((2, 1)), torch.float64, (2, 1)),
        ([np.ones(2), np.ones(2)], torch.float64, (2, 2)),
        ([torch.tensor(3), 4], torch.int64, (2,)),
    ],
)
def test_what_data_becomes(data, dtype, shape):
    x = torch.tensor(data)
    assert (x.dtype, x.shape) == (dtype, shape) and x.is_leaf and x.is_contiguous()
    assert x.stride() == torch.zeros(shape).stride()


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[1], 2], TypeError, "expected a sequence of length 1 at dim 1, but got int"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        (np.ones(2, np.uint8), TypeError, "can't convert np.ndarray of type uint8"),
        ([torch.ones(2)] * 2 + [1], TypeError, "expected a sequence"),
    ],
)
def test_data_that_is_refused(data, error, text):
    with pytest.raises(error) as caught:
        torch.tensor(data)
    assert text in str(caught.value)


def test_tensor_copies_and_the_others_share():
    array = np.ones(3)
    copied, shared, same = torch.tensor(array), torch.from_numpy(array), torch.as_tensor(array)
    array[0] = 5
    assert (copied[0].item(), shared[0].item(), same[0].item()) == (1, 5, 5)
    assert (
        torch.as_tensor(copied) is copied
        and torch.as_tensor(array, dtype=torch.float32)[0].item() == 5
    )
    assert torch.from_numpy(np.ones((3, 2)).T).stride() == (1, 2)
    with pytest.raises(
        ValueError, match="At least one stride in the given numpy array is negative"
    ):
        torch.from_numpy(array[::-1])
    with pytest.raises(TypeError, match="expected np.ndarray"):
        torch.from_numpy([1])


def test_filled():
    assert (
        torch.zeros(2, 3).shape == torch.zeros((2, 3)).shape == torch.zeros([2, 3]).shape == (2, 3)
    )
    assert (
        torch.ones(2, dtype=torch.int32).tolist() == [1, 1]
        and torch.full((2,), 3).dtype is torch.int64
    )
    assert torch.arange(1, 2, 0.5).tolist() == [1, 1.5] and torch.arange(3).dtype is torch.int64
    assert torch.linspace(0, 1, 3).tolist() == [0, 0.5, 1] and torch.empty(2, 0).numel() == 0
    x = torch.ones(2, 3).t()
    assert torch.zeros_like(x).stride() == torch.empty_like(x).stride() == (1, 3)
    assert torch.full_like(x, 2, dtype=torch.float64).dtype is torch.float64
    assert torch.ones(2, requires_grad=True).requires_grad and not torch.zeros_like(x).requires_grad
    for call, error in [
        (lambda: torch.zeros(), TypeError),
        (lambda: torch.zeros("a"), TypeError),
        (lambda: torch.zeros(2, -1), RuntimeError),
        (lambda: torch.ones(2, dtype=torch.int64, requires_grad=True), RuntimeError),
    ]:
        with pytest.raises(error):
            call()


def test_a_seed_repeats_the_numbers():
    assert torch.manual_seed(3).seed == torch.initial_seed() == 3
    first = [
        torch.rand(3),
        torch.randn(2, 2),
        torch.randint(10, (5,)),
        torch.rand_like(torch.ones(2)),
    ]
    torch.manual_seed(3)
    second = [
        torch.rand(3),
        torch.randn(2, 2),
        torch.randint(0, 10, (5,)),
        torch.rand_like(torch.ones(2)),
    ]
    assert all(torch.equal(a, b) for a, b in zip(first, second))
    assert 0 <= first[0].array.min() and first[0].array.max() < 1 and first[2].dtype is torch.int64
    assert not torch.equal(torch.rand(3), first[0])
    with pytest.raises(RuntimeError, match="from=5 >= to=5"):
        torch.randint(5, 5, (1,))


def test_default_dtype():
    assert torch.get_default_dtype() is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (
            torch.zeros(1).dtype is torch.tensor(1.5).dtype is torch.rand(1).dtype is torch.float64
        )
        assert (torch.tensor([1]) / 2).dtype is torch.float64 and torch.tensor(
            [1]
        ).dtype is torch.int64
        assert repr(torch.tensor(1.0)) == "tensor(1.)"
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types"):
        torch.set_default_dtype(torch.int64)


def test_whole_comparisons():
    x = torch.tensor([1.0, float("nan")])
    assert not torch.equal(x, x) and torch.equal(x[:1], x[:1].double())
    assert torch.allclose(x, x, equal_nan=True) and not torch.allclose(x, x)
    assert torch.isclose(x, x + 1e-7).tolist() == [True, False]
    with pytest.raises(RuntimeError, match="Float did not match Double"):
        torch.allclose(x, x.double())
    assert torch.is_tensor(x) and not torch.is_tensor(x.numpy())


def test_threads_bound_the_blas():
    from threadpoolctl import threadpool_info

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert torch.get_num_threads() == 1
        assert all(p["num_threads"] == 1 for p in threadpool_info() if p["user_api"] == "blas")
    finally:
        torch.set_num_threads(before)
    with pytest.raises(RuntimeError, match="positive"):
        torch.set_num_threads(0)
