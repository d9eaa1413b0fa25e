"""Modules whose parts are shared, replaced or wrong."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("seen", torch.zeros(8))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)
        self.again = self.first

    def forward(self, x):
        return self.first(x) * self.scale


def network() -> nn.Sequential:
    return nn.Sequential(Block(), nn.ReLU(), nn.Linear(8, 2, bias=False))


def test_a_state_is_copied_from_one_module_to_another() -> None:
    one, other = network(), network()
    state = one.state_dict()
    assert list(state) == [
        "0.scale",
        "0.seen",
        "0.first.weight",
        "0.first.bias",
        "0.again.weight",
        "0.again.bias",
        "2.weight",
    ]
    assert other.load_state_dict(state) == ([], [])
    x = torch.randn(3, 4)
    assert torch.equal(one(x), other(x)) and other[2].weight is not one[2].weight
    state["0.scale"].mul_(2)  # the module's own memory
    assert one[0].scale.tolist() == [2.0] * 8


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    model = network()
    before = model[0].scale.tolist()
    state = {**model.state_dict(), "2.weight": torch.ones(3, 3), "more": torch.ones(1)}
    state["0.scale"] = torch.zeros(8)
    del state["0.seen"]
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    text = str(caught.value)
    assert 'Missing key(s) in state_dict: "0.seen". ' in text and "Unexpected key(s)" in text
    assert "size mismatch for 2.weight" in text
    assert "torch.Size([3, 3])" in text and "torch.Size([2, 8])" in text
    assert model[0].scale.tolist() == before
    del state["2.weight"]
    loaded = model.load_state_dict(state, strict=False)
    assert loaded == (["0.seen", "2.weight"], ["more"]) and model[0].scale.tolist() == [0.0] * 8


def test_what_is_done_with_all_of_it() -> None:
    model = network()
    assert model.eval() is model and not model[0].first.training
    assert model.train()[0].first.training
    assert model.double()[0].first.weight.dtype is torch.float64
    assert model[0].seen.dtype is torch.float64 and type(model[0].scale) is nn.Parameter
    model.requires_grad_(False)
    assert not any(p.requires_grad for p in model.parameters())
    seen = []
    model.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Block", "ReLU", "Linear", "Sequential"]
    with pytest.raises(TypeError, match="floating point"):
        model.to(torch.int64)


def test_a_parameter_is_not_lost_by_assigning_a_tensor() -> None:
    block = Block()
    with pytest.raises(TypeError, match="cannot assign a Tensor as parameter 'scale'"):
        block.scale = torch.ones(8)
    block.seen = torch.ones(8)
    block.scale = None
    assert [name for name, _ in block.named_parameters()] == ["first.weight", "first.bias"]
    del block.first, block.again
    assert list(block.parameters()) == []


def test_wrong_names() -> None:
    block = Block()
    for name, error in (("", KeyError), ("a.b", KeyError), ("forward", KeyError), (3, TypeError)):
        with pytest.raises(error):
            block.register_parameter(name, nn.Parameter(torch.ones(1)))
    with pytest.raises(TypeError, match="buffer 'x'"):
        block.register_buffer("x", 3)
    with pytest.raises(NotImplementedError, match=r'\[Module\] is missing the required "forward"'):
        nn.Module()(1)


def test_containers() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    layers[1] = nn.Identity()
    layers.append(nn.Flatten())
    assert [type(m).__name__ for m in layers] == ["Linear", "Identity", "Linear", "Flatten"]
    assert len(layers[1:3]) == 2 and layers[-1] is layers[3]
    named = nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.Identity()})
    assert list(named) == ["a", "b"] and "a" in named and len(named.values()) == 2
    del named["b"]
    assert [name for name, _ in named.named_parameters()] == ["a.weight", "a.bias"]
    steps = nn.Sequential({"up": nn.Linear(1, 2), "down": nn.Linear(2, 1)})
    assert [name for name, _ in steps.named_children()] == ["up", "down"]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        nn.Sequential(3)
