"""Optimizers beside PyTorch: the parameters after some steps."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import labcore as lab

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")


def trained(module: Any, text: str) -> list[np.ndarray]:
    numbers = np.sin(np.arange(12.0) * 1.1).reshape(3, 4)
    w = module.tensor(numbers.tolist(), dtype=module.float64).requires_grad_()
    b = module.tensor([0.5, -0.25, 0.125], dtype=module.float64).requires_grad_()
    optimizer = eval(text, {"optim": module.optim, "params": [w, b]})
    for number in range(6):
        x = module.tensor(np.cos(np.arange(8.0) + number).reshape(4, 2).tolist(),
                          dtype=module.float64)
        optimizer.zero_grad()
        ((w @ x + b.unsqueeze(1)).tanh() ** 2).sum().backward()
        if number % 3 == 1:
            b.grad = None  # it misses a step, which is not one of its own
        optimizer.step()
    return [w.detach().numpy(), b.detach().numpy()]


@pytest.mark.parametrize("text", [
    "optim.SGD(params, lr=0.1)", "optim.SGD(params, lr=0.1, momentum=0.9)",
    "optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.2)",
    "optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True)",
    "optim.SGD(params, lr=0.1, maximize=True)", "optim.Adam(params, lr=0.05)",
    "optim.Adam(params, weight_decay=0.3, betas=(0.5, 0.9), eps=1e-3)", "optim.AdamW(params)",
    "optim.AdamW(params, lr=0.1, weight_decay=0.5, maximize=True)",
    "optim.Adam(params, lr=0.05, amsgrad=True)", "optim.AdamW(params, amsgrad=True)",
])
def test_steps(text: str) -> None:
    for ours, theirs in zip(trained(lab, text), trained(torch, text)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
