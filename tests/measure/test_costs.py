"""What `cost` tells: counts are asserted, of times only that they are there and belong together."""

from __future__ import annotations

import os

import pytest

import labcore as torch
from labcore.measure import Cost, cost, roofline, stream
from labcore.measure.costs import fresh_cache, peak, spoken, take_turns
from labcore.measure.roof import operations_in


def block(x, bias):
    return torch.relu(x + bias) * 2


def layer(x, w):
    return torch.relu(x @ w + 1)


def test_the_cost_of_a_function() -> None:
    found = cost(block, torch.ones(1000), torch.ones(1000), seconds=0.001)
    assert (found.function, found.graphs) == ("block", 1)
    assert (found.operators, found.kernels, found.library) == (3, 1, 0)
    assert (found.moved, found.operations) == (12_000, 3000)
    assert found.intensity == 0.25
    assert min(found.eager, found.first, found.from_disk, found.warm, found.stream) > 0
    assert found.first > found.from_disk > found.warm  # by factors of ten and a hundred
    assert found.peak >= 4000 and found.peak_eager >= 8000
    assert found.bandwidth == found.moved / found.warm
    text = str(found)
    assert text.startswith("block\n  eager") and "1, of 3 operators" in text
    assert "3,000, 0.25 for each byte" in text


def test_a_library_call_is_none_of_the_kernels() -> None:
    found = cost(layer, torch.ones(8, 8), torch.ones(8, 8), seconds=0.001)
    assert (found.kernels, found.library) == (1, 1)


def test_what_compiles_to_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="compiles to no kernel"):
        cost(lambda x: x, torch.ones(4))


def made(eager: float, first: float, warm: float) -> Cost:
    counts = dict.fromkeys(
        ("peak_eager", "peak", "operators", "kernels", "library", "graphs"), 1
    )
    return Cost("f", eager, first, first, warm, **counts, moved=24, operations=6, stream=1e9)


def test_figures_that_follow() -> None:
    found = made(eager=0.1, first=12.07, warm=0.07)
    assert found.compiling == 12 and found.break_even == 400
    assert "after 400 calls" in str(found)
    assert "never" in str(made(eager=0.07, first=12, warm=0.1))
    assert (found.bandwidth, found.intensity) == (24 / 0.07, 0.25)


def test_a_fresh_cache_is_one_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in ("/somewhere", None):
        if before:
            monkeypatch.setenv("LAB_CACHE_DIR", before)
        else:
            monkeypatch.delenv("LAB_CACHE_DIR")
        with fresh_cache():
            inside = os.environ["LAB_CACHE_DIR"]
            assert inside != before and torch.compiler.cache.info().entries == 0
        assert os.environ.get("LAB_CACHE_DIR") == before


def test_turns_are_taken() -> None:
    order: list[str] = []
    take_turns([lambda: order.append("a"), lambda: order.append("b")], 1e-9, rounds=3)
    assert "".join(order) == "ab" * 4


def test_the_peak_of_a_call() -> None:
    n = 1 << 16
    one = peak(lambda: torch.ones(n))
    assert 4 * n <= one < 8 * n
    large = 5 << 20  # from the pool
    assert peak(lambda: torch.ones(large) + 1) >= 8 * large


def test_times_as_people_say_them() -> None:
    assert [spoken(t) for t in (12.0, 0.07, 8e-5, 3e-8)] == ["12 s", "70 ms", "80 us", "30 ns"]


def test_operations_of_a_text() -> None:
    text = '''
def k(x: "float32*", out: "float32*"):
    for i0 in range(4):
        acc = float32(0.0)
        for i1 in range(10):
            tmp0 = x[10*i0 + i1] - float32(1)
            acc = radd(acc, exp(tmp0))
        out[i0] = acc / float32(10)
'''
    assert operations_in(text) == 4 * (10 * 3 + 1)
    with pytest.raises(ValueError, match=r"`range\(s0\)`: how many turns is known when it runs"):
        operations_in("for i in range(s0):\n    pass\n")


def test_the_roofline_has_a_point_for_each() -> None:
    figure = roofline([made(0.1, 12, 0.07), made(0.1, 12, 0.01)])
    (axes,) = figure.axes
    roof, *points = axes.lines
    assert len(points) == 2
    assert [tuple(p.get_xydata()[0]) for p in points] == [(0.25, 6 / 0.07), (0.25, 6 / 0.01)]
    (x0, y0), (x1, y1), (x2, y2) = roof.get_xydata()
    assert y0 / x0 == pytest.approx(1e9) and y1 / x1 == pytest.approx(1e9) and y1 == y2
    with pytest.raises(ValueError, match="nothing was measured"):
        roofline([])


def test_the_machine_moves_bytes() -> None:
    assert stream(12_000, seconds=0.001) > 0
