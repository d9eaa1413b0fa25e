"""Tensors on a simulated card: eager operators, compiled functions, gradients, what is refused.

What is right is what the same program gives on the host.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import labcore as torch
from labcore import devices, trace
from labcore.simulator import OutOfBounds
from labcore.tensor import Tensor, from_numpy
from labcore.tensor.cuda import to_host
from labcore.tensor.on_card import empty_strided
from tests.card.cards import KINDS, card_of
from tests.fusion.graphs import assert_same
from tests.fusion.programs import RandomProgram

FEW = max(8, settings.default.max_examples // 6)


@pytest.fixture(autouse=True, params=KINDS)
def card(request, monkeypatch, tmp_path):
    """The simulated card; the way to one of silicon, up to the driver; one of silicon."""
    with card_of(request.param, monkeypatch, tmp_path / "cache"):
        yield request.param


def random(*shape, seed=0):
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return from_numpy(numbers.astype(np.float32))


def close(a, b):
    """The card's result and the host's."""
    assert a.device is devices.cuda and b.device is devices.cpu
    torch.testing.assert_close(a.cpu(), b, rtol=3e-5, atol=3e-5)


# ---- places -------------------------------------------------------------------------------------


def test_where_a_tensor_lives():
    x = random(2, 3)
    y = x.to("cuda")
    assert (str(y.device), y.device.type, y.device.index) == ("cuda:0", "cuda", 0)
    assert y.device == torch.device("cuda") == torch.device("cuda:0")
    assert y.to("cuda") is y and x.cpu() is x and y.untyped_storage().device is devices.cuda
    assert repr(torch.ones(2, device="cuda")) == "tensor([1., 1.], device='cuda:0')"
    torch.testing.assert_close(y.cpu(), x)
    y.add_(1)
    torch.testing.assert_close(y.cpu(), x + 1)
    assert torch.empty_like(y).device is devices.cuda is torch.zeros_like(y).device


def test_the_host_does_not_compute_with_the_card_s_memory():
    y = torch.ones(3, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        y.numpy()
    with pytest.raises(TypeError, match="numpy cannot compute with memory of a card"):
        np.exp(y.array)
    with pytest.raises(TypeError, match="numpy cannot compute with memory of a card"):
        np.concatenate([y.array, y.array])
    assert y.sum().item() == 3.0 and y.tolist() == [1.0, 1.0, 1.0] and bool((y == 1).all())


@pytest.mark.parametrize("call", [
    lambda x, y: x + y, lambda x, y: x.add_(y), lambda x, y: torch.cat([x, y]),
    torch.compile(lambda x, y: x + y),
])
def test_tensors_that_lie_apart(call):
    with pytest.raises(Exception, match="found at least two devices, cuda:0 and cpu!"):
        call(torch.ones(3, device="cuda"), torch.ones(3))


def test_a_number_in_a_tensor_of_the_host_may_come_along():
    x = torch.ones(3, device="cuda")
    for function in (lambda x, n: x + n, torch.compile(lambda x, n: x + n)):
        assert function(x, torch.tensor(2.0)).tolist() == [3.0, 3.0, 3.0]


def test_memory_that_nobody_wrote_is_no_number():
    assert np.isnan(empty_strided((2, 2), (2, 1), torch.float32).cpu().numpy()).all()


# ---- eager --------------------------------------------------------------------------------------

EAGER = {
    "pointwise": lambda x: torch.relu(x + 1) * 2,
    "softmax": lambda x: torch.softmax(x, -1),
    "layer norm": lambda x: torch.nn.functional.layer_norm(x, (x.shape[-1],)),
    "sums": lambda x: x.sum(0) + x.mean(),
    "views": lambda x: x.t()[1:, ::2].reshape(-1) + 1,
    "index": lambda x: x[:, torch.tensor([2, 0], device=x.device)],
    "masks": lambda x: x[x > 0],
    "products": lambda x: x @ x.t(),
    "joined": lambda x: torch.cat([x, x * 2], 1),
    "sorted": lambda x: torch.argsort(x, 1),
    "from nothing": lambda x: torch.nn.functional.one_hot(x.argmax(1), 40),
    "in place": lambda x: x.clone().mul_(2).add_(x).relu_(),
    "into a part": lambda x: (lambda y: (y.__setitem__((slice(1, 3), slice(None)), 7.0), y)[1])(
        x.clone()),
}


@pytest.mark.parametrize("name", EAGER)
def test_eager_operators(name):
    x = random(5, 40)
    close(EAGER[name](x.cuda()), EAGER[name](x))


def test_an_operator_is_a_kernel(card):
    x, b = random(4).cuda(), random(4, seed=1).cuda()
    with torch.cuda.record() as apart:
        want = torch.relu(x + b) * 2
    with torch.cuda.record() as fused:
        found = torch.compile(lambda x, b: torch.relu(x + b) * 2)(x, b)
    torch.testing.assert_close(found, want)
    assert (len(apart), len(fused)) == (3, 1)
    if card == "simulated":  # which counts
        count = lambda launches: sum(k.reads + k.writes for k in launches)
        assert (count(apart), count(fused)) == (28, 12)


def test_gradients_of_the_tape():
    def loss(x, w):
        return torch.softmax(x * w, -1).pow(2).sum()

    found = []
    for place in ("cpu", "cuda"):
        x = random(5, 40).to(place).requires_grad_()
        w = random(40, seed=1).to(place).requires_grad_()
        loss(x, w).backward()
        found.append((x.grad, w.grad))
    for host, card in zip(*found):
        close(card, host)


def test_a_gradient_crosses_devices():
    x = random(3).requires_grad_()
    (x.cuda() * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0] and x.grad.device is devices.cpu


# ---- compiled -----------------------------------------------------------------------------------


def block(x, w, b):
    h = torch.nn.functional.gelu(x @ w + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],)), h.sum(0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_on_each_backend(backend):
    x, w, b = random(6, 20), random(20, 30, seed=1), random(30, seed=2)
    compiled = torch.compile(block, backend=backend, fullgraph=True)
    for found, want in zip(compiled(x.cuda(), w.cuda(), b.cuda()), block(x, w, b)):
        close(found, want)


def test_compiled_gradients():
    def loss(x, w, b):
        out, sums = block(x, w, b)
        return (out * out).mean() + sums.sum()

    found = []
    for place, function in (("cpu", loss), ("cuda", torch.compile(loss))):
        given = [t.to(place).requires_grad_() for t in (random(6, 20), random(20, 30, seed=1),
                                                         random(30, seed=2))]
        function(*given).backward()
        found.append([t.grad for t in given])
    for host, card in zip(*found):
        close(card, host)


def test_sizes_that_change():
    def function(x):
        return torch.softmax(x, -1), x.sum(0), x.mean(), torch.relu(x.t() + 1)

    compiled = torch.compile(function, dynamic=True)
    for rows, columns in ((5, 17), (3, 300), (40, 9)):
        x = random(rows, columns)
        for found, want in zip(compiled(x.cuda()), function(x)):
            close(found, want)


def test_host_and_card_are_two_variants():
    compiled = torch.compile(lambda x: x * 2 + 1)
    x = random(4)
    close(compiled(x.cuda()), compiled(x))
    with trace.record() as events:
        compiled(x), compiled(x.cuda())
    assert [e.result for e in events.of(trace.CallEnd)] == ["hit", "hit"]


def test_a_copy_between_devices_breaks_the_graph():
    def function(x):
        y = (x + 1).cpu() * 2
        return y.cuda() - 1

    x = random(4)
    with trace.record() as events:
        close(torch.compile(function)(x.cuda()), (x + 1) * 2 - 1)
    assert [e.break_id for e in events.of(trace.GraphBreak)] == ["device-copy"] * 2
    with pytest.raises(torch._dynamo.exc.Unsupported, match="a tensor is copied to device"):
        torch.compile(function, fullgraph=True)(x.cuda())


MADE = {
    "ones": lambda x: torch.ones(4, device=x.device),
    "arange": lambda x: torch.arange(4, device="cuda") * x,
    "data": lambda x: torch.tensor([1, 2], device="cuda") + torch.tensor([3, 4], device="cuda"),
    "folded": lambda x: torch.zeros(3, device="cuda") + 1,
    "composite": lambda x: torch.triu(torch.ones(3, 3, device="cuda")),
    "eye": lambda x: torch.eye(4, device="cuda:0") @ x,
    "new": lambda x: x.new_ones(2) + x.new_zeros(2) + x.new_full((2,), 3.0),
    "empty": lambda x: torch.empty(2, device="cuda").fill_(2),
    "padding": lambda x: torch.nn.functional.pad(x, (1, 1)),
    "a number of the host's": lambda x: x * torch.tensor(2.0) + torch.full((), 3.0),
    "another's type": lambda x: x.long().type_as(x),
}


@pytest.mark.parametrize("made", MADE)
def test_what_is_made_inside_lies_on_the_card(made):
    x = random(4).cuda()
    want = MADE[made](x)
    found = torch.compile(MADE[made], fullgraph=True)(x)
    assert found.device is devices.cuda is want.device
    close(found, want.cpu())


def test_what_is_drawn_lies_on_the_card():
    found = torch.compile(lambda x: x * torch.rand(4, device="cuda"), fullgraph=True)(
        torch.ones(4).cuda())
    assert found.device is devices.cuda and len(set(found.tolist())) == 4


APART = {
    "inputs": (lambda x, y, s: (y + 1, x + 1, y * 2, x * 2), 2),
    "zeros": (lambda x, y, s: (x + 1, torch.zeros(3) + 1, x + 2), 2),
    "a number": (lambda x, y, s: (x * s, s + 1), 1),
    "a made number": (lambda x, y, s: (x + 1, torch.tensor(2.0)), 0),
    "made numbers": (lambda x, y, s: (x + 1, torch.stack([torch.tensor(1.0), s])), 1),
}


@pytest.mark.parametrize("name", APART)
def test_each_device_has_regions_of_its_own(name):
    function, breaks = APART[name]
    given = random(3).cuda(), random(3), torch.tensor(5.0)
    want = function(*given)
    with trace.record() as events:
        found = torch.compile(function)(*given)
    assert [t.device for t in found] == [t.device for t in want]
    for one, other in zip(found, want):
        torch.testing.assert_close(one.cpu(), other.cpu())
    assert [e.break_id for e in events.of(trace.GraphBreak)] == ["several-devices"] * breaks


def test_operands_that_lie_apart_are_refused_as_eagerly():
    for function in (lambda x, y: x + y, lambda x, y: x + torch.zeros(3),
                     lambda x, y: torch.where(x > 0, x, y)):
        for run in (function, torch.compile(function)):
            with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
                run(random(3).cuda(), random(3))


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager", "inductor"])
def test_a_number_of_the_host_s_is_not_written_by_the_card(backend):
    def copied(x):
        t = torch.tensor(0.0)
        t.copy_(x.sum())
        return t + 1

    def added(x, t):
        t.add_(x.sum())
        return t * 2

    x, t = random(4).cuda(), torch.tensor(2.0)
    copy, add = (torch.compile(f, backend=backend) if backend else f for f in (copied, added))
    assert copy(x).device is devices.cpu
    torch.testing.assert_close(copy(x), copied(x))
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        add(x, t)
    assert t.item() == 2


PARTS = {
    "slice": lambda x: x[1:3] * 2,
    "index": lambda x: x[1],
    "narrow": lambda x: x.narrow(0, 1, 2),
    "split": lambda x: x.split(2)[0],
    "unbind": lambda x: x.unbind()[2],
    "of a list": lambda x: x[torch.tensor([2, 0, 2], device=x.device)],
    "gather": lambda x: torch.gather(x, 0, torch.tensor([[1, 0]], device=x.device)),
    "index_select": lambda x: x.index_select(0, torch.tensor([1, 1], device=x.device)),
    "embedding": lambda x: torch.nn.functional.embedding(
        torch.tensor([0, 3, 3], device=x.device), x),
    "sort": lambda x: x.sort(0)[0] * x,
    "topk": lambda x: x.topk(1)[0],
    "max": lambda x: x.max(0)[0],
    "written": lambda x: (x * 2)[1:].mul_(3),
    "filled": lambda x: (x * 1).fill_(2) * x,
    "home": lambda x: x.cpu() * 3,
}


def test_what_is_made_like_a_tensor_of_the_host_s_is_the_host_s_work():
    """With a card in use, too, and in one graph."""
    for function in (lambda x: torch.zeros_like(x) + x, lambda x: torch.full_like(x, 2.0) * x):
        for x in (random(3), torch.tensor(2.0)):
            found = torch.compile(function, fullgraph=True)(x)
            assert found.device is devices.cpu
            torch.testing.assert_close(found, function(x))


@pytest.mark.parametrize("part", PARTS)
def test_a_gradient_lies_where_its_tensor_does(part):
    """What a derivative makes from nothing, too."""
    found = []
    for place, compiled in (("cpu", False), ("cuda", False), ("cuda", True)):
        x = random(4, 2).to(place).requires_grad_()
        run = torch.compile(PARTS[part]) if compiled else PARTS[part]
        run(x).sum().backward()
        assert x.grad.device is x.device
        found.append(x.grad.cpu())
    torch.testing.assert_close(found[1], found[0])
    torch.testing.assert_close(found[2], found[0])


def test_what_is_saved_and_then_written_is_copied_on_the_card():
    def function(x, y):
        out = x * (y + 1)
        y.mul_(2)
        return out

    x, y = random(4).cuda().requires_grad_(), random(4, seed=1).cuda()
    torch.compile(function)(x, y).sum().backward()
    close(x.grad, random(4, seed=1) + 1)
    close(y, random(4, seed=1) * 2)


def test_a_write_from_the_host_breaks_the_graph():
    y = random(3)
    with trace.record() as events:
        close(torch.compile(lambda x: x.clone().copy_(y) * 2)(random(3, seed=1).cuda()), y * 2)
    assert [e.break_id for e in events.of(trace.GraphBreak)] == ["device-copy"]


def test_a_module_moves():
    model = torch.nn.Linear(3, 2)
    assert model.cuda() is model and model.weight.device is devices.cuda
    assert torch.compile(model)(random(4, 3).cuda()).device is devices.cuda
    assert model.cpu().bias.device is devices.cpu


def test_an_index_that_does_not_exist_stops_the_kernel(card):
    if card == "silicon":
        pytest.skip("CUDA serves no process whose kernel stopped itself")
    compiled = torch.compile(lambda x, i: x[i] + 1)
    x = random(4).cuda()
    assert compiled(x, torch.tensor([3, 0], device="cuda")).shape == (2,)
    with pytest.raises((IndexError, OutOfBounds)):
        compiled(x, torch.tensor([3, 9], device="cuda"))


def test_training():
    def trained(place, compiling):
        rng = np.random.default_rng(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.LayerNorm(6),
                                    torch.nn.Linear(6, 3))
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(from_numpy(rng.standard_normal(tuple(p.shape)).astype(np.float32)))
        model.to(place)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        target = torch.tensor([0, 1, 2, 1], device=place)
        run = torch.compile(model) if compiling else model
        losses = []
        for _ in range(3):
            loss = torch.nn.functional.cross_entropy(run(random(4, 8).to(place)), target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses

    want = trained("cpu", False)
    np.testing.assert_allclose(trained("cuda", False), want, rtol=1e-4)
    np.testing.assert_allclose(trained("cuda", True), want, rtol=1e-4)


def test_what_is_told(card):
    with trace.record() as events:
        torch.compile(lambda x: torch.softmax(x, -1))(random(8, 700).cuda())
    (form,) = events.of(trace.KernelForm)
    assert (form.form, form.grid, form.block) == ("rows", ["8"], [64])
    assert form.reason == "64 threads a row of 700: the row stays in registers"
    where = "the grid simulator" if card == "simulated" else torch.cuda.get_device_name()
    assert f"1 kernel for {where}" in str(events.of(trace.Stage)[-1].note)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1))
def test_programs_that_write_in_place(seed):
    rng = np.random.default_rng(seed)
    program = RandomProgram(rng, int(rng.integers(3, 12)))
    function = program.function()
    plain = program.inputs(seed)
    own = [t.cuda() for t in program.inputs(seed)]
    with np.errstate(all="ignore"), torch.no_grad():
        try:
            want = function(*plain)
        except RuntimeError:
            return
        found = torch.compile(function)(*own)
    as_arrays = lambda values: [to_host(v.array) for v in values if isinstance(v, Tensor)]
    assert_same(as_arrays(found), as_arrays(want))
    assert_same(as_arrays(own), as_arrays(plain))


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 4), (4, 0), (0, 1)])
@pytest.mark.parametrize("function", [
    lambda x: x.sum(1), lambda x: x.sum(-2) * 2, lambda x: (x * 2).sum(0) + 1,
    lambda x: x.sum(), lambda x: torch.softmax(x, -1), lambda x: x - x.sum(1, True),
    lambda x: (x.exp(), x.sum(-2)),
])
def test_of_nothing(shape, function):
    x = torch.zeros(shape)
    want = function(x)
    for run in (function, torch.compile(function)):
        found = run(x.to("cuda"))
        pairs = zip(found, want) if isinstance(want, tuple) else [(found, want)]
        for ours, expected in pairs:
            assert ours.shape == expected.shape and ours.cpu().tolist() == expected.tolist()


@pytest.mark.parametrize("function", [
    lambda x: torch.nn.functional.dropout(x, 0.5),
    lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    lambda x: x * torch.rand_like(x),
])
def test_what_is_drawn_lies_where_it_is_wanted(function):
    found = []
    for run, device in ((function, "cpu"), (function, "cuda"), (torch.compile(function), "cuda")):
        torch.manual_seed(3)
        found.append(run(random(1, 2, 4, 4).to(device)))
    assert [t.device.type for t in found] == ["cpu", "cuda", "cuda"]
    for other in found[1:]:
        close(other, found[0])


def test_numbers_of_a_card_are_a_card_s():
    function = lambda x, y: (x * 2 + y).exp()
    one, two = torch.tensor(3.0), torch.tensor(0.5)
    compiled = torch.compile(function)
    close(compiled(one.cuda(), two.cuda()), function(one, two))
    assert compiled(one, two).device is devices.cpu
