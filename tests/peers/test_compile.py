"""Compiled programs of the lab against PyTorch's eager mode, on every backend: the same answer, always."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .pairs import check, lab, pair, same, torch

BACKENDS = ["eager", "aot_eager", "inductor"]

PROGRAMS = {
    "the running example": "def f(x, y): return torch.relu(x + y) * 2",
    "a chain": "def f(x, y):\n a = torch.sin(x) * y\n b = torch.exp(-a * a)\n return torch.tanh(a + b) / (1 + b)",
    "a softmax": "def f(x, y):\n e = torch.exp(x - x.amax(-1, keepdim=True))\n return e / e.sum(-1, keepdim=True) * y",
    "a mean and a variance": "def f(x, y):\n m = x.mean(-1, keepdim=True)\n d = x - m\n return d / torch.sqrt((d * d).mean(-1, keepdim=True) + 1e-5) * y",
    "a matmul and a bias": "def f(x, y): return torch.relu(x @ y.t() + 1)",
    "a reduction": "def f(x, y): return (x * y).sum()",
    "two reductions": "def f(x, y): return (x * y).sum(0), (x + y).sum(1)",
    "broadcasting": "def f(x, y): return x[:, :1] * y[:1] + x",
    "a transposed result": "def f(x, y): return x.t() * y.t()",
    "a view of an input": "def f(x, y): return x[0], y * 2",
    "a view of a result": "def f(x, y):\n z = x * y\n return z[0], z.t(), z",
    "an input": "def f(x, y): return y, x, x * y",
    "twice the same": "def f(x, y):\n z = x * y\n return z, z",
    "equal but not the same": "def f(x, y): return x * y, x * y",
    "nothing but views": "def f(x, y): return x.view(-1), y.t()",
    "a comparison": "def f(x, y): return x > y, torch.where(x > y, x, y)",
    "integers": "def f(x, y): return (x * 4).to(torch.int64) // 2, x",
    "double": "def f(x, y): return x.to(torch.float64) * y",
    "joined": "def f(x, y): return torch.cat([x, y * 2], 1), torch.stack([x, y])",
    "sliced": "def f(x, y): return x[:, 1:] * y[:, :-1] + x[0, 0]",
    "expanded": "def f(x, y): return x[0].expand(2, 3) * y + x[:, :1].expand(2, 3)",
    "clamped": "def f(x, y): return torch.clamp(x, -0.5, 0.5) + y.clamp(min=0)",
    "powers": "def f(x, y): return x ** 2 + y ** 3 + 2 ** x",
    "kinks": "def f(x, y): return torch.relu(x) + torch.abs(y) + torch.sign(x) + torch.maximum(x, y)",
    "special functions": "def f(x, y): return torch.sigmoid(x) + torch.erf(y) + torch.rsqrt(x * x + 1) + torch.reciprocal(y * y + 1)",
    "a loop": "def f(x, y):\n for i in range(3):\n  x = x * y + i\n return x",
    "a dict": "def f(x, y):\n d = {'a': x + 1, 'b': y}\n return {'sum': d['a'] + d['b'], 'parts': [d['a'], d['b']]}",
    "a branch on a shape": "def f(x, y): return x * 2 if x.shape[0] > 1 else y",
    "a branch on a value": "def f(x, y):\n z = x * y\n if z.sum() > 0:\n  return z + 1\n return z - 1",
    "a helper": "def g(a): return torch.relu(a) + 1\ndef f(x, y): return g(x) * g(y)",
    "detach": "def f(x, y): return x.detach() * y",
    "a gelu": "def f(x, y): return x * 0.5 * (1 + torch.erf(x * 0.7071067811865476)) + y",
    "constants": "def f(x, y): return x + torch.ones(3) * torch.arange(3) + torch.zeros_like(y) + torch.full((2, 1), 0.5)",
    "flattened": "def f(x, y): return x.t().reshape(-1) * y.flatten()",
    "unused input": "def f(x, y): return torch.exp(x)",
    "a permuted reduction": "def f(x, y): return (x.t() * y.t()).sum(0), x.permute(1, 0).amax(1)",
    "a long chain of adds": "def f(x, y):\n z = x\n for i in range(40):\n  z = z + y * (0.1 * i)\n return z",
    "a scalar result": "def f(x, y): return x.sum() * y.mean() + 3",
    "nan and inf": "def f(x, y): return torch.log(x) + y / (x - x), torch.sqrt(y)",
    "an in-place step": "def f(x, y):\n z = x * 2\n z += y\n z.mul_(3)\n return z",
    "a written slice": "def f(x, y):\n z = x * 2\n z[0] = y[1]\n return z",
}


def functions(source: str, backend: str) -> tuple[Callable, Callable]:
    """The program as a compiled function of the lab, and as an eager one of PyTorch."""
    scopes = [{"torch": lab}, {"torch": torch}]
    for scope in scopes:
        exec(compile(source, "<program>", "exec"), scope)
    return lab.compile(scopes[0]["f"], backend=backend), scopes[1]["f"]


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
    identity = [next(i for i, other in enumerate(everything) if other is t) for t in everything]
    base = [next((i for i, other in enumerate(everything) if other is t._base), None) for t in everything]
    return [identity, base, [t.is_leaf for t in everything], [t.requires_grad for t in everything]]


def differentiate(m: Any, results: list[Any], inputs: list[Any]) -> list[Any]:
    unique = {id(t): t for t in results if t.requires_grad and t.grad_fn is not None}
    loss = sum((t.to(m.float64) * m.arange(1, t.numel() + 1).reshape(t.shape)).sum() for t in unique.values())
    if unique:
        loss.backward()
    return [t.grad for t in inputs]


X = [[-1.5, 0.25, 2.0], [0.75, -0.125, 1.0]]
Y = [[0.5, -2.0, 1.25], [1.0, 3.0, -0.75]]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", [(False, False), (True, True), (True, False)], ids=["no grad", "grad", "one grad"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, grad: tuple[bool, bool], backend: str) -> None:
    ours, theirs = functions(PROGRAMS[name], backend)
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
@pytest.mark.parametrize("layout", ["x.t().contiguous().t()", "x[:, ::2]", "x[:, :1].expand(2, 3)", "x[:0]", "x[0]", "x[0, 0]", "x.double()"])
def test_inputs_of_any_layout(layout: str, backend: str) -> None:
    ours, theirs = functions("def f(x): return torch.relu(x * 2 + 1), x.sum(), x + x", backend)
    view = eval(f"lambda m, x: {layout}")
    check(lambda m, x: (ours if m is lab else theirs)(view(m, x)), pair(X, "float32"), ulps=16)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "int64", "int32", "bool"])
def test_inputs_of_any_type(dtype: str, backend: str) -> None:
    ours, theirs = functions("def f(x): return x + 1, x * 2.5, x / 2, x.sum(), x == 1, torch.where(x > 0, x, 0)", backend)
    check(lambda m, x: (ours if m is lab else theirs)(x), pair(np.array(X), dtype), ulps=16)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("source", [
    "def f(x): return x + torch.ones(5)", "def f(x): return x @ x", "def f(x): return x.view(7)", "def f(x): return x.sum(4)",
    "def f(x): return x[9]", "def f(x): return torch.cat([x, x[0]])", "def f(x): return x + 'a'", "def f(x): return 1 // 0 + x",
])
def test_errors_are_those_of_eager_mode(source: str, backend: str) -> None:
    ours, theirs = functions(source, backend)
    check(lambda m, x: (ours if m is lab else theirs)(x), pair(X, "float32"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_grad_modes(backend: str) -> None:
    ours, theirs = functions("def f(x): return torch.exp(x) * 2", backend)

    def program(m, x):
        f = ours if m is lab else theirs
        before = f(x).requires_grad
        with m.no_grad():
            inside = f(x).requires_grad
        return before, inside, f(x).requires_grad, f(x.detach()).requires_grad, f(x)

    check(program, pair(X, "float32", True))


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_written_after_the_call(backend: str) -> None:
    ours, theirs = functions("def f(x):\n z = x * x\n return z, z[0], x[1]", backend)

    def program(m, x):
        z, row, part = (ours if m is lab else theirs)(x)
        z.mul_(2)
        x.add_(10)
        return z, row, part

    check(program, pair(X, "float32"))
