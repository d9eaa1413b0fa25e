"""28 and 12, and the same for other pointwise functions: three ways of counting agree."""
from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler.exc import Unsupported
from labcore.measure.accesses import Count, count_accesses


def block(x, bias):
    return torch.relu(x + bias) * 2


def two_results(x, bias):
    clipped = (x + bias).relu()
    return clipped * 2, clipped


def wave(x, bias):
    inner = torch.tanh(torch.sin(x * bias) + 1)
    return inner.exp() - x


@pytest.mark.parametrize("n", [1, 4, 8, 100])
@pytest.mark.parametrize(
    ("fn", "separate", "fused"), [(block, 7, 3), (two_results, 7, 4), (wave, 14, 3)]
)
def test_three_ways_agree_for_any_size(fn, separate, fused, n) -> None:
    counts = count_accesses(fn, torch.randn(n), torch.ones(n))
    assert counts.separate == Count(separate * n, separate * n, separate * n)
    assert counts.fused == Count(fused * n, fused * n, fused * n)
    assert counts.separate.agree and counts.fused.agree


def test_the_lessons_numbers() -> None:
    counts = count_accesses(block, torch.tensor([-2.0, -1.0, 1.0, 2.0]), torch.ones(4))
    assert (counts.separate.loops, counts.fused.loops) == (28, 12)
    assert (
        "separate passes: loops 28, running them 28, kernel text 28"
        in repr(counts)
    )


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(Unsupported):
        count_accesses(lambda x: x * x.sum().item(), torch.ones(4))
    with pytest.raises(ValueError, match="no tensor arithmetic"):
        count_accesses(lambda x: x, torch.ones(4))
