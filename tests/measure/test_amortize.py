"""The four hand calculations, and what is left of them at the edges."""

from __future__ import annotations

from math import inf

import pytest

from labcore.measure import (
    Launches,
    ahead,
    break_even,
    crossings,
    speedup,
    static_overtakes,
)

TEN, TWO = Launches(10, 80), Launches(2, 70)


def test_ten_kernels_become_two() -> None:
    assert (TEN.total(5), TWO.total(5), speedup(TEN, TWO, 5)) == (130, 80, 1.625)
    assert speedup(TEN, TWO, 20) == pytest.approx(280 / 110)
    assert speedup(TEN, TWO, 32.5) == pytest.approx(3)
    assert speedup(TEN, TWO, 0) == pytest.approx(80 / 70)
    assert speedup(TEN, TWO, 1e12) == pytest.approx(5)


def test_compiling_pays_after_400_steps() -> None:
    assert break_even(12, 0.1, 0.07) == 400
    assert ahead(400, 12, 0.1, 0.07) == pytest.approx(0)
    assert ahead(100, 12, 0.1, 0.07) == pytest.approx(-9)
    assert break_even(12, 0.07, 0.07) == break_even(12, 0.07, 0.1) == inf
    assert break_even(0, 0.1, 0.07) == 0
    assert break_even(1, 1, 0.3) == 2  # 1.43 steps are two
    with pytest.raises(ValueError, match="a time below zero"):
        break_even(-1, 1, 0.5)


def test_three_variants_or_one() -> None:
    assert static_overtakes(3, 4, 6, 0.070, 0.072) == 3000
    assert static_overtakes(3, 4, 6, 0.072, 0.072) == inf
    assert static_overtakes(1, 4, 6, 0.070, 0.072) == 0


def test_four_breaks_a_million_times() -> None:
    assert crossings(4, 20e-6, 1) == pytest.approx(80e-6)
    assert crossings(4, 20e-6, 1_000_000) == pytest.approx(80)
