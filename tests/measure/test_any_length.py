"""Dynamic kernels beside static ones: what is measured, and what the table says."""

from __future__ import annotations

import labcore as torch
from labcore import trace
from labcore.measure import any_length as measured
from labcore.measure.tables import lengths_table


def test_each_kernel_is_called_at_a_length_that_it_was_not_compiled_for(monkeypatch):
    name = "x - x.amax(-1)"
    monkeypatch.setattr(measured, "KERNELS", {name: measured.KERNELS[name]})
    monkeypatch.setattr(measured, "ELEMENTS", 4096)
    threads = torch.get_num_threads()
    with trace.record() as story:
        found = measured.any_length((4, 64), rounds=3)
    assert torch.get_num_threads() == threads
    dynamic, *static = story.of(trace.OutputCode)  # compiled once for all lengths, and for each
    assert "s1" in dynamic.source and len(static) == 2
    assert all("s1" not in code.source for code in static)
    assert list(found[name]) == [4, 64] and all(min(pair) > 0 for pair in found[name].values())


def test_the_table_has_a_ratio_for_each_length():
    table = lengths_table({"softmax": {7: (3.0, 2.0), 64: (1.0, 1.0)}})
    cells = [list(column.cells) for column in table.columns]
    assert cells == [["softmax"], ["1.50"], ["1.00"]]
    assert [column.header for column in table.columns] == ["rows of", "7", "64"]
    assert "at most 1.1" in str(table.title)
