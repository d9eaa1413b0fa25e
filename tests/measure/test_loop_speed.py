"""Compile time of the loop compiler: the subjects, and that it grows with their size alone."""

from __future__ import annotations

import pytest

from labcore.measure.loop_speed import SYNTHETIC, programs, seconds_an_operator


def test_real_programs_give_their_graphs() -> None:
    found = programs()
    assert list(found) == [
        "2 transformer blocks, forward",
        "2 transformer blocks, backward",
        "AdamW, 100 parameters",
    ]
    assert all(len(graph.calls) > 90 for graph in found.values())


@pytest.mark.parametrize("name", SYNTHETIC)
def test_an_operator_costs_the_same_in_a_larger_graph(name: str) -> None:
    make = SYNTHETIC[name]
    seconds_an_operator(make(20))
    small, large = seconds_an_operator(make(250), 5), make(1500)
    # The fastest round tells, for the machine is shared: one that is fast enough will do.
    assert any(seconds_an_operator(large) < 2 * small for _ in range(4))
