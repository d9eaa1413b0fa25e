"""Gradients: of every operator, at kinks and edges, and how the tape behaves."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import check, pair

NUMBERS = [-2.0, -0.5, 0.0, 0.5, 1.0, 2.0]
POSITIVE = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0]
GRID = np.array(NUMBERS).reshape(2, 3)


def gradients(m, result, *leaves):
    """Result, and gradients of the leaves from an uneven gradient of the result."""
    weights = m.arange(1, result.numel() + 1).to(result.dtype).reshape(result.shape)
    result.backward(weights)
    return (result.detach(), *[leaf.grad for leaf in leaves])


UNARY = ["relu", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "erf", "tanh", "sigmoid", "abs",
         "neg", "sign", "reciprocal", "square"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "remainder"]
OTHERS = {"row": [1.0, 0.5, 2.0], "column": [[1.0], [-0.5]], "0-d": 1.5, "zeros": [0.0, 0.5, 0.0]}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("values", [NUMBERS, POSITIVE], ids=["with zero", "positive"])
def test_unary(name: str, values: list) -> None:
    check(lambda m, x: gradients(m, getattr(m, name)(x), x), pair(values, "float32", True), ulps=16)
    check(lambda m, x: gradients(m, getattr(m, name)(x), x), pair(values, "float64", True), ulps=16)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("other", OTHERS)
def test_binary(name: str, other: str) -> None:
    first = pair(np.abs(GRID) if name == "pow" else GRID, "float32", True)
    second = pair(OTHERS[other], "float32", True)
    check(lambda m, x, y: gradients(m, getattr(m, name)(x, y), x, y), first, second, ulps=32)


@pytest.mark.parametrize("text", [
    "x * 2", "2 - x", "x / 4", "4 / x", "x ** 2", "x ** 3", "x ** 0.5", "x ** 0", "2 ** x",
    "x ** -1", "1 + x", "x % 2", "-x", "m.add(x, x, alpha=3)", "m.sub(x, x, alpha=0.5)",
    "m.clamp(x, 0, 1)", "m.clamp(x, -0.5, None)", "m.clamp(x, max=0.5)", "m.where(x > 0, x, 0.0)",
    "m.where(x > 0, 1.0, x)", "m.where(x > 0, x, x * x)", "x.to(m.float64)", "x.clone()", "abs(x)",
    "x.sum()", "x.sum(0)", "x.sum(1, keepdim=True)", "x.sum((0, 1))", "x.mean()", "x.mean(0)",
    "x.mean(-1, True)", "x.amax()", "x.amax(0)", "x.amin(1)", "(x * 0).amax()", "(x * 0).amin(1)",
    "x.sum(dtype=m.float64)", "x.view(3, 2)", "x.reshape(-1)", "x.t()",
    "x.transpose(0, 1).reshape(6)", "x.permute(1, 0)", "x.unsqueeze(1)", "x[:1].squeeze(0)",
    "x[:1].expand(4, 3)", "x[0]", "x[:, 1]", "x[:, ::2]", "x[1, 2]", "x.flatten()", "x[None]",
    "x.contiguous()", "x.t().contiguous()", "x @ x.t()", "x @ x[0]", "x[0] @ x.t()", "x[0] @ x[1]",
    "x.t() @ x", "x[None] @ x.t()[None]", "m.cat([x, x * 2])", "m.cat([x, x], 1)",
    "m.stack([x, x * 3], 1)", "x.expand(2, 2, 3)", "x[0] + x", "x * x[:, :1]",
    "m.cat([x[0], x[1, :1]])", "x.double() * x", "x.detach() * x", "x.exp().log()", "m.relu(x) * 2",
    "x.view(6)[1:5:2]", "x * m.ones(2, 1, 3)", "x.sum() * x", "(x * x).sum(0, keepdim=True) * x",
])
def test_expressions(text: str) -> None:
    program = eval(f"lambda m, x: gradients(m, {text}, x)", {"gradients": gradients})
    check(program, pair(GRID, "float32", True), ulps=32)


def test_the_strides_of_a_gradient() -> None:
    check(lambda m, x: gradients(m, x.t() * 2, x), pair(GRID, "float32", True))
    check(lambda m, x: gradients(m, x.sum(), x), pair(GRID, "float32", True))
    check(lambda m, x: gradients(m, x * 2, x), pair(GRID, "float32", True, stride=(1, 2)))
    check(lambda m, x: gradients(m, x.t().contiguous(), x), pair(GRID, "float32", True))


# ---- the tape -----------------------------------------------------------------------------------

def test_gradients_add_up() -> None:
    def program(m, x):
        (x * 2).sum().backward()
        first = x.grad
        (x * x).sum().backward()
        return x.grad, x.grad is first

    check(program, pair(NUMBERS, "float32", True))


def test_gradients_of_two_leaves_share_no_memory() -> None:
    def program(m, x, y):
        (x + y).backward(m.ones(6))
        return x.grad is y.grad, x.grad.data_ptr() == y.grad.data_ptr()

    check(program, pair(NUMBERS, "float32", True), pair(NUMBERS, "float32", True))


@pytest.mark.parametrize("text", [
    "(x * x).backward()", "x.detach().sum().backward()", "(x * x).sum().backward(m.ones(2))",
    "x.sum().backward(3)",
    "[(y.backward(), y.backward()) for y in [(x * x).sum()]]",
    "x.add_(1)", "x[0].add_(1)", "x.numpy()", "m.tensor([1], requires_grad=True)",
    "m.arange(3).requires_grad_()", "m.autograd.grad((x * 2).sum(), m.ones(2, requires_grad=True))",
    "m.autograd.grad(x.sum(), m.ones(2))", "m.cat([x, x]).requires_grad_(False)",
    "[y.exp_() for y in [x * 2]][0].backward(x)",
])
def test_refusals(text: str) -> None:
    check(eval(f"lambda m, x: {text}"), pair(NUMBERS, "float32", True))


@pytest.mark.parametrize("text", [
    "y = x * x; z = y * y; y.add_(1); z.sum().backward()",
    "y = x.exp(); y.mul_(2); y.sum().backward()",
    "y = x.relu(); y.add_(1); y.sum().backward()",
    "y = x * 2; z = y * c; c.add_(1); z.sum().backward()",
    "y = x * 2; z = y.tanh(); v = z.view(6); v.zero_(); z.sum().backward()",
])
def test_writes_to_saved_values_are_noticed(text: str) -> None:
    def program(m, x, c):
        exec(text, {"x": x, "m": m, "c": c})
        return x.grad

    check(program, pair(NUMBERS, "float32", True), pair(NUMBERS, "float32"))


@pytest.mark.parametrize("text", [
    "y = x * 2; y.add_(1); y.mul_(y); y.sum().backward()",
    "y = x * 2; y[0] = 0; (y * y).sum().backward()",
    "y = x * 2; v = y.view(2, 3); y.mul_(3); (v * v).sum().backward()",
    "y = x * 2; v = y.view(2, 3); v[0].mul_(3); (y * y).sum().backward()",
    "y = m.zeros(6); y.copy_(x); y[1:].mul_(x[:-1]); (y * y).sum().backward()",
    "y = x * 1; y.relu_(); y.pow_(2); y.sum().backward()",
    "y = x.clone(); a, b = y[:3], y[3:]; a.add_(b); b.mul_(2); (y * y).sum().backward()",
    "y = x * 1\nwith m.no_grad(): y.add_(1)\n(y * y).sum().backward()",
    "y = x.detach(); z = x * x; (z + y).sum().backward()",
    "y = x.expand(2, 6).clone(); y[0].zero_(); y.sum().backward()",
])
def test_in_place_and_gradients(text: str) -> None:
    def program(m, x):
        exec(text, {"x": x, "m": m})
        return x.grad

    check(program, pair(NUMBERS, "float32", True), ulps=16)


@pytest.mark.parametrize("text", [
    "x.requires_grad, x.is_leaf, x.grad is None", "(x * 2).requires_grad, (x * 2).is_leaf",
    "(x > 0).requires_grad", "x.detach().requires_grad", "(x * 2).grad_fn.name()",
    "x.relu().grad_fn.name()", "(x + 1).grad_fn.name()", "x.sum().grad_fn.name()",
    "x.sum(0).grad_fn.name()", "x.view(2, 3).grad_fn.name()", "x[0].grad_fn.name()",
    "x[1:].grad_fn.name()", "x.exp().grad_fn.name()", "(x / 2).grad_fn.name()",
    "(x ** 2).grad_fn.name()", "m.where(x > 0, x, 0.0).grad_fn.name()", "x.mean().grad_fn.name()",
    "m.cat([x, x]).grad_fn.name()", "(x @ x).grad_fn.name()", "x.reshape(3, 2).grad_fn.name()",
    "(-x).grad_fn.name()", "(x - x).grad_fn.name()", "x.clone().grad_fn.name()",
    "x.expand(2, 6).grad_fn.name()", "x.to(m.float64).grad_fn.name()",
    "m.stack([x]).grad_fn.name()", "x.unsqueeze(0).grad_fn.name()",
    "m.maximum(x, x).grad_fn.name()", "x.tanh().grad_fn.name()", "x.clamp(0, 1).grad_fn.name()",
    "x.view(2, 3).permute(1, 0).grad_fn.name()", "x.view(2, 3).transpose(1, 0).grad_fn.name()",
    "x.amax().grad_fn.name()",
])
def test_what_a_result_says(text: str) -> None:
    check(eval(f"lambda m, x: ({text},)"), pair(NUMBERS, "float32", True))


@pytest.mark.parametrize("block", ["no_grad", "enable_grad", "inference_mode"])
def test_modes(block: str) -> None:
    def program(m, x):
        with getattr(m, block)():
            y = x * 2
            inside = (y.requires_grad, y.is_leaf, y.is_inference(), m.is_grad_enabled(),
                      m.is_inference_mode_enabled())
        return (*inside, m.is_grad_enabled())

    check(program, pair(NUMBERS, "float32", True))


def test_grad_of_an_intermediate() -> None:
    def program(m, x):
        y = x * 2
        y.retain_grad()
        z = (y * y).sum()
        outer = m.autograd.grad(z, [x, y], retain_graph=True)
        z.backward()
        return (*outer, y.grad, x.grad)

    check(program, pair(NUMBERS, "float32", True))
