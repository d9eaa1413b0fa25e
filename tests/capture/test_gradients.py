"""`.grad` of tensors: read, set and forgotten within a region."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.exc import Unsupported

from .differential import strict


def leaf(grad=None):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = grad
    return x


def scaled(x):
    return x.grad * 2 if x.grad is not None else x.detach()


def test_a_gradient_is_an_input_and_whether_there_is_one_a_guard() -> None:
    counter = CompileCounter()
    compiled = torch.compile(scaled, backend=counter, fullgraph=True)
    for grad in (None, torch.ones(2), torch.tensor([3.0, 4.0]), None):
        x = leaf(grad)
        assert compiled(x).tolist() == scaled(x).tolist()
    assert counter.frame_count == 2


def test_it_is_the_very_tensor() -> None:
    compiled = torch.compile(lambda x: (x.grad, x.detach() + 1), backend="eager", fullgraph=True)
    for _ in range(2):
        x = leaf(torch.ones(2))
        assert compiled(x)[0] is x.grad
    made = torch.compile(lambda x: ((x * 2).grad, x * 2), backend="eager", fullgraph=True)
    assert made(leaf())[0] is None


def test_it_is_set_after_the_graph_and_seen_before() -> None:
    def accumulates(x, y):
        old = x.grad
        x.grad = y * 2
        total = x.grad + 1
        y.grad = None
        del y.grad
        return total, old, x.grad, y.grad

    compiled = torch.compile(accumulates, backend="eager", fullgraph=True)
    for function in (accumulates, compiled, compiled):
        x, y = leaf(torch.zeros(2)), torch.ones(2)
        before = x.grad
        with strict():
            total, old, new, none = function(x, y)
        assert old is before and new is x.grad and new.tolist() == [2.0, 2.0]
        assert total.tolist() == [3.0, 3.0] and none is y.grad is None


def test_a_gradient_that_does_not_fit_is_refused_by_the_tensor() -> None:
    def wrong(x):
        x.grad = x.detach()[:1]
        return x + 1

    compiled = torch.compile(wrong, backend="eager")
    for function in (wrong, compiled):
        with pytest.raises(RuntimeError, match="assigned grad|size"):
            function(leaf())
    with pytest.raises(Unsupported, match="the grad of a tensor"):
        torch.compile(wrong, backend="eager", fullgraph=True)(leaf())
