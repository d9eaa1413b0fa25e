"""A tensor's layout: one object for all that have the same one, and another when that changes."""

from __future__ import annotations

import copy

import pytest

import labcore as torch
from labcore.nn import Parameter


def test_what_is_alike_has_one_layout():
    a, b = torch.ones(2, 3), torch.zeros(2, 3)
    assert a._layout is b._layout is a.clone()._layout
    assert a.t()._layout is not torch.ones(3, 2)._layout  # strides
    assert torch.ones(2, 3, dtype=torch.float64)._layout is not a._layout


def test_a_gradient_is_part_of_it():
    plain, leaf = torch.ones(2), torch.ones(2, requires_grad=True)
    assert leaf._layout is not plain._layout and leaf._layout.requires_grad
    assert (leaf * 2)._layout is leaf._layout is leaf[:]._layout
    assert leaf.detach()._layout is plain._layout
    with torch.no_grad():
        assert (leaf * 2)._layout is plain._layout


@pytest.mark.parametrize("change", [
    lambda t: t.requires_grad_(),
    lambda t: setattr(t, "requires_grad", True),
    lambda t: setattr(t, "data", torch.ones(3)),
    lambda t: setattr(t, "data", torch.ones(2, dtype=torch.float64)),
    lambda t: setattr(t, "data", torch.ones(4)[::2]),
    lambda t: t.mul_(torch.ones(2, requires_grad=True)),
    lambda t: torch._dynamo.mark_dynamic(t, 0),
])  # fmt: skip
def test_what_changes_a_tensor_changes_its_layout(change):
    t, compiled = torch.ones(2), torch.compile(lambda t: t.requires_grad, backend="eager")
    before = t._layout
    assert compiled(t) is False
    change(t)
    assert t._layout is not before
    assert compiled(t) is t.requires_grad


def test_other_data_keeps_what_the_tensor_said_of_gradients():
    leaf = torch.ones(2, requires_grad=True)
    leaf.data = torch.ones(3)
    assert leaf.requires_grad and leaf._layout is torch.zeros(3, requires_grad=True)._layout
    leaf.requires_grad_(False)
    assert leaf._layout is torch.zeros(3)._layout


def test_copies_and_parameters_say_the_same():
    leaf = torch.ones(2, requires_grad=True)
    for twin in (copy.copy(leaf), copy.deepcopy(leaf), Parameter(torch.ones(2))):
        assert twin._layout is leaf._layout
    assert (leaf * 2).detach_()._layout is torch.ones(2)._layout


def test_views_follow_their_base():
    base = torch.ones(2)
    view = base[:1]
    before = view._layout
    base.requires_grad_()
    assert view.requires_grad and view._layout is not before
