"""The tape: gradients, their accumulation, what is kept and for how long, and what is refused."""

from __future__ import annotations

import gc
import weakref

import pytest

import labcore as torch
from labcore.tensor import autograd
from labcore.tensor.autograd import record


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_the_block():
    x = leaf(-2, -1, 1, 2)
    y = (x + torch.ones(4)).relu() * 2
    y.sum().backward()
    assert y.tolist() == [0, 0, 4, 6] and x.grad.tolist() == [0, 0, 2, 2]
    assert not x.grad.requires_grad and x.grad.is_leaf


def test_leaves_accumulate_in_place():
    x = leaf(1, 2)
    (x * 3).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first and first.tolist() == [5, 7]
    x.grad = None
    (x * 3).sum().backward()
    assert first.tolist() == [5, 7] and x.grad.tolist() == [3, 3]


def test_a_gradient_is_never_shared_with_others():
    x, y, given = leaf(1, 2), leaf(3, 4), torch.ones(2)
    (x + y).backward(given)
    x.grad.add_(1)
    assert y.grad.tolist() == [1, 1] and given.tolist() == [1, 1]
    z = leaf(1, 2)
    z.sum().backward()
    assert z.grad.stride() == (1,), "the expanded gradient of a sum becomes memory of its own"
    m = torch.ones(2, 3).t().requires_grad_()
    (m * 2).sum().backward()
    assert m.grad.stride() == m.stride() == (1, 3)


def test_broadcasting_and_types_go_backwards():
    x, bias = torch.ones(2, 3, requires_grad=True), torch.ones(3, 1, requires_grad=True)
    wide = torch.ones(1, dtype=torch.float64, requires_grad=True)
    (x.t() * bias * wide).sum().backward()
    assert bias.grad.tolist() == [[2], [2], [2]] and wide.grad.dtype is torch.float64
    assert x.grad.dtype is torch.float32 and wide.grad.tolist() == [6]


def test_a_given_gradient_is_cast_to_the_tensors_type():
    for function in (lambda x: x * x, torch.compile(lambda x: x * x)):
        x = torch.tensor([2.0, 3.0], requires_grad=True)
        function(x).backward(torch.tensor([1.0, 1.0 + 1e-12], dtype=torch.float64))
        assert x.grad.dtype is torch.float32 and x.grad.tolist() == [4.0, 6.0]


def test_a_power_by_a_mask():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (x ** torch.tensor([True, False])).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def test_grad_returns_and_leaves_grad_alone():
    x, y = leaf(1, 2), leaf(3, 4)
    middle = x * y
    a, b = torch.autograd.grad((middle * middle).sum(), (x, middle))
    assert a.tolist() == [18, 64] and b.tolist() == [6, 16] and x.grad is None
    loss = (x * 2).sum()
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"
    ):
        torch.autograd.grad(loss, (x, y), retain_graph=True)
    assert torch.autograd.grad(loss, (x, y), allow_unused=True, retain_graph=True)[1] is None
    assert torch.autograd.grad(loss, (x, y), materialize_grads=True)[1].tolist() == [0, 0]


def test_backward_of_several_and_with_inputs():
    x, y = leaf(1, 2), leaf(3, 4)
    torch.autograd.backward([(x * 2).sum(), x * y], [None, torch.tensor([1.0, 10.0])], inputs=[x])
    assert x.grad.tolist() == [5, 42] and y.grad is None


def test_diamonds_and_multiple_use():
    x = leaf(2)
    a = x * 3
    b = a * a + a.relu() * x
    b.backward()
    assert x.grad.tolist() == [2 * 9 * 2 + 2 * 3 * 2]


def test_a_long_chain_does_not_recurse():
    x = leaf(1)
    y = x
    for _ in range(10_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y  # taking it apart must not recurse either


def test_names_and_next_functions():
    x = leaf(1, 2)
    y = (x * 2).relu()
    assert y.grad_fn.name() == "ReluBackward0" and repr(y.grad_fn).startswith(
        "<ReluBackward0 object at 0x"
    )
    ((mul, number),) = y.grad_fn.next_functions
    assert (mul.name(), number) == ("MulBackward0", 0)
    accumulate = mul.next_functions[0][0]
    assert accumulate.variable is x and accumulate.name() == "torch::autograd::AccumulateGrad"
    assert [t.grad_fn.name() for t in (x.sum(0), x.mean(), x**2, 2**x, x[0], x @ x)] == [
        "SumBackward1",
        "MeanBackward0",
        "PowBackward0",
        "PowBackward2",
        "SelectBackward0",
        "DotBackward0",
    ]


def test_only_what_a_rule_reads_is_saved():
    x, y = leaf(1, 2), torch.ones(2)
    big = x + 1
    memory = weakref.ref(big)
    total = big + y
    del big
    assert memory() is None, "add reads neither operand"
    factor = x + 1
    product = factor * y
    before = factor.untyped_storage()
    del factor
    product.sum().backward()
    assert x.grad.tolist() == [1, 1] and before.version == 0 and total.shape == (2,)


def test_memory_goes_without_the_collector():
    gc.disable()
    try:
        x = leaf(1, 2)
        y = (x * 2).exp().sin()
        view = y[0]
        view.mul_(3)
        loss = (y * y).sum()
        tensors = [weakref.ref(t) for t in (y, view, loss)]
        nodes = [weakref.ref(t.grad_fn) for t in (y, view, loss)]
        loss.backward()
        del y, view, loss
        assert [r() for r in tensors + nodes] == [None] * 6
    finally:
        gc.enable()


def test_retain_grad():
    x = leaf(1, 2)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6, 12] and y.retains_grad and not x.retains_grad
    with pytest.raises(
        RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"
    ):
        torch.ones(1).retain_grad()


def test_a_recorded_function():
    x, y = leaf(1, 2), torch.ones(2)
    seen = []

    def backward(*grads):
        seen.append([None if g is None else g.tolist() for g in grads])
        return grads[0] * 5, None

    first, second, count = torch.ones(2), torch.ones(3), torch.tensor(3)
    record("CompiledBackward", [x, y], [first, second, count], backward)
    assert first.grad_fn is second.grad_fn and (first.output_nr, second.output_nr) == (0, 1)
    assert count.grad_fn is None and second.requires_grad
    (first * 2).sum().backward()
    assert seen == [[[2, 2], None, None]] and x.grad.tolist() == [10, 10]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        first.sum().backward()
    with torch.no_grad():
        third = torch.ones(2)
        record("CompiledBackward", [x], [third], backward)
    assert third.grad_fn is None


def test_second_time():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    z = (x + 1).sum()
    z.backward()
    z.backward()  # saved nothing, so it can


def test_a_saved_tensor_that_was_written_is_found_out():
    x = leaf(1, 2)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(
        RuntimeError,
        match=(
            r"\[torch.FloatTensor \[2\]\], which is output 0 of MulBackward0, "
            "is at version 1; expected version 0"
        ),
    ):
        z.sum().backward()
    e = x.exp()
    e.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of ExpBackward0, is at version 1"):
        e.sum().backward()
    constant = torch.ones(2)
    product = x * constant
    constant[0] = 3
    with pytest.raises(
        RuntimeError, match=r"\[torch.FloatTensor \[2\]\] is at version 1; expected version 0"
    ):
        product.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda x: x.backward(),
            RuntimeError,
            "grad can be implicitly created only for scalar outputs",
        ),
        (
            lambda x: torch.ones(1).backward(),
            RuntimeError,
            "element 0 of tensors does not require grad and does not have",
        ),
        (
            lambda x: x.backward(torch.ones(3)),
            RuntimeError,
            "Mismatch in shape: grad_output[0] has a shape of torch.Size([3])",
        ),
        (
            lambda x: x.sum().backward(create_graph=True),
            RuntimeError,
            "create_graph=True asks for gradients of gradients",
        ),
        (
            lambda x: torch.autograd.grad(x.sum(), torch.ones(1)),
            RuntimeError,
            "does not require grad",
        ),
        (
            lambda x: torch.arange(2).requires_grad_(),
            RuntimeError,
            "only Tensors of floating point dtype can require",
        ),
        (
            lambda x: (x * 2).requires_grad_(False),
            RuntimeError,
            "you can only change requires_grad flags of leaf variables",
        ),
        (
            lambda x: (x // 2).sum().backward(),
            RuntimeError,
            "derivative for aten::floor_divide is not implemented",
        ),
        (
            lambda x: setattr(x, "grad", torch.ones(3)),
            RuntimeError,
            "attempting to assign a gradient of size '[3]'",
        ),
        (
            lambda x: setattr(x, "grad", torch.ones(2).double()),
            RuntimeError,
            "attempting to assign a gradient with dtype",
        ),
        (
            lambda x: setattr(x, "grad", 1),
            TypeError,
            "assigned grad expected to be a Tensor or None",
        ),
        (lambda x: x[0].detach_(), RuntimeError, "Can't detach views in-place"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error) as caught:
        call(leaf(1, 2))
    assert text in str(caught.value)


def test_results_that_have_no_gradient():
    x = leaf(1, 2)
    for y in (x > 1, x.long(), x.detach(), torch.zeros_like(x), torch.rand_like(x), (x == x).any()):
        assert not y.requires_grad and y.grad_fn is None
    assert x.requires_grad_(False) is x and not (x * 2).requires_grad


def test_a_fresh_gradient_is_taken_over_without_a_copy(monkeypatch):
    copies = []
    monkeypatch.setattr(autograd, "empty_like", lambda t: copies.append(t) or t.clone())
    (leaf(1, 2) * torch.ones(2)).backward(torch.ones(2))
    assert copies == []
    x, y = leaf(1, 2), leaf(3, 4)
    (x + y).backward(torch.ones(2))
    assert len(copies) == 2, "add hands the same gradient to both"


def test_a_view_requires_a_gradient_where_its_base_does() -> None:
    x = torch.ones(2)
    before = x.view(2, 1)
    x.requires_grad_()
    assert before.requires_grad and before.is_leaf
    before.requires_grad = False
    assert before.requires_grad
    compiled = torch.compile(lambda view: view[None] * 2, backend="aot_eager")
    assert compiled(before).requires_grad
    x.requires_grad_(False)
    assert not before.requires_grad and not compiled(before).requires_grad
