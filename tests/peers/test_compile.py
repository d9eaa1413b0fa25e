"""Compiled programs of the lab against PyTorch's eager mode, on every backend: the same answer."""
from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labcore.compiler.compile import MODES

from .pairs import check, lab, pair, same, torch

BACKENDS = ["eager", "aot_eager", "inductor"]

FILE = Path(__file__).with_name("programs.py")
SOURCE = FILE.read_text()
FUNCTIONS = [node for node in ast.parse(SOURCE).body if isinstance(node, ast.FunctionDef)]
PROGRAMS = [node.name for node in FUNCTIONS if not node.name.startswith("_")]

X = [[-1.5, 0.25, 2.0], [0.75, -0.125, 1.0]]
Y = [[0.5, -2.0, 1.25], [1.0, 3.0, -0.75]]


def test_modes_mean_what_they_mean_in_pytorch() -> None:
    theirs = torch._inductor.list_mode_options()
    words = {"max_autotune": "max_autotune", "triton.cudagraphs": "cudagraphs"}
    for mode, options in MODES.items():
        found = {words[key]: on for key, on in theirs[mode].items() if key in words and on}
        assert found == options, mode


def program(name: str, module: Any, source: str = SOURCE) -> Callable:
    """The function of that name, with `torch` being this module."""
    scope = {"torch": module}
    exec(compile(source, str(FILE) if source is SOURCE else "<program>", "exec"), scope)
    return scope[name]  # type: ignore[return-value]


def both(source: str, backend: str) -> Callable:
    """`f` of a source text as one program for `check`: compiled in the lab, eager in PyTorch."""
    ours = lab.compile(program("f", lab, source), backend=backend)
    theirs = program("f", torch, source)
    return lambda m, *tensors: (ours if m is lab else theirs)(*tensors)


def leaves(value: Any) -> list[Any]:
    """The tensors in a result, in order."""
    if isinstance(value, dict):
        return [t for v in value.values() for t in leaves(v)]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in leaves(v)]
    return [value]


def facts(results: list[Any], inputs: list[Any]) -> list[Any]:
    """Who is who, who shows whose memory, and who has a history."""
    everything = [*inputs, *results]

    def place(tensor: Any) -> int | None:
        return next((i for i, other in enumerate(everything) if other is tensor), None)

    return [(place(t), place(t._base), t.is_leaf, t.requires_grad) for t in everything]


def differentiate(m: Any, results: list[Any], inputs: list[Any]) -> list[Any]:
    """The inputs' gradients from an uneven gradient of all results with a history."""
    unique = {id(t): t for t in results if t.requires_grad and t.grad_fn is not None}
    for tensor in unique.values():
        weights = m.arange(1, tensor.numel() + 1).reshape(tensor.shape)
        (tensor.to(m.float64) * weights).sum().backward(retain_graph=True)
    return [t.grad for t in inputs]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", [(False, False), (True, True), (True, False)], ids=repr)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, grad: tuple[bool, bool], backend: str) -> None:
    ours, theirs = lab.compile(program(name, lab), backend=backend), program(name, torch)
    for _ in range(2):
        (x, tx), (y, ty) = pair(X, "float32", grad[0]), pair(Y, "float32", grad[1])
        a, b = leaves(ours(x, y)), leaves(theirs(tx, ty))
        same(a, b, ulps=32)
        assert facts(a, [x, y]) == facts(b, [tx, ty])
        same_gradients(differentiate(lab, a, [x, y]), differentiate(torch, b, [tx, ty]))


def same_gradients(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None)
        if b is not None:
            same(a, b, ulps=64)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", [
    "x.t().contiguous().t()", "x[:, ::2]", "x[:, :1].expand(2, 3)", "x[:0]", "x[0]", "x[0, 0]",
    "x.double()", "x[None].expand(2, 2, 3)", "x[1:, 1:]",
])
def test_inputs_of_any_layout(layout: str, backend: str) -> None:
    run = both("def f(x): return torch.relu(x * 2 + 1), x.sum(), x + x", backend)
    view = eval(f"lambda m, x: {layout}")
    check(lambda m, x: run(m, view(m, x)), pair(X, "float32"), ulps=16)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "int64", "int32", "bool"])
def test_inputs_of_any_type(dtype: str, backend: str) -> None:
    source = "def f(x): return x + 1, x * 2.5, x / 2, x.sum(), x == 1, torch.where(x > 0, x, 0)"
    check(both(source, backend), pair(np.array(X), dtype), ulps=16)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", [
    "x + torch.ones(5)", "x @ x", "x.view(7)", "x.sum(4)", "x[9]", "torch.cat([x, x[0]])",
    "x + 'a'", "1 // 0 + x",
])
def test_errors_are_those_of_eager_mode(text: str, backend: str) -> None:
    check(both(f"def f(x): return {text}", backend), pair(X, "float32"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_grad_modes(backend: str) -> None:
    f = both("def f(x): return torch.exp(x) * 2", backend)

    def run(m, x):
        before = f(m, x).requires_grad
        with m.no_grad():
            inside = f(m, x).requires_grad
        return before, inside, f(m, x).requires_grad, f(m, x.detach()).requires_grad, f(m, x)

    check(run, pair(X, "float32", True))


@pytest.mark.parametrize("backend", BACKENDS)
def test_inference_mode(backend: str) -> None:
    f = both("def f(x):\n y = torch.exp(x) * 2\n return y, y[0], x[0]", backend)

    def run(m, x):
        with m.inference_mode():
            inside = f(m, x)
        outside = f(m, x)
        return [t.is_inference() for t in (*inside, *outside)], outside[0].requires_grad

    check(run, pair(X, "float32"))
    check(run, pair(X, "float32", True))


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_written_after_the_call(backend: str) -> None:
    f = both("def f(x):\n z = x * x\n return z, z[0], x[1]", backend)

    def run(m, x):
        z, row, part = f(m, x)
        z.mul_(2)
        x.add_(10)
        return z, row, part

    check(run, pair(X, "float32"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", [
    "y.sum().backward(); y.sum().backward()",
    "y.mul_(2); y.sum().backward()",
    "x2.add_(1); y.sum().backward()",
    "y.sum().backward(retain_graph=True); y.sum().backward()",
    "(y * 2).sum().backward()",
    "m.autograd.grad(y.sum(), [x, x2])",
    "y.backward(m.ones(3, 2).t())",
])
def test_the_history_of_a_region(text: str, backend: str) -> None:
    f = both("def f(x, y): return torch.exp(x * y), x + y", backend)

    def run(m, x, x2):
        y, z = f(m, x, x2)
        exec(text, {"m": m, "x": x, "x2": x2, "y": y, "z": z})
        return x.grad

    check(run, pair(X, "float32", True), pair(Y, "float32"))
