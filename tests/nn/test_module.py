"""What a module has, and what its state is."""

from __future__ import annotations

import copy
import pickle

import pytest

import labcore as torch
from labcore.measure.networks import Convolutional, Transformer

nn = torch.nn


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.register_buffer("steps", torch.zeros(()))
        self.register_buffer("cache", torch.zeros(2), persistent=False)
        self.note = torch.ones(3)  # neither parameter nor buffer

    def forward(self, x):
        return self.second(self.first(x))


def test_names_of_parameters_and_buffers():
    tied = Tied()
    assert [name for name, _ in tied.named_parameters()] == ["first.weight", "second.bias"]
    assert [name for name, _ in tied.named_buffers()] == ["steps", "cache"]
    assert [name for name, _ in tied.named_children()] == ["first", "second"]
    assert [name for name, _ in tied.named_modules()] == ["", "first", "second"]
    assert list(tied.state_dict()) == ["steps", "first.weight", "second.weight", "second.bias"]


def test_a_parameter_is_a_tensor_of_its_own_type():
    data = torch.ones(2)
    parameter = nn.Parameter(data)
    assert isinstance(parameter, torch.Tensor) and type(parameter) is nn.Parameter
    assert type(parameter * 2) is torch.Tensor
    assert repr(parameter).startswith("Parameter containing:\ntensor([1., 1.]")
    assert parameter.requires_grad and parameter.is_leaf and not data.requires_grad
    assert not isinstance(data, nn.Parameter) and not isinstance(parameter * 2, nn.Parameter)
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    parameter.sum().backward()
    copied = copy.deepcopy(parameter)
    assert type(copied) is nn.Parameter and copied.grad is None and copied.is_leaf
    assert isinstance(pickle.loads(pickle.dumps(parameter)), nn.Parameter)


def test_train_eval_and_apply():
    net = Convolutional(0.5)
    assert all(module.training for module in net.modules())
    assert net.eval() is net and not any(module.training for module in net.modules())
    seen: list[str] = []
    net.train().apply(lambda module: seen.append(type(module).__name__))
    assert seen[-1] == "Convolutional" and seen.count("Conv2d") == 2
    x = torch.randn(2, 1, 8, 8)
    assert not torch.equal(net(x), net(x))
    net.eval()
    assert torch.equal(net(x), net(x))


def test_state_goes_from_one_to_another():
    first, second = Transformer(7, 8, 2, 1), Transformer(7, 8, 2, 1)
    x = torch.arange(6).view(2, 3)
    assert not torch.equal(first(x), second(x))
    assert second.load_state_dict(first.state_dict()) == ([], [])
    assert torch.equal(first(x), second(x))
    clone = copy.deepcopy(first)
    clone.head.bias.detach().add_(1)
    assert not torch.equal(first(x), clone(x))


def test_a_state_that_does_not_fit():
    linear = nn.Linear(2, 3)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "bias"'):
        linear.load_state_dict({"weight": torch.ones(3, 2)})
    with pytest.raises(RuntimeError, match="size mismatch for weight: copying a param with shape"):
        linear.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.ones(3)})
    state = {"weight": torch.ones(3, 2), "more": torch.ones(1)}
    assert linear.load_state_dict(state, strict=False) == (["bias"], ["more"])
    assert torch.equal(linear.weight.detach(), torch.ones(3, 2))


def test_gradients_are_cleared():
    linear = nn.Linear(2, 3)
    linear(torch.ones(1, 2)).sum().backward()
    assert linear.bias.grad is not None
    linear.zero_grad(set_to_none=False)
    assert not linear.bias.grad.any()
    linear.zero_grad()
    assert linear.bias.grad is None
    linear.requires_grad_(False)
    assert not linear(torch.ones(1, 2)).requires_grad


def test_another_type():
    net = Convolutional().double()
    assert {p.dtype for p in net.parameters()} == {torch.float64}
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in net.parameters())
    assert net(torch.randn(1, 1, 8, 8, dtype=torch.float64)).dtype is torch.float64


def test_containers():
    layers = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(layers) == 3 and isinstance(layers[1], nn.ReLU) and len(layers[:2]) == 2
    assert list(layers.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    named = nn.Sequential({"inner": nn.Linear(2, 3), "outer": nn.Linear(3, 1)})
    assert list(named.state_dict()) == [
        "inner.weight", "inner.bias", "outer.weight", "outer.bias"
    ]
    table = nn.ModuleDict({"a": nn.Linear(2, 2)})
    table["b"] = nn.Identity()
    assert list(table) == ["a", "b"] and [n for n, _ in table.named_children()] == ["a", "b"]


def test_how_it_looks():
    assert repr(nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Dropout(0.1))) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): GELU(approximate='none')\n"
        "  (2): Dropout(p=0.1, inplace=False)\n"
        ")"
    )


def test_errors():
    with pytest.raises(NotImplementedError, match="missing the required"):
        nn.Module()(1)
    with pytest.raises(TypeError, match="GELU"):
        nn.GELU(wrong=1)
    x = torch.ones(2, 4)
    with pytest.raises(RuntimeError, match="Need attn_mask"):
        nn.MultiheadAttention(4, 2)(x, x, x, is_causal=True)


@pytest.mark.parametrize("make", [lambda: nn.ReLU(True), lambda: nn.LeakyReLU(0.1, inplace=True)])
def test_in_place(make):
    module = make()
    x = torch.tensor([-1.0, 2.0])
    assert module(x) is x and x[1] == 2 and x[0] > -1

    def program(x):
        y = x * 2
        z = module(y)
        return y + z

    for x in (torch.tensor([-1.0, 2.0]), torch.tensor([-1.0, 2.0], requires_grad=True)):
        found = torch.compile(program)(x)
        torch.testing.assert_close(found, program(x))


def test_hooks_change_arguments_and_result_until_they_are_removed():
    layer, x, seen = nn.Linear(2, 2), torch.ones(1, 2), []
    plain = layer(x)
    before = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
    first = layer.register_forward_hook(lambda module, args, result: seen.append(args[0].tolist()))
    last = layer.register_forward_hook(lambda module, args, result: result + 1)
    assert torch.equal(layer(x), torch.nn.functional.linear(x * 2, layer.weight, layer.bias) + 1)
    assert seen == [[[2.0, 2.0]]]
    other = copy.deepcopy(layer)
    for handle in (before, first, last, last):
        handle.remove()
    assert torch.equal(layer(x), plain) and len(seen) == 1
    assert not torch.equal(other(x), plain)


def test_hooks_are_captured_and_guarded():
    layer, x = nn.Linear(2, 2), torch.ones(1, 2)
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(layer, backend=counter, fullgraph=True)
    plain = compiled(x)
    handle = layer.register_forward_hook(lambda module, args, result: result * 3)
    assert torch.equal(compiled(x), plain * 3) and counter.frame_count == 2
    handle.remove()
    assert torch.equal(compiled(x), plain)


def test_to_takes_a_dtype_a_device_or_a_tensor():
    for args in [(torch.float64,), ("cpu", torch.float64), (torch.ones(1, dtype=torch.float64),)]:
        assert nn.Linear(2, 2).to(*args).weight.dtype is torch.float64
    assert nn.Linear(2, 2).to(device="cpu").weight.dtype is torch.float32
    with pytest.raises(TypeError, match="only accepts floating point dtypes"):
        nn.Linear(2, 2).to(torch.int64)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_a_softmax_without_an_axis_warns_and_takes_the_old_one(name):
    function = getattr(torch.nn.functional, name)
    for shape, dim in [((), 0), ((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((1, 2, 3, 4), 1)]:
        x = torch.arange(float(torch.ones(shape).numel())).view(*shape)
        with pytest.warns(UserWarning, match=f"Implicit dimension choice for {name} has been"):
            found = function(x)
        assert torch.equal(found, function(x, dim))
        with pytest.warns(UserWarning, match="Implicit"):
            assert torch.equal(torch.compile(lambda x: function(x) + 1, backend="eager")(x),
                               found + 1)
    with pytest.raises(TypeError, match="dim"):
        torch.ones(2).softmax()
