"""PyTorch's text, character by character: what it prints is written out here."""

from __future__ import annotations

import pytest

import labcore as torch

nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.tensor(1.0), "tensor(1.)"),
        (lambda: torch.tensor(3), "tensor(3)"),
        (lambda: torch.tensor([]), "tensor([])"),
        (lambda: torch.zeros(2, 0), "tensor([], size=(2, 0))"),
        (lambda: torch.zeros(0, dtype=torch.int64), "tensor([], dtype=torch.int64)"),
        (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
        (lambda: torch.tensor([1, -20]), "tensor([  1, -20])"),
        (lambda: torch.tensor([1, 2], dtype=torch.int32), "tensor([1, 2], dtype=torch.int32)"),
        (lambda: torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (
            lambda: torch.tensor([1.0, 2.0], dtype=torch.float64),
            "tensor([1., 2.], dtype=torch.float64)",
        ),
        (lambda: torch.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
        (lambda: torch.tensor([1e9]), "tensor([1.0000e+09])"),
        (lambda: torch.tensor([1.0, 5000.0]), "tensor([1.0000e+00, 5.0000e+03])"),
        (lambda: torch.tensor([nan, inf, -inf, 1.0]), "tensor([nan, inf, -inf, 1.])"),
        (lambda: torch.tensor([nan, 1.5]), "tensor([   nan, 1.5000])"),
        (lambda: torch.tensor([-0.0, 0.0]), "tensor([-0., 0.])"),
        (lambda: torch.tensor([[1, 2], [30, 4]]), "tensor([[ 1,  2],\n        [30,  4]])"),
        (lambda: torch.zeros(2, 1, 2), "tensor([[[0., 0.]],\n\n        [[0., 0.]]])"),
        (lambda: torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
        (lambda: torch.ones(2, requires_grad=True) * 2, "tensor([2., 2.], grad_fn=<MulBackward0>)"),
        (lambda: torch.ones(2, requires_grad=True).sum(), "tensor(2., grad_fn=<SumBackward0>)"),
        (lambda: torch.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
        (
            lambda: torch.zeros(40, 30),
            (
                "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n        [0., 0., 0.,  ..., 0., 0., 0.],\n"
                "        [0., 0., 0.,  ..., 0., 0., 0.],\n        ...,\n        [0., 0., 0.,  "
                "..., 0., 0., 0.],\n"
                "        [0., 0., 0.,  ..., 0., 0., 0.],\n        [0., 0., 0.,  ..., 0., 0., 0.]])"
            ),
        ),
        (
            lambda: torch.arange(30),
            (
                "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
                "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
            ),
        ),
        (
            lambda: torch.full((1, 9), 0.12345, dtype=torch.float64, requires_grad=True),
            (
                "tensor([[0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, "
                "0.1235]],\n"
                "       dtype=torch.float64, requires_grad=True)"
            ),
        ),
    ],
)
def test_text(make, text):
    assert repr(make()) == text


def test_options():
    torch.set_printoptions(precision=2, sci_mode=True, linewidth=40)
    try:
        assert (
            repr(torch.tensor([1.0, 2.0, 3.0, 4.0]))
            == "tensor([1.00e+00, 2.00e+00, 3.00e+00,\n        4.00e+00])"
        )
    finally:
        torch.set_printoptions(profile="default")
    assert repr(torch.tensor([1.0])) == "tensor([1.])"
    assert (
        repr(torch.float32) == "torch.float32"
        and repr(torch.ones(1).device) == "device(type='cpu')"
    )
