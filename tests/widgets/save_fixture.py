"""The trace of a small function, for `tests/js/save.test.js`.

`python -m tests.widgets.save_fixture` writes `tests/js/save.json`; a test says when it is out of
date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import labcore as torch
from widgets import SaveOrRecompute

FILE = Path(__file__).parents[1] / "js" / "save.json"


def wave(x: Any, w: Any) -> Any:
    return torch.tanh(torch.sin(x * w) + 1)


def layer(x: Any, w: Any, bias: Any) -> Any:
    return torch.relu(torch.sin(x @ w) + bias)


def printed() -> str:
    weights = torch.ones(4, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    traces = {
        "wave": SaveOrRecompute(wave).trace,
        "layer": SaveOrRecompute(layer, torch.ones(8, 4), *weights).trace,
    }
    for trace in traces.values():
        for node in trace["nodes"]:
            node.pop("line", None)  # the same wherever the functions stand
    return json.dumps(traces, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())
