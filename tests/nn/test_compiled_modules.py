"""Modules under `compile`: one graph with the parameters as inputs, and guards on what was read."""

from __future__ import annotations

import copy
import pickle

import pytest

import labcore as torch
from labcore import nn
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.compile import state_of


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.drop = nn.Dropout(0.5)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        for layer in self.layers:
            x = self.drop(layer(x).relu())
        return x


def test_a_module_is_one_graph() -> None:
    model, counter = Gated().eval(), CompileCounter()
    compiled = torch.compile(model, backend=counter, fullgraph=True)
    x = torch.randn(3, 4)
    expected = model(x)
    for _ in range(4):
        assert torch.equal(compiled(x), expected)
    assert model.calls == 5  # counting is an effect of the call
    assert counter.frame_count == 1  # both variants compute the same
    assert len(state_of(compiled).cache.variants) == 2  # the count was a constant, then an input


def test_parameters_are_inputs_not_constants() -> None:
    model, counter = nn.Linear(4, 4), CompileCounter()
    compiled = torch.compile(model, backend=counter)
    x = torch.randn(3, 4)
    compiled(x)
    with torch.no_grad():
        model.weight.mul_(2)
    model.bias = nn.Parameter(torch.ones(4))
    assert torch.equal(compiled(x), model(x)) and counter.frame_count == 1
    model.bias = None
    assert torch.equal(compiled(x), model(x)) and counter.frame_count == 2


def test_inputs_of_the_graph_have_the_names_of_the_modules_parameters() -> None:
    model, seen = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)), []

    def backend(gm, example_inputs):
        seen.extend(node.name for node in gm.graph.placeholders)
        return gm.forward

    torch.compile(lambda x: model(x), backend=backend)(torch.ones(2, 4))
    assert seen == ["x", "model_0_weight", "model_0_bias", "model_1_weight", "model_1_bias"]


def test_training_is_guarded_where_it_is_read() -> None:
    model, counter = nn.Sequential(nn.Linear(4, 4), nn.Dropout(1.0)), CompileCounter()
    compiled = torch.compile(model, backend=counter)
    x = torch.ones(2, 4)
    assert compiled(x).tolist() == [[0.0] * 4] * 2
    compiled.eval()
    assert torch.equal(compiled(x), model[0](x)) and counter.frame_count == 2


def test_what_is_compiled_stays_a_module() -> None:
    model = nn.Sequential(nn.Linear(4, 2))
    compiled = torch.compile(model, backend="eager")
    assert isinstance(compiled, nn.Module) and compiled._orig_mod is model
    assert list(compiled.parameters())[0] is model[0].weight
    assert list(compiled.state_dict()) == ["0.weight", "0.bias"]
    compiled.note = "kept"
    assert model.note == "kept"
    del compiled.note
    assert not hasattr(model, "note")
    outer = nn.Sequential(compiled, nn.ReLU())
    assert [name for name, _ in outer.named_parameters()] == ["0.0.weight", "0.0.bias"]
    x = torch.randn(3, 4)
    counter = CompileCounter()
    assert torch.equal(torch.compile(outer, backend=counter, fullgraph=True)(x), outer(x))
    assert counter.frame_count == 1 and counter.op_count == 4
    other = copy.deepcopy(compiled)
    assert torch.equal(other(x), compiled(x)) and other._orig_mod is not model
    with pytest.raises(TypeError, match="pickle its _orig_mod"):
        pickle.dumps(compiled)


def test_a_model_of_many_layers_is_captured_once() -> None:
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(30)])
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    x = torch.randn(2, 4)
    for _ in range(3):
        assert torch.equal(compiled(x), model(x))
    assert len(state_of(compiled).cache.variants) == 1


def test_gradients_reach_the_parameters() -> None:
    for backend in ("eager", "aot_eager", "inductor"):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
        x, other = torch.randn(5, 4), copy.deepcopy(model)
        torch.compile(model, backend=backend, fullgraph=True)(x).square().mean().backward()
        other(x).square().mean().backward()
        for p, q in zip(model.parameters(), other.parameters()):
            assert torch.allclose(p.grad, q.grad, rtol=1e-4, atol=1e-6)
