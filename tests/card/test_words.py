"""Words of several elements on a card: a view that begins in the middle of one is not read by them,
and nothing else is read either."""

from __future__ import annotations

from math import prod

import pytest

import labcore as torch

from .cards import KINDS, card_of


@pytest.fixture(params=KINDS[1:], autouse=True)
def card(request, monkeypatch, tmp_path):
    with card_of(request.param, monkeypatch, tmp_path / "cache"):
        yield request.param


def chain(x, b):
    return torch.relu(x + b) * 2


def softmax(x, b):
    return torch.softmax(x + b, -1)


def backward(x, b):
    """Numbers of each row, and sums of the columns."""
    normal = x - x.mean(-1, True)
    return normal * b, (normal * b).sum(0), b.sum(0)


def listed(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("first", [0, 1, 2, 3])
@pytest.mark.parametrize(("function", "shape", "dtype", "rtol", "atol"), [
    (chain, (4000,), torch.float16, 0, 0),
    (chain, (4001,), torch.bfloat16, 0, 0),
    (chain, (9, 700), torch.float16, 0, 0),
    (softmax, (5, 1024), torch.float32, 1e-5, 1e-7),
    (softmax, (5, 512), torch.bfloat16, 1e-2, 1e-5),
    (backward, (40, 256), torch.float32, 1e-5, 1e-4),  # sums of numbers of both signs
    (backward, (300, 1024), torch.float32, 1e-5, 1e-4),
])
def test_a_view_may_begin_anywhere(function, shape, dtype, rtol, atol, first):
    torch.manual_seed(0)
    count = prod(shape)
    whole = [torch.randn(count + 8).to(dtype) for _ in range(2)]
    views = [lambda t: t[first:first + count].view(*shape), lambda t: t[:count].view(*shape)]
    want = listed(function(*[view(t) for view, t in zip(views, whole)]))
    found = listed(torch.compile(function)(*[view(t.cuda()) for view, t in zip(views, whole)]))
    for ours, theirs in zip(found, want, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, rtol=rtol, atol=atol)
