"""How many kernels the operators that are taken apart come to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import labcore as torch
from labcore import trace

F = torch.nn.functional
ROWS, WEIGHT, BIAS = torch.randn(8, 16), torch.randn(16, 16), torch.randn(16)
QUERY = torch.randn(2, 4, 6, 8)
CLASSES, IMAGE, MASK = torch.arange(8), torch.randn(3, 4, 5, 6), torch.randn(6, 6) > 0

# (program, kernels, operator calls)
COUNTS: list[tuple[Callable, int, int]] = [
    (lambda: torch.relu(ROWS + BIAS) * 2, 1, 0),
    (lambda: (ROWS * 2).sum(), 1, 0),
    (lambda: (ROWS * 2).sum(1), 1, 0),
    (lambda: (ROWS.sum(0), (ROWS * ROWS).sum(0)), 1, 0),
    (lambda: (ROWS.sum(1), ROWS.sum(0)), 1, 0),
    (lambda: (ROWS + 1, ROWS * 2), 1, 0),
    (lambda: F.softmax(ROWS, -1), 1, 0),
    (lambda: F.log_softmax(ROWS, -1), 1, 0),
    (lambda: F.layer_norm(ROWS, (16,), BIAS, BIAS), 1, 0),
    (lambda: F.rms_norm(ROWS, (16,), BIAS), 1, 0),
    (lambda: F.group_norm(IMAGE, 2), 1, 0),
    (lambda: F.batch_norm(IMAGE, torch.zeros(4), torch.ones(4), None, None, True), 1, 0),
    (lambda: F.gelu(ROWS + BIAS) * 2, 1, 0),
    (lambda: torch.relu(ROWS @ WEIGHT + 1), 1, 1),
    (lambda: F.gelu(F.linear(ROWS, WEIGHT, BIAS)), 1, 1),
    (lambda: ROWS.var(1), 1, 0),
    (lambda: torch.logsumexp(ROWS, 1), 1, 0),
    (lambda: ROWS.argmax(1), 1, 0),
    (lambda: torch.cumsum(ROWS * 2, 0) + 1, 1, 0),
    (lambda: F.scaled_dot_product_attention(QUERY, QUERY, QUERY, is_causal=True), 1, 2),
    (lambda: F.scaled_dot_product_attention(QUERY, QUERY, QUERY, MASK), 1, 2),
    (lambda: F.cross_entropy(ROWS, CLASSES, reduction="none"), 1, 0),
    (lambda: F.layer_norm(F.embedding(CLASSES, WEIGHT), (16,), BIAS, BIAS), 1, 0),
    (lambda: adamw(ROWS, ROWS, ROWS, ROWS), 1, 0),
]


def adamw(p, grad, mean, square):
    mean, square = mean * 0.9 + grad * 0.1, square * 0.999 + grad * grad * 0.001
    return p * 0.99 - 1e-3 * mean / (torch.sqrt(square) + 1e-8), mean, square


@pytest.mark.parametrize(("program", "kernels", "calls"), COUNTS)
def test_counts(program: Callable, kernels: int, calls: int) -> None:
    with trace.record() as story:
        torch.compile(program, fullgraph=True)()
    text = story.text("output_code")
    called = text.count(" = ops.") + text.count("numpy.matmul(")
    assert (text.count("@kernel\n"), called) == (kernels, calls)


# (function, tensors that want gradients, kernels of its backward)
BACKWARD: list[tuple[Callable, tuple, int]] = [
    (lambda x: F.softmax(x, -1), (ROWS,), 1),
    (lambda x, w, b: F.layer_norm(x, (16,), w, b), (ROWS, BIAS, BIAS), 1),
    (lambda x, b: F.gelu(x + b, approximate="tanh"), (ROWS, BIAS), 1),
    (lambda x, b: F.gelu(x + b), (ROWS, BIAS), 1),
    (lambda x: F.cross_entropy(x, CLASSES), (ROWS,), 1),
    (lambda x: F.batch_norm(x, None, None, BIAS[:4], BIAS[:4], True), (IMAGE,), 1),
    (lambda x: torch.cumsum(x, 1), (ROWS,), 1),
    (lambda w: F.embedding(CLASSES, w) * 2, (WEIGHT,), 2),  # zeros, and what is added to them
]


@pytest.mark.parametrize(("function", "tensors", "kernels"), BACKWARD)
def test_counts_of_the_backward(function: Callable, tensors: tuple, kernels: int) -> None:
    given = [t.clone().requires_grad_() for t in tensors]
    with trace.record() as story:
        torch.compile(function, fullgraph=True)(*given).sum().backward()
    backward = story.text("output_code").split("# Output code of the backward graph")[1]
    assert backward.count("@kernel\n") == kernels
