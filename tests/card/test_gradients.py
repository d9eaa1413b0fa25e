"""The gradient of every operator on its samples: on a card it is what it is on the host, and lies
where its tensor does; eagerly and compiled."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import devices
from tests.ops.samples import CASES
from tests.ops.test_samples import DRAWN, IDS, OF_CAPTURE, Call, weights

from .cards import KINDS, card_of

ELSEWHERE = DRAWN | OF_CAPTURE | {"_to_device"}


@pytest.fixture(params=KINDS[1:], autouse=True)
def card(request, monkeypatch, tmp_path):
    with card_of(request.param, monkeypatch, tmp_path / "cache"):
        yield request.param


def on_card(value, moved):
    """The same on the card; `moved` is told of each tensor's twin, by its id."""
    if isinstance(value, torch.Tensor):
        twin = value.detach().cuda().requires_grad_(value.requires_grad)
        return moved.setdefault(id(value), twin)
    if isinstance(value, (list, tuple)):
        return type(value)([on_card(v, moved) for v in value])
    return value


def recorded(result):
    """The first tensor of a result that has a history."""
    every = result if isinstance(result, (list, tuple)) else [result]
    return next((t for t in every if isinstance(t, torch.Tensor) and t.requires_grad), None)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_sample(case):
    call, moved = Call(case), {}
    out = recorded(call()) if case[0] not in ELSEWHERE else None
    if out is None:
        pytest.skip("has no gradient, or is for another device or capture alone")
    want = torch.autograd.grad(out, call.leaves, weights(out), allow_unused=True)
    call.args = [on_card(a, moved) for a in call.args]
    call.kwargs = {key: on_card(value, moved) for key, value in call.kwargs.items()}
    leaves = [moved[id(leaf)] for leaf in call.leaves]
    for run in (call.op, torch.compile(lambda *args, **kwargs: call.op(*args, **kwargs))):
        out = recorded(run(*call.args, **call.kwargs))
        assert out is not None
        found = torch.autograd.grad(out, leaves, weights(out.cpu()).cuda(), allow_unused=True)
        for ours, theirs in zip(found, want, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert ours.device is devices.cuda
                torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-4, atol=1e-4)
