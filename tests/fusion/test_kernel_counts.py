"""How many kernels programs become: PyTorch's count (on CPU), or fewer."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.autodiff import AutodiffOptions, aot_compile, run_by_operators
from labcore.fusion import fuse_graph

F = torch.nn.functional


def steps(function, *inputs, backward=False):
    """(kernels, operator calls) of a compiled call; with `backward`, of its backward."""
    plans = {}

    def compiler(gm, phase):
        plans[phase] = fuse_graph(gm.graph, phase)
        return run_by_operators(gm, phase)

    def backend(gm, examples):
        return aot_compile(gm, examples, compiler, options=AutodiffOptions("min_cut"))

    found = torch.compile(function, backend=backend)(*inputs)
    if backward:
        found.sum().backward()
    plan = plans["backward"] if backward else plans["inference"]
    return len(plan.nests), len(plan.externs)


x, w, b = torch.randn(6, 8), torch.randn(8, 5), torch.randn(8)


@pytest.mark.parametrize(
    ("name", "function", "inputs", "kernels", "calls"),
    [
        ("relu chain", lambda x, b: torch.relu(x + b) * 2, (x, b), 1, 0),
        ("pointwise, then sum", lambda x: torch.relu(x * 2).sum(), (x,), 1, 0),
        ("two column sums", lambda x: (x.sum(0), x.amax(0)), (x,), 1, 0),
        ("two unrelated results", lambda x: (x + 1, x * 2), (x,), 1, 0),
        ("row sum and column sum", lambda x: (x.sum(0), x.sum(1)), (x,), 2, 0),
        ("softmax", lambda x: torch.softmax(x, -1), (x,), 1, 0),
        ("log softmax", lambda x: torch.log_softmax(x, -1), (x,), 1, 0),
        ("layer norm", lambda x, b: F.layer_norm(x, (8,), b, b), (x, b), 1, 0),
        ("epilogue", lambda x, w: torch.relu(x @ w + 1), (x, w), 1, 1),
        ("prologue and epilogue", lambda x, w: torch.relu((x * 2) @ w), (x, w), 2, 1),
        ("in place, then read", lambda x: x.clone().add_(1) * 2, (x,), 1, 0),
    ],
)
def test_counts(name, function, inputs, kernels, calls):
    found = steps(function, *inputs)
    assert found[0] <= kernels and found[1] == calls


def test_the_bias_gradient_rides_along():
    """The column sum of bias + gelu's backward is done where the gradient of x is."""
    given = torch.randn(6, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    assert steps(lambda x, b: F.gelu(x + b), *given, backward=True) == (1, 0)


def test_layer_norms_backward_is_one_kernel():
    given = [torch.randn(*shape, requires_grad=True) for shape in ((6, 8), (8,), (8,))]
    norm = lambda x, w, b: F.layer_norm(x, (8,), w, b)
    assert steps(norm, *given, backward=True) == (1, 0)


def test_several_outputs_come_from_one_pass():
    assert steps(lambda x: (x * 2, torch.relu(x * 2), (x * 2).sum(1)), x) == (1, 0)
