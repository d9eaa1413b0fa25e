"""Operators that a program adds: eager, captured, differentiated, fused, and defined anew."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import labcore as torch
from labcore import library, trace

one = library.primitives
pytestmark = pytest.mark.usefixtures("tables_as_before")


def squareplus():
    @library.operator
    def squareplus(x, b=4.0):
        return (x + torch.sqrt(x * x + b)) / 2

    return squareplus


def distance():
    return library.pointwise(
        "distance",
        lambda a, b: np.abs(a - b),
        lambda a, b: one.abs(one.sub(a, b)),
        "same",
        input=lambda grad, input, other: grad * (input - other).sign(),
        other=lambda grad, input, other: grad * (other - input).sign(),
    )


def kernels(function, *args):
    with trace.record() as story:
        found = torch.compile(function, fullgraph=True)(*args)
    torch.testing.assert_close(found, function(*args))
    text = story.text("output_code")
    return text.count("@kernel\n"), text.count(" = ops.")


def test_a_function_is_an_operator():
    op, x = squareplus(), torch.randn(3, 4)
    wanted = (x + torch.sqrt(x * x + 4.0)) / 2
    torch.testing.assert_close(op(x), wanted)
    torch.testing.assert_close(op(x, b=1.0), (x + torch.sqrt(x * x + 1.0)) / 2)
    assert torch.ops.squareplus is op
    assert kernels(lambda x: torch.relu(op(x * 2, 1.0)).sum(1), x) == (1, 0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_it_is_differentiated(backend):
    op = squareplus()
    compiled = torch.compile(lambda x: (op(x) * x).sum(), backend=backend)
    for step in ("its parts'", "its own"):
        grads = []
        for function in (lambda x: (op(x) * x).sum(), compiled):
            x = torch.linspace(-2, 2, 5, requires_grad=True)
            function(x).backward()
            grads.append(x.grad)
        torch.testing.assert_close(*grads)
        if step == "its parts'":
            by_parts = grads[0]
            library.derivative(op, x=lambda grad, x, b: grad * (1 + x / (x * x + b).sqrt()) / 2)
            torch.compiler.reset()
    torch.testing.assert_close(grads[0], by_parts)


def test_a_rule_is_believed():
    op = squareplus()
    library.derivative(op, x=lambda grad, out, x_meta: grad * out * x_meta.shape[0])
    for function in (op, torch.compile(lambda x: op(x))):
        x = torch.ones(3, requires_grad=True)
        function(x).sum().backward()
        torch.testing.assert_close(x.grad, op(torch.ones(3)) * 3)


def test_a_primitive():
    op = distance()
    x, y = torch.randn(3, 4), torch.randn(4)
    torch.testing.assert_close(op(x, y), (x - y).abs())
    assert op(torch.tensor([1, 5]), 3).tolist() == [2, 2]
    assert kernels(lambda x, y: torch.exp(op(x, y)) + 1, x, y) == (1, 0)
    x, y = torch.tensor([1.0, 5.0], requires_grad=True), torch.tensor(3.0, requires_grad=True)
    torch.compile(lambda x, y: op(x, y).sum())(x, y).backward()
    assert x.grad.tolist() == [-1, 1] and y.grad.item() == 0


def test_defined_anew_it_takes_the_old_ones_place():
    op, x = squareplus(), torch.ones(3)
    compiled = torch.compile(lambda x: op(x) * 1)
    assert compiled(x).tolist() != [10, 10, 10]

    def anew(x):
        return x * 10

    anew.__name__ = "squareplus"
    op = library.operator(anew)
    assert torch.ops.squareplus is op
    assert compiled(x).tolist() == op(x).tolist() == [10, 10, 10]


def test_a_name_of_the_labs_own_is_refused():
    def relu(x):
        return x

    with pytest.raises(ValueError, match="has an operator relu already"):
        library.operator(relu)


def test_it_sees_no_values():
    @library.operator
    def branching(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(TypeError, match=r"sees shapes and types, no values: use torch\.where"):
        branching(torch.ones(3))


def _rule(scale, grad, x):
    return grad * scale * torch.sigmoid(x)


class Rule:
    def __call__(self, grad, x):
        return grad * 2.0 * torch.sigmoid(x)


def _wrapped(function):
    @functools.wraps(function)
    def called(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return called


@pytest.mark.parametrize(
    "rule",
    [
        functools.partial(_rule, 2.0),
        Rule(),
        Rule().__call__,
        _wrapped(lambda grad, x: grad * torch.sigmoid(x)),
    ],
    ids=["partial", "object", "method", "wrapped"],
)
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_derivative_is_whatever_can_be_called(rule, backend):
    @library.operator
    def smooth(x):
        return torch.log1p(torch.exp(x))

    library.derivative(smooth, x=rule)
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    torch.compile(lambda x: smooth(x), backend=backend)(x).sum().backward()
    assert torch.allclose(x.grad, 2.0 * torch.sigmoid(x.detach()))
