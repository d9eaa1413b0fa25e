"""The traces of two small functions, for `tests/js/court.test.js`.

`python -m tests.widgets.court_fixture` writes `tests/js/court.json`; a test says when it is out of
date.
"""

from __future__ import annotations

import json
from pathlib import Path

import labcore as torch
from widgets import FusionCourt

from .programs import block

FILE = Path(__file__).parents[1] / "js" / "court.json"


def centred(x):
    y = torch.tanh(x)
    return y.sum(0, keepdim=True) + y * 2


def printed() -> str:
    traces = {
        "block": FusionCourt(block).trace,
        "centred": FusionCourt(centred, torch.ones(2, 4)).trace,
    }
    for trace in traces.values():
        for node in trace["nodes"]:
            node.pop("line", None)  # the same wherever the functions stand
    return json.dumps(traces, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())
