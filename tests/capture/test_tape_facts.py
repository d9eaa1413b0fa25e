"""What a program asks a tensor about the tape, and tells it."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler import compile as lab_compile
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from .differential import strict


def leaf(gradient=False):
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    if gradient:
        x.grad = torch.tensor([0.5, 1.0, 2.0])
    return x


def reads_grad(x):
    z = x * 2
    return z if x.grad is None else z + x.grad


def asks_for_leaves(x):
    z = x * 2
    return z.is_leaf, x.is_leaf, z.detach().is_leaf, x[0].is_leaf, (z > 0).is_leaf, z.grad, z


def written_leaf(x):
    z = x.detach() * 1
    before = z.is_leaf, z.requires_grad
    z.mul_(x)
    return before, z.is_leaf, z.requires_grad, z[0].requires_grad, z


def reads_data(x):
    d = x.data
    with torch.no_grad():
        x.mul_(2)
    return d, d * 2, d[1:], d.is_leaf


def forgets_grad(x):
    before = x.grad
    x.grad = None
    after = x.grad is None
    del x.grad
    return after, before, x * 2


def sets_grad(x):
    x.grad = x.detach() * 3
    return x.grad, x.grad + 1


def changes_grad(x):
    if x.grad is not None:
        x.grad.mul_(2)
    return x.grad


def descends(x):
    with torch.no_grad():
        if x.grad is not None:
            x.sub_(x.grad * 0.5)
            x.grad.zero_()
    return x


def requires_again(x):
    x.requires_grad_()
    x.requires_grad = True
    y = (x * 2).requires_grad_(True)
    d = x.detach().requires_grad_(requires_grad=False)
    return y, d + y


def decorates(x):
    @torch.no_grad()
    def unrecorded(y):
        return y * 3

    return unrecorded(x) + x


PROGRAMS = [
    reads_grad, asks_for_leaves, written_leaf, reads_data, forgets_grad, sets_grad, changes_grad,
    descends, requires_again, decorates,
]  # fmt: skip


def told(value):
    if isinstance(value, torch.Tensor):
        base = value._base is None
        return value.tolist(), value.requires_grad, value.is_leaf, base, value._version
    return [told(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_like_eager(program, backend):
    counter = CompileCounter()
    compiled = lab_compile(program, backend=counter if backend == "eager" else backend)
    for gradient in (False, True, True):
        seen = []
        with strict(), record() as trace:
            for run in (program, compiled):
                x = leaf(gradient)
                grad = x.grad
                result = run(x)
                seen.append((told(result), told(x), told(x.grad), x.grad is grad))
        assert seen[0] == seen[1]
        assert not trace.of(GraphBreak)
    if backend == "eager":
        assert counter.frame_count <= 2


def test_what_only_the_tape_can_do():
    for change in (lambda x: x.requires_grad_(False), lambda x: x.detach_()):
        counter = CompileCounter()
        with record() as trace:
            x = leaf()
            y = lab_compile(lambda x: (change(x), x * 2)[1], backend=counter)(x)
        assert not y.requires_grad and not x.requires_grad
        assert {stop.break_id for stop in trace.of(GraphBreak)} == {"autograd-call"}


def test_a_gradient_that_does_not_fit_is_refused_as_eagerly():
    def wrong(x):
        x.grad = x.sum()

    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        lab_compile(wrong, backend="eager")(leaf())


def test_a_view_made_unrecorded_requires_grad_where_the_base_of_its_input_does():
    def unrecorded(x):
        with torch.no_grad():
            part = x[1:]
        return x * 2 if part.requires_grad else x * 3

    compiled = torch.compile(unrecorded, backend="eager")
    leaf, view_that_is_leaf = torch.ones(3, requires_grad=True), torch.ones(4)[1:].requires_grad_()
    for x, factor in ((leaf, 2), (view_that_is_leaf, 3), (leaf, 2), (torch.ones(3), 3)):
        assert compiled(x).tolist() == unrecorded(x).tolist() == [factor] * 3


class Thrice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 0.5

    @staticmethod
    def backward(ctx, g):
        return g * 3


@pytest.mark.parametrize("asked", [
    lambda y: y * (2 if y.requires_grad else 3),
    lambda y: y * (2 if y.is_leaf else 3),
    Thrice.apply,
])
def test_an_input_that_lies_in_what_was_written_has_its_history(asked):
    def written(x, y, k):
        x.mul_(k)
        return asked(y)

    def run(function):
        base, k = torch.ones(4, 3), torch.tensor(2.0, requires_grad=True)
        result = function(base.view(-1)[2:], base[:2].view(-1), k)
        result.sum().backward()
        return result.tolist(), result.requires_grad, result.is_leaf, k.grad.item()

    compiled = torch.compile(written, backend="eager")
    assert run(compiled) == run(compiled) == run(written)
