"""Inputs that are views of one tensor, where sizes are symbols and one of them is written."""

from __future__ import annotations

from itertools import cycle

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

VIEWS = {
    "transposed": lambda x: x.t(),
    "row": lambda x: x[0],
    "last row": lambda x: x[-1],
    "tail": lambda x: x[1:],
    "head": lambda x: x[:-1],
    "two": lambda x: x[:2],
    "steps": lambda x: x[::2],
    "column": lambda x: x[:, 1],
    "flat": lambda x: x.view(-1),
    "folded": lambda x: x.view(-1, 1, 3),
    "unsqueezed": lambda x: x.unsqueeze(0),
    "whole": lambda x: x[:],
    "detached": lambda x: x.detach(),
    "view of a view": lambda x: x[1:].t()[:2],
    "apart": lambda x: torch.ones(x.shape[0], 3),
    "the same": lambda x: x,
}


def writes_the_base(x, y):
    x.add_(1)
    return y * 2


def writes_the_view(x, y):
    y.mul_(3)
    return x + 1, y.sum()


def writes_both(x, y):
    y.add_(x.sum())
    x[1:].mul_(2)
    return y - 1, y.shape[0] * x.shape[0]


def writes_under_a_size(x, y):
    if y.numel() > 10:
        y.zero_()
    return x * y.shape[-1]


def returns_the_view(x, y):
    x.mul_(2)
    return y, x, y[:1]


PROGRAMS = [writes_the_base, writes_the_view, writes_both, writes_under_a_size, returns_the_view]
SIZES = (4, 5, 6, 2, 7, 4, 3, 8)


def seen(function, size, view):
    x = torch.arange(size * 3).reshape(size, 3) * 1.0
    y = view(x)
    given = function(x, y)
    given = given if isinstance(given, tuple) else (given,)
    values = [each.tolist() if isinstance(each, torch.Tensor) else each for each in given]
    return values, [each is x or each is y for each in given], x.tolist(), y.tolist()


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_as_eager_at_every_size(function, view, dynamic):
    compiled = torch.compile(function, backend="aot_eager", dynamic=dynamic)
    for size in SIZES:
        assert seen(compiled, size, VIEWS[view]) == seen(function, size, VIEWS[view])


@pytest.mark.parametrize("function", PROGRAMS)
def test_other_views_at_other_sizes(function):
    compiled = torch.compile(function, backend="eager", dynamic=True)
    views = cycle(VIEWS.values())
    for size in SIZES * 6:
        view = next(views)
        assert seen(compiled, size, view) == seen(function, size, view)


@pytest.mark.parametrize("view", ["tail", "transposed", "detached"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_in_kernels(function, view):
    compiled = torch.compile(function)
    for size in SIZES:
        assert seen(compiled, size, VIEWS[view]) == seen(function, size, VIEWS[view])


@pytest.mark.parametrize("view", ["transposed", "row", "tail", "two", "flat", "detached"])
def test_two_variants_serve_all_sizes(view):
    counter, counts = CompileCounter(), []
    compiled = torch.compile(writes_the_base, backend=counter, fullgraph=True)
    for size in (4, 5, 6, 7, 4):
        seen(compiled, size, VIEWS[view])
        counts.append(counter.frame_count)
    assert counts == [1, 2, 2, 2, 2]


def test_gradients_at_every_size():
    def loss(x, y, w):
        x.mul_(w)
        return (y * y).sum()

    def gradients(function, size):
        x, w = torch.ones(size, 3), torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        function(x, x[1:], w).backward()
        return w.grad.tolist(), x.tolist()

    compiled = torch.compile(loss)
    for size in SIZES:
        assert gradients(compiled, size) == gradients(loss, size)


def test_a_view_with_another_end_is_another_view():
    compiled = torch.compile(writes_the_base, backend="eager")
    for size in SIZES:
        for end in (1, 2, size - 1):
            view = lambda x, end=end: x[:end]
            assert seen(compiled, size, view) == seen(writes_the_base, size, view)
