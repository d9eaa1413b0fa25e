"""The measurements measure: what is asked for is there. How fast it is, `make bench` tells."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import labcore as torch
from labcore.measure import bench, capture_worker
from labcore.measure.capture_speed import WORKER
from labcore.measure.overhead import no_break, one_break, overheads
from labcore.trace import GraphBreak, GraphCaptured, record


def test_overheads():
    found = overheads(blocks=1)
    assert [*found] == [
        "an empty Python function",
        "warm call, no break",
        "warm call, one break",
        "first call, one break",
    ]
    assert all(seconds > 0 for seconds in found.values())
    assert bench.overhead_table(found).row_count == 4


def test_the_functions_break_as_often_as_they_say():
    x, y = torch.ones(4), torch.ones(4)
    for function, breaks in ((no_break, 0), (one_break, 1)):
        with record() as trace:
            torch.compile(function, backend="eager")(x, y)
        assert len(trace.of(GraphBreak)) == breaks
        assert len(trace.of(GraphCaptured)) == breaks + 1


def test_the_worker_captures_so_many_operations():
    function = capture_worker.straight(100)
    told = torch.compiler.explain(function)(torch.ones(4), torch.ones(4))
    assert (told.op_count, told.graph_count) == (100, 1)
    answer = subprocess.run(
        [sys.executable, str(WORKER), "labcore"],
        input="20\n40\n",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(torch.__file__).parents[1])},
        check=True,
    ).stdout
    times = [float(line) for line in answer.split()]
    assert len(times) == 2 and all(seconds > 0 for seconds in times)
    assert bench.capture_table({"labcore": {20: times[0], 40: times[1]}}).row_count == 2
