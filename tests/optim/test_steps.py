"""Optimizers: the same steps compiled, in one graph; what they refuse; their state."""

from __future__ import annotations

import pytest

import labcore as torch

nn, optim = torch.nn, torch.optim

KINDS = [
    (optim.SGD, {"lr": 0.1}),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True}),
    (optim.Adam, {"lr": 0.01, "weight_decay": 0.1}),
    (optim.AdamW, {"lr": 0.01}),
]


def made(kind, options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))
    return model, kind(model.parameters(), **options)


def train(model, optimizer, step, steps=5):
    losses = []
    for number in range(steps):
        x = torch.arange(20.0).view(5, 4) * (number + 1) / 20
        loss = (model(x) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(("kind", "options"), KINDS)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_compiled_step(kind, options, backend):
    model, optimizer = made(kind, options)
    wanted = train(model, optimizer, optimizer.step)
    same, again = made(kind, options)
    step = torch.compile(again.step, backend=backend, fullgraph=True)
    assert train(same, again, step) == pytest.approx(wanted, abs=1e-6)


def test_no_recompile_after_the_first_steps():
    model, optimizer = made(optim.AdamW, {})
    counter = torch._dynamo.testing.CompileCounter()
    step = torch.compile(optimizer.step, backend=counter, fullgraph=True)
    train(model, optimizer, step, 3)
    assert counter.frame_count <= 3  # no state yet, the second step, any other
    known = counter.frame_count
    train(model, optimizer, step, 4)
    assert counter.frame_count == known


def test_state_goes_on_elsewhere():
    model, optimizer = made(optim.AdamW, {"lr": 0.01})
    train(model, optimizer, optimizer.step, 3)
    other, resumed = made(optim.AdamW, {"lr": 0.5})
    other.load_state_dict(model.state_dict())
    resumed.load_state_dict(optimizer.state_dict())
    assert resumed.param_groups[0]["lr"] == 0.01
    assert len(resumed.state) == 4
    assert train(other, resumed, resumed.step) == train(model, optimizer, optimizer.step)


def test_groups_have_options_of_their_own():
    first, second = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    optimizer = optim.SGD([{"params": [first], "lr": 1.0}, {"params": second}], lr=0.5)
    (first.sum() + second.sum()).backward()
    optimizer.step()
    assert first.tolist() == [0, 0] and second.tolist() == [0.5, 0.5]


def test_a_closure():
    x = torch.ones(1, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    assert float(optimizer.step(closure)) == 1 and x.tolist() == [0.5]


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
    (lambda: optim.SGD([torch.ones(1)], lr=-1), ValueError, "Invalid learning rate: -1"),
    (lambda: optim.SGD([3]), TypeError, "optimizer can only optimize Tensors"),
    (lambda: optim.SGD([torch.ones(1)], nesterov=True), ValueError, "Nesterov momentum requires"),
    (lambda: optim.Adam([torch.ones(1)], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter"),
    (
        lambda: optim.SGD([torch.ones(1, requires_grad=True) * 2]),
        ValueError,
        "can't optimize a non-leaf Tensor",
    ),
])
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
