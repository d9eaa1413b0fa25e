"""How well sums and what is made of them add up: beside float64, and in rows of any length."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import cpu
from labcore.tensor import from_numpy

F = torch.nn.functional
ROUNDED = 2.0**-24  # half a step of float32: the error of a result that is only rounded


def uniform(*shape, seed=0):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def worst(function, x, exact):
    """The largest error relative to the largest value."""
    found = torch.compile(function)(from_numpy(x)).numpy().astype(np.float64)
    return np.abs(found - exact).max() / np.abs(exact).max()


def wide(x):
    return x.astype(np.float64)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


# (function, the same of float64, half steps of float32 that it may be wrong by). PyTorch's eager
# mode has up to 2.4 for sums and means, 1.8 for squares, 0.8 for variances, 1.4 for logsumexp, 4.4
# for softmax.
FOLDS = [
    (lambda x: x.sum(), lambda x: x.sum(), 1.01),
    (lambda x: x.sum(1), lambda x: x.sum(1), 1.01),
    (lambda x: x.sum(0), lambda x: x.sum(0), 1.01),
    (lambda x: x.mean(1), lambda x: x.mean(1), 2),
    (lambda x: (x * x).sum(1), lambda x: (x * x).sum(1), 2),
    (lambda x: x.var(1), lambda x: x.var(1, ddof=1), 2),
    (lambda x: x.var(0), lambda x: x.var(0, ddof=1), 2),
    (lambda x: x.std(1), lambda x: x.std(1, ddof=1), 2),
    (lambda x: torch.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1)), 2),
    (lambda x: torch.softmax(x, 1), softmax, 4),
]


@pytest.mark.parametrize(("function", "exact", "steps"), FOLDS)
@pytest.mark.parametrize("shape", [(64, 100), (16, 1024), (5, 5000)])
def test_rows_add_up(function, exact, steps, shape):
    x = uniform(*shape)
    assert worst(function, x, exact(wide(x))) <= steps * ROUNDED


def test_a_sum_of_millions():
    x = uniform(1 << 22)
    assert worst(lambda x: x.sum(), x, wide(x).sum()) <= 1e-7
    assert worst(lambda x: (x * 2).sum(), x, (2 * wide(x)).sum()) <= 1e-7


def test_layer_norm_far_from_zero():
    """Where mean and deviation are far apart, an error in the mean shows."""
    x = normal(16, 1024) + np.float32(100)
    exact = wide(x) - wide(x).mean(1, keepdims=True)
    exact /= np.sqrt((exact * exact).mean(1, keepdims=True) + 1e-5)
    norm = lambda x: F.layer_norm(x, (1024,))
    # The mean is a float32: of 100 that is 4e-6, whichever way it was added up.
    assert worst(norm, x, exact) <= 100 * ROUNDED / np.abs(exact).max() + 4 * ROUNDED


@pytest.mark.parametrize("columns", [7, 1024, 3000])
def test_equal_values_do_not_vary(columns):
    x = from_numpy(np.full((3, columns), 0.1, np.float32))
    assert torch.compile(lambda x: x.var(1))(x).tolist() == [0.0] * 3


def test_what_is_dear_adds_up_in_blocks():
    def text(function, columns):
        with trace.record() as story:
            torch.compile(function)(torch.zeros(2, columns))
        return story.text("kernel_code")

    dear, cheap = lambda x: torch.exp(x).sum(1), lambda x: (x * 2).sum(1)
    assert "sum_acc = float32(0.0)" in text(dear, 1024) and "block" not in text(dear, 1024)
    assert "for block in range(2)" in text(dear, 1025) and "sum_part = float" in text(dear, 1025)
    assert "min(1024 * block + 1024, 1025)" in text(dear, 1025)
    assert "block" not in text(cheap, 1025) and "sum_acc = float64(0.0)" in text(cheap, 1025)


def test_a_value_is_added_up_once():
    with trace.record() as story:
        torch.compile(lambda x: torch.var_mean(x, 1))(torch.randn(4, 9))
    assert story.text("kernel_code").count("radd(") == 2


@pytest.mark.parametrize("dynamic", [False, True])
def test_blocks_of_any_length_are_right(dynamic, monkeypatch):
    monkeypatch.setenv("LAB_CACHE", "0")
    x = torch.randn(3, 11)
    function = lambda x: (torch.softmax(x, 1), torch.exp(x).sum(), x.cumsum(1) + (x * 2).sum())
    for block in (1, 4, 11, 64):
        with mock.patch.object(cpu, "BLOCK", block):
            found = torch.compile(function, dynamic=dynamic)(x)
        torch.testing.assert_close(found, function(x))


def test_a_tensor_may_be_called_like_an_accumulator():
    def function(sum_acc, block, sum_part):
        return (torch.exp(sum_acc) * block * sum_part).sum(1)

    given = [from_numpy(uniform(2, 1500, seed=seed)) for seed in range(3)]  # nothing cancels out
    torch.testing.assert_close(torch.compile(function)(*given), function(*given))
