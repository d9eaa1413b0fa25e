"""Functions with several results, or any number of operands, beside PyTorch."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import check, pair

CUBE = np.sin(np.arange(24.0) * 1.7).reshape(2, 3, 4)
TIES = np.array([[1.0, 3.0, 3.0, np.nan], [2.0, 2.0, -0.0, 0.0], [np.inf, 1.0, np.inf, 5.0]])

EXPRESSIONS = [
    "x.max()", "x.min()", "x.max(1)", "x.min(-1, True)", "m.max(x, 0)", "m.min(x, 2, keepdim=True)",
    "m.max(x, x * 2)", "m.min(x, x.abs())", "x.max(dim=1).values", "x.min(dim=0).indices",
    "x.sort()", "x.sort(0, descending=True)", "m.sort(x, dim=1).values", "x.topk(2)",
    "x.topk(2, 1, largest=False)", "m.topk(x, 3, dim=2).indices", "x.median()", "x.median(1)",
    "x.median(1, True)", "m.aminmax(x)", "m.aminmax(x, dim=1)", "m.var_mean(x)",
    "m.var_mean(x, 1, keepdim=True)", "m.std_mean(x, (0, 2), correction=0)", "x.split(2, 1)",
    "x.split([1, 2], 1)", "m.split(x, 3, dim=-1)", "x.chunk(2, 2)", "x.chunk(5, 1)", "x.unbind()",
    "m.unbind(x, 1)", "m.hstack([x, x])", "m.vstack([x[0, 0], x[1, 1]])",
    "m.hstack([x[0, 0], x[1, 1]])", "m.meshgrid(x[0, 0], x[:, 0, 0], indexing='ij')",
    "m.meshgrid(x[0, 0], x[0, :, 0], indexing='xy')",
    "m.broadcast_tensors(x, x[0, :1])", "x.repeat(2, 1, 1)", "x.flip(0, 2)", "x.tile(2)",
    "m.einsum('ijk->kij', x)", "m.einsum('ijk->j', x)", "m.einsum('ijk', x)",
    "m.einsum('ijk,ilk->ijl', x, x)", "m.einsum('ijk,k->ij', x, x[0, 0])",
    "m.einsum('ijk,lmk->ijlm', x, x)", "m.einsum('...k,...k->...', x, x)",
    "m.einsum('i,j->ij', x[0, 0], x[:, 0, 0])", "m.einsum('ii->i', x[0, :, :3]).contiguous()",
    "m.einsum('ii', x[0, :, :3])", "m.einsum('ij,jk,kl->il', x[0], x[0].t(), x[0]).contiguous()",
    "m.einsum('ijk,ij->k', x, x[:, :, 0])", "m.einsum('bij,bjk->bik', x, x.transpose(1, 2))",
    "m.einsum('ij,ij->', x[0], x[1])", "m.einsum('i...,i...->...', x, x)",
    "m.einsum('ijk,ajk->ai', x, x[:1])[0]", "m.einsum('ij,kj->ik', x[0], x[0])",
]
WRONG = [
    "x.split(-1)", "x.split([1, 1], 1)", "x.chunk(0)", "x.topk(9)", "x.max(5)", "x.unbind(7)",
    "m.einsum('ij->i', x)", "m.einsum('ijk,jk->i', x)",
]


def with_gradient(program):
    def run(m, x):
        result = program(m, x)
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        total = sum((p * (m.arange(p.numel()).to(p.dtype).reshape(p.shape) + 1)).sum()
                    for p in parts if p.requires_grad)
        if isinstance(total, int):
            return parts
        total.backward()
        return [p.detach() for p in parts] + [x.grad]
    return run


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_values_and_gradients(text: str) -> None:
    program = eval(f"lambda m, x: {text}")
    check(with_gradient(program), pair(CUBE, "float64", True), ulps=64)
    check(lambda m, x: [t for t in _listed(program(m, x))], pair(CUBE * 9, "int64"), ulps=4)


def _listed(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize("text", [
    "x.max(1)", "x.min(1)", "x.sort(1)", "x.sort(0, descending=True)", "x.topk(2, 1).values",
    "x.argmax(1)", "x.argmin()", "x.argsort(dim=1, stable=True)", "x.max()", "m.aminmax(x)",
])
def test_nans_and_ties(text: str) -> None:
    check(eval(f"lambda m, x: {text}"), pair(TIES, "float64"))


@pytest.mark.parametrize("text", WRONG)
def test_refusals(text: str) -> None:
    check(eval(f"lambda m, x: {text}"), pair(CUBE, "float32"))


@pytest.mark.parametrize(
    "text", ["x.max(1)", "x.sort()", "m.topk(x, 1)", "x.min(0)", "m.aminmax(x)"]
)
def test_how_results_look(text: str) -> None:
    check(eval(f"lambda m, x: repr({text})"), pair([[1.0, 2.0], [4.0, 3.0]], "float32"))
