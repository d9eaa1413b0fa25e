"""How many kernels the operators that are taken apart come to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import labcore as torch
from labcore import trace

F = torch.nn.functional
ROWS, WEIGHT, BIAS = torch.randn(8, 16), torch.randn(16, 16), torch.randn(16)
QUERY = torch.randn(2, 4, 6, 8)
CLASSES = torch.arange(8)

# (program, kernels, operator calls)
COUNTS: list[tuple[Callable, int, int]] = [
    (lambda: F.softmax(ROWS, -1), 1, 0),
    (lambda: F.log_softmax(ROWS, -1), 1, 0),
    (lambda: F.layer_norm(ROWS, (16,), BIAS, BIAS), 1, 0),
    (lambda: F.rms_norm(ROWS, (16,), BIAS), 1, 0),
    (lambda: F.gelu(ROWS + BIAS) * 2, 1, 0),
    (lambda: torch.relu(ROWS @ WEIGHT + 1), 1, 1),
    (lambda: F.gelu(F.linear(ROWS, WEIGHT, BIAS)), 1, 1),
    (lambda: ROWS.var(1), 1, 0),
    (lambda: torch.logsumexp(ROWS, 1), 1, 0),
    (lambda: F.scaled_dot_product_attention(QUERY, QUERY, QUERY, is_causal=True), 1, 2),
    (lambda: F.cross_entropy(ROWS, CLASSES, reduction="none"), 1, 0),
]


@pytest.mark.parametrize(("program", "kernels", "calls"), COUNTS)
def test_counts(program: Callable, kernels: int, calls: int) -> None:
    with trace.record() as story:
        torch.compile(program, fullgraph=True)()
    text = story.text("output_code")
    assert (text.count("@kernel\n"), text.count(" = ops.")) == (kernels, calls)
