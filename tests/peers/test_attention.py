"""`MultiheadAttention` beside PyTorch, under every kind of mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import labcore as lab

from .pairs import torch


def twins(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    """One module of each, with the lab's weights in both."""
    lab.manual_seed(0)
    ours, theirs = make(lab.nn), make(torch.nn)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(
        {name: torch.tensor(tensor.numpy()) for name, tensor in ours.state_dict().items()}
    )
    return ours, theirs


def close(ours: Any, theirs: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=2e-4, atol=2e-5
    )


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("masked", ["no", "truth", "numbers", "padding", "causal"])
def test_attention(need_weights: bool, masked: str) -> None:
    ours, theirs = twins(lambda nn: nn.MultiheadAttention(8, 2, batch_first=masked != "no"))
    rng = np.random.default_rng(0)
    q, k = (rng.normal(size=(3, n, 8)).astype("float32") for n in (5, 4))
    if masked == "no":
        q, k = q[:, :3], k[:, :3]
    allowed = np.triu(np.ones((5, 4)), 1) > 0
    masks: dict[str, Any] = {}
    if masked in ("truth", "causal"):
        masks = {"attn_mask": allowed}
    elif masked == "numbers":
        masks = {"attn_mask": rng.normal(size=(5, 4)).astype("float32")}
    elif masked == "padding":
        masks = {"key_padding_mask": np.arange(4)[None] > np.arange(1, 4)[:, None]}

    def run(module: Any, framework: Any) -> Any:
        a, b = framework.tensor(q.tolist()), framework.tensor(k.tolist())
        given = {name: framework.tensor(mask.tolist()) for name, mask in masks.items()}
        out, weights = module(a, b, b, need_weights=need_weights, **given)
        return [out, *([weights] if need_weights else [])]

    for a, b in zip(run(ours, lab), run(theirs, torch)):
        close(a, b)
