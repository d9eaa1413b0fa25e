"""Modules beside PyTorch: names and shapes of the state, how they look, results and gradients with
the same weights.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import labcore as lab

torch = pytest.importorskip("torch", reason="torch is a peer: `make peers`")

ROWS, IMAGE, LINE = (4, 6), (2, 4, 6, 6), (2, 4, 9)
SEQUENCE = (2, 5, 8)
MODULES = {
    "nn.Linear(6, 3)": [ROWS],
    "nn.Linear(6, 3, bias=False)": [ROWS],
    "nn.LayerNorm(6)": [ROWS],
    "nn.LayerNorm((6,), elementwise_affine=False)": [ROWS],
    "nn.LayerNorm((9,), bias=False)": [LINE],
    "nn.RMSNorm(6)": [ROWS],
    "nn.GroupNorm(2, 4)": [IMAGE],
    "nn.BatchNorm1d(6)": [ROWS],
    "nn.BatchNorm2d(4)": [IMAGE],
    "nn.BatchNorm2d(4).eval()": [IMAGE],
    "nn.Conv1d(4, 6, 3, stride=2, padding=1)": [LINE],
    "nn.Conv2d(4, 6, (3, 2), groups=2)": [IMAGE],
    "nn.Conv2d(4, 2, 3, padding='same', dilation=2, bias=False)": [IMAGE],
    "nn.Sequential(nn.Linear(6, 4), nn.GELU('tanh'), nn.Linear(4, 2))": [ROWS],
    "nn.Sequential(nn.Flatten(), nn.Dropout(0.3).eval(), nn.Identity())": [IMAGE],
    "nn.MultiheadAttention(8, 2, batch_first=True)": [SEQUENCE] * 3,
    "nn.MultiheadAttention(8, 4, bias=False)": [SEQUENCE] * 3,
    "nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)": [SEQUENCE],
    "nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation='gelu', norm_first=True)": [SEQUENCE],
    "nn.MaxPool2d(2)": [IMAGE],
    "nn.AvgPool2d(3, 2, padding=1)": [IMAGE],
    "nn.AdaptiveAvgPool2d((2, 3))": [IMAGE],
    **{f"nn.{name}()": [ROWS] for name in (
        "ReLU Tanh Sigmoid GELU SiLU Mish Softplus Softsign Tanhshrink LogSigmoid LeakyReLU ELU "
        "SELU Hardtanh ReLU6 Hardsigmoid Hardswish GLU"
    ).split()},
    **{f"nn.{name}(1)": [ROWS] for name in ("Softmax", "Softmin", "LogSoftmax")},
    **{f"nn.{name}()": [ROWS, ROWS] for name in (
        "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss", "CosineSimilarity"
    )},
    "nn.CrossEntropyLoss(label_smoothing=0.1)": [ROWS, ROWS],
}


def made(module: Any, text: str, shapes: list, state: Any = None) -> tuple:
    """(the module, its results, the gradients of inputs and parameters)."""
    torch.manual_seed(0), lab.manual_seed(0)
    found = eval(text, {"nn": module.nn})
    if state is not None:
        found.load_state_dict({k: module.tensor(v.tolist()) for k, v in state.items()}, False)
    inputs = []
    for number, shape in enumerate(shapes):
        values = np.sin(0.7 * number + np.arange(np.prod(shape)) * 1.3).astype(np.float32)
        inputs.append(module.from_numpy(values.reshape(shape)).requires_grad_())
    results = found(*inputs)
    results = [r for r in results if r is not None] if isinstance(results, tuple) else [results]
    weights = [module.arange(r.numel()).to(r.dtype).cos().reshape(r.shape) for r in results]
    sum((r * w).sum() for r, w in zip(results, weights)).backward()
    leaves = [*inputs, *(p for _, p in found.named_parameters())]
    return found, results, [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("text", MODULES)
def test_module(text: str) -> None:
    shapes = MODULES[text]
    ours, _, _ = made(lab, text, shapes)
    state = {name: value for name, value in ours.state_dict().items()}
    theirs, wanted, wanted_grads = made(torch, text, shapes, state)
    ours, found, grads = made(lab, text, shapes, state)
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    names = [n for n in theirs.state_dict() if not n.endswith("num_batches_tracked")]
    assert list(ours.state_dict()) == names
    for name in names:
        assert tuple(ours.state_dict()[name].shape) == tuple(theirs.state_dict()[name].shape)
    assert len(found) == len(wanted) and len(grads) == len(wanted_grads)
    for a, b in zip([*found, *grads], [*wanted, *wanted_grads]):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(
                a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5
            )
    for name in names:
        np.testing.assert_allclose(
            ours.state_dict()[name].numpy(), theirs.state_dict()[name].numpy(), rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("text", [
    "nn.Linear(6, 3)", "nn.LayerNorm(6)", "nn.RMSNorm(6)", "nn.BatchNorm2d(4)", "nn.Dropout(0.1)",
    "nn.Embedding(5, 3, padding_idx=1)", "nn.GroupNorm(2, 4)", "nn.ReLU()", "nn.Softmax(1)",
    "nn.LeakyReLU()", "nn.ELU()", "nn.MSELoss()", "nn.Flatten()", "nn.Identity()",
    "nn.Sequential(nn.Linear(6, 4), nn.Tanh())", "nn.ModuleDict({'a': nn.Linear(2, 2)})",
])
def test_how_it_looks(text: str) -> None:
    assert repr(eval(text, {"nn": lab.nn})) == repr(eval(text, {"nn": torch.nn}))


@pytest.mark.parametrize("text", [
    "nn.Linear(400, 300).weight", "nn.Linear(400, 300).bias", "nn.Conv2d(16, 64, 5).weight",
    "nn.Embedding(300, 100).weight", "nn.MultiheadAttention(64, 4).in_proj_weight",
])
def test_how_weights_begin(text: str) -> None:
    """The same distribution: mean, deviation and bounds."""
    lab.manual_seed(0), torch.manual_seed(0)
    ours, theirs = (eval(text, {"nn": m.nn}).detach() for m in (lab, torch))
    for tell in ("mean", "std", "min", "max"):
        wanted = float(getattr(theirs, tell)())
        spread = float(theirs.std())
        tolerance = 0.1 * spread if tell in ("mean", "std") or "Embedding" not in text else spread
        assert abs(float(getattr(ours, tell)()) - wanted) < tolerance
