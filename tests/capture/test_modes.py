"""Grad mode switched within a call: what is recorded is what eager records, on every backend."""

from __future__ import annotations

import contextlib

import pytest

import labcore as torch
from labcore.compiler import disable
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import strict

LOG = []


@disable
def observe(x):
    LOG.append((torch.is_grad_enabled(), x.requires_grad))


@torch.no_grad()
def unrecorded(x):
    return x * 3


def block(x, w):
    with torch.no_grad():
        y = (x * w).relu()
    return y * w + y


def nested(x, w):
    with torch.no_grad():
        y = x * w
        with torch.enable_grad():
            inside = torch.is_grad_enabled()
    with torch.set_grad_enabled(not inside), contextlib.nullcontext():
        z = y + w
    return (y + z) * w * inside


def decorated(x, w):
    return unrecorded(x * w) + w


def break_inside(x, w):
    with torch.no_grad():
        y = x * w
        observe(y)
        y = y * w
    observe(y * w)
    return y * w


def leaves_by_error(x, w):
    try:
        with torch.no_grad():
            y = x * w
            raise ValueError
    except ValueError:
        return y * w, torch.is_grad_enabled()


def returns_inside(x, w):
    for _ in range(2):
        with torch.no_grad():
            y = x * w
            return y, y.requires_grad


def switched(x, w):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    y = x * w
    torch.set_grad_enabled(before)
    return y * w


def switched_around_a_break(x, w):
    torch.set_grad_enabled(False)
    y = x * w
    observe(y)
    z = y * w
    torch.set_grad_enabled(True)
    return z + w * y


def handed_out(x, w):
    block = torch.no_grad()
    with block:
        y = x * w
    return y + w, type(block).__name__, torch.is_grad_enabled()


def views(x, w):
    with torch.no_grad():
        first = w[0]
    return x * first


def written(x, w):
    v = w * 1
    with torch.no_grad():
        w.mul_(2)
        x.add_(w)
    return (v + w) * x


CASES = [
    (written, 1),
    (block, 1),
    (nested, 1),
    (decorated, 1),
    (break_inside, 3),
    (leaves_by_error, 1),
    (returns_inside, 1),
    (switched, 1),
    (switched_around_a_break, 3),
    (handed_out, 1),
    (views, 1),
]


def told(function):
    """Values, what is recorded, gradients, what was observed, and the mode afterwards."""
    LOG.clear()
    x = torch.tensor([1.0, -2.0])
    w = torch.tensor([3.0, 0.5], requires_grad=True)
    result = function(x, w)
    y = result[0] if isinstance(result, tuple) else result
    rest = result[1:] if isinstance(result, tuple) else ()
    if y.requires_grad:
        y.sum().backward()
    grad = None if w.grad is None else w.grad.tolist()
    return y.tolist(), y.requires_grad, rest, grad, list(LOG), torch.is_grad_enabled()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize(("function", "graphs"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_what_is_recorded(function, graphs, backend):
    expected = told(function)
    compiled = torch.compile(function, backend=backend)
    with strict():
        assert told(compiled) == expected
        assert told(compiled) == expected
    counter = CompileCounter()
    told(torch.compile(function, backend=counter))
    assert counter.frame_count == graphs


def test_the_mode_of_the_call_is_guarded():
    compiled = torch.compile(block, backend="eager")
    for _ in range(2):
        assert told(compiled) == told(block)
        with torch.no_grad():
            assert told(compiled) == told(block)


def test_a_function_that_switches_the_mode_for_its_caller():
    def off(x):
        torch.set_grad_enabled(False)
        return x * 2

    compiled = torch.compile(off, backend="eager")
    for _ in range(2):
        with torch.enable_grad():
            assert not compiled(torch.ones(2, requires_grad=True)).requires_grad
            assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
