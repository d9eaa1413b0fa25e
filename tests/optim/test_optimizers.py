"""Optimizers: eager and compiled take the same way, and compiled does so in one graph."""

from __future__ import annotations

from typing import Any

import pytest

import labcore as torch
from labcore import nn, optim
from labcore.compiler.compile import state_of

KINDS: list[tuple[Any, dict[str, Any]]] = [
    (optim.SGD, {"lr": 0.1}),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}),
    (optim.Adam, {"lr": 0.01}),
    (optim.Adam, {"lr": 0.01, "weight_decay": 0.1, "amsgrad": True}),
    (optim.AdamW, {"lr": 0.01}),
    (optim.AdamW, {"lr": 0.01, "betas": (0.8, 0.9), "maximize": True}),
]


def trained(kind: Any, settings: dict[str, Any], wrap: Any, steps: int = 6) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = kind(model.parameters(), **settings)
    x, y = torch.randn(16, 4), torch.randn(16, 2)
    step, zero = wrap(optimizer.step), wrap(optimizer.zero_grad)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        zero()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses, step, zero


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_compiled_step_is_one_graph_and_two_variants(kind: Any, settings: Any) -> None:
    """The first step makes the state, and the second learns that the count of steps varies."""
    losses, *_ = trained(kind, settings, lambda function: function)
    compiled, step, zero = trained(
        kind, settings, lambda f: torch.compile(f, backend="eager", fullgraph=True)
    )
    assert compiled == losses
    assert (losses[-1] > losses[0]) == settings.get("maximize", False)
    assert len(state_of(step).cache.variants) <= 3 and len(state_of(zero).cache.variants) <= 2
    assert not state_of(step).points


def test_a_parameter_without_a_gradient_is_left_alone() -> None:
    """Its own steps count, not the group's."""
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    both, alone = optim.Adam([a, b], lr=0.1), optim.Adam([c := nn.Parameter(torch.ones(1))], lr=0.1)
    for n in range(4):
        a.grad, b.grad = torch.ones(1), None if n in (0, 2) else torch.ones(1)
        both.step()
        if b.grad is not None:
            c.grad = torch.ones(1)
            alone.step()
    assert b.tolist() == c.tolist() and a.tolist() != b.tolist()


def test_groups_have_settings_of_their_own() -> None:
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.5)
    a.grad, b.grad = torch.ones(1), torch.ones(1)
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, 0.0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 1.0]
    assert "Parameter Group 1" in repr(optimizer)


def test_a_learning_rate_that_changes_is_no_recompile_after_the_second() -> None:
    p = nn.Parameter(torch.ones(3))
    optimizer = optim.SGD([p], lr=0.1)
    step = torch.compile(optimizer.step, backend="eager", fullgraph=True)
    expected = 1.0
    for n in range(8):
        optimizer.param_groups[0]["lr"] = 0.1 / (n + 1)
        p.grad = torch.ones(3)
        step()
        expected -= 0.1 / (n + 1)
        assert p.tolist() == pytest.approx([expected] * 3)
    assert len(state_of(step).cache.variants) <= 3


def test_a_closure_is_asked_with_gradients() -> None:
    p = nn.Parameter(torch.ones(1))
    optimizer = optim.SGD([p], lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.tolist() == pytest.approx([0.8])


def test_its_state_goes_on_elsewhere() -> None:
    def made() -> tuple[nn.Parameter, optim.Adam]:
        p = nn.Parameter(torch.ones(2))
        return p, optim.Adam([p], lr=0.1)

    (p, one), (q, other) = made(), made()
    for _ in range(3):
        p.grad = p.detach() * 2
        one.step()
    with torch.no_grad():
        q.copy_(p)
    other.load_state_dict(one.state_dict())
    for parameter, optimizer in ((p, one), (q, other)):
        parameter.grad = torch.ones(2)
        optimizer.step()
    assert p.tolist() == q.tolist()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        other.load_state_dict({"state": {}, "param_groups": []})


def test_what_cannot_be_optimized() -> None:
    p = nn.Parameter(torch.ones(1))
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD([])
    with pytest.raises(TypeError, match=r"write \[parameter\]"):
        optim.SGD(p)
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        optim.SGD([3])
    with pytest.raises(ValueError, match="non-leaf"):
        optim.SGD([p * 2])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [p]}, {"params": [p]}])
    for settings in ({"lr": -1.0}, {"betas": (1.0, 0.9)}, {"eps": -1.0}):
        with pytest.raises(ValueError, match="Invalid"):
            optim.Adam([p], **settings)
    with pytest.raises(ValueError, match="Nesterov"):
        optim.SGD([p], nesterov=True)
