"""What fusing too much costs: the cases, and that each rule keeps its one apart."""

from __future__ import annotations

import pytest

from labcore.fusion import fuse_graph
from labcore.measure import overfusion
from labcore.measure.overfusion import CASES, overfused


@pytest.mark.parametrize("name", CASES)
def test_without_the_rule_all_is_one_kernel(name: str) -> None:
    case = CASES[name]
    graph = overfusion._graph(case).graph
    assert len(fuse_graph(graph).nests) > 1
    assert len(fuse_graph(graph, options=case.without).nests) == 1


def test_a_gate_that_takes_tanh_in_every_row_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    """14 times as slow where it was measured; three times is beyond any doubt."""
    gate = next(name for name in CASES if "gate" in name)
    monkeypatch.setattr(overfusion, "CASES", {gate: CASES[gate]})
    found = overfused(rounds=3)[gate]
    assert (found["by the rules"][0], found["without"][0]) == (2, 1)
    assert found["without"][1] > 3 * found["by the rules"][1]
