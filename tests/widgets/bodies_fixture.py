"""The traces of two small functions, for `tests/js/bodies.test.js`.

`python -m tests.widgets.bodies_fixture` writes `tests/js/bodies.json`; a test says when it is out
of date.
"""

from __future__ import annotations

import json
from pathlib import Path

import labcore as torch
from widgets import LoopStepper

from .programs import block

FILE = Path(__file__).parents[1] / "js" / "bodies.json"
ROWS = ((-2.0, -1.0, 1.0, 2.0), (0.0, 1.0, 2.0, 3.0))


def rows(x):
    return torch.softmax(x, -1)


def printed() -> str:
    traces = {
        "block": LoopStepper(block).trace,
        "rows": LoopStepper(rows, torch.tensor(ROWS)).trace,
    }
    for trace in traces.values():
        trace["source"] = None  # the same wherever the functions stand
        for body in (*trace["before"], *trace["after"]):
            for question in body["questions"]:
                question["line"] = 2
    return json.dumps(traces, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())
