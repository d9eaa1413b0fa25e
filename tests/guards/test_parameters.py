"""Tensors that are attributes become one tensor after a variant was made: it is used again only
where nobody can tell."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.trace import CacheMiss, record


class Pair:
    """Two parameters, which may be one."""

    def __init__(self, shared, requires_grad=False):
        self.a = torch.tensor([1.0, 2.0], requires_grad=requires_grad)
        self.b = self.a if shared else torch.tensor([1.0, 2.0], requires_grad=requires_grad)
        self.inner = {"b": self.b}


def reads(m, x):
    return x * m.a + m.inner["b"]


def returns(m, x):
    return m.a, m.b, m.b[0], x + m.a


def writes_one(m, x):
    m.a.add_(1)
    return x * m.b


def writes_a_view(m, x):
    m.b[0].mul_(5)
    return m.a + x


def are_keys(m, x):
    return {m.a: x + 1, m.b: x + 2}[m.a]


def are_elements(m, x):
    return x * len({m.a, m.b})


def have_ids(m, x):
    seen = {id(m.a): 1}
    return x * seen.get(id(m.b), 7)


def compares_ids(m, x):
    return x * 2 if id(m.a) == id(m.b) else x * 3


def compares(m, x):
    return x * 2 if m.a is m.b else x * 3


def compares_after_a_look(m, x):
    y = m.a + m.b
    return y * 2 if m.b is not m.a else y


def looks_for(m, x):
    return x + [m.a, m.b].index(m.a)


def clears_a_gradient(m, x):
    m.a.grad = None
    return x if m.b.grad is None else x + m.b.grad


def reads_gradients(m, x):
    return x + m.a.grad + m.b.grad


READ_ONLY = [reads, returns, looks_for, reads_gradients]
TOLD = [
    writes_one, writes_a_view, are_keys, are_elements, have_ids, compares_ids, compares,
    compares_after_a_look, clears_a_gradient,
]


def state(m, given):
    """What can be seen afterwards: values, and which tensors are one."""
    given = given if isinstance(given, tuple) else (given,)
    grads = [None if t.grad is None else t.grad.tolist() for t in (m.a, m.b)]
    own = [[t is m.a, t is m.b] for t in given]
    return [t.tolist() for t in (*given, m.a, m.b)], grads, own


def called(function, shared):
    m = Pair(shared)
    m.a.grad = torch.ones(2)
    m.b.grad = torch.ones(2)
    return state(m, function(m, torch.ones(2)))


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize("order", [(False, True), (True, False)])
@pytest.mark.parametrize("function", READ_ONLY + TOLD)
def test_two_parameters_become_one(function, order, backend):
    compiled = torch.compile(function, backend=backend)
    for shared in (*order, *order):
        assert called(compiled, shared) == called(function, shared)


@pytest.mark.parametrize("function", READ_ONLY + TOLD)
def test_only_a_program_that_can_tell_is_captured_again(function):
    compiled = torch.compile(function, backend="eager")
    called(compiled, False)
    with record() as trace:
        called(compiled, True)
    assert bool(trace.of(CacheMiss)) == (function in TOLD)


def test_gradients_of_two_that_became_one():
    def loss(m, x):
        return (x * m.a * m.b + m.b).sum()

    def gradients(function, shared):
        m = Pair(shared, requires_grad=True)
        function(m, torch.tensor([3.0, 4.0])).backward()
        return m.a.grad.tolist(), m.b.grad.tolist()

    compiled = torch.compile(loss)
    with record() as trace:
        for shared in (False, True, False):
            assert gradients(compiled, shared) == gradients(loss, shared)
    assert len(trace.of(CacheMiss)) == 1  # the first call's


def test_what_a_call_brings_is_guarded_as_in_pytorch():
    compiled = torch.compile(lambda m, x, y: m.a * x + y, backend="eager")
    x, y, m = torch.ones(2), torch.ones(2), Pair(False)
    compiled(m, x, y)
    with record() as trace:
        compiled(m, m.a, y)
        assert not trace.of(CacheMiss)
        compiled(m, x, x)
    reasons = [reason for miss in trace.of(CacheMiss) for reason in miss.reasons]
    assert [reason.split(": ", 1)[1] for reason in reasons] == [
        "x, y: one tensor is passed more than once"
    ]
