"""The traces of two functions on the simulated card, with the lanes that Python makes of them, for
`tests/js/launches.test.js`.

`python -m tests.widgets.launches_fixture` writes `tests/js/launches.json`; a test says when it is
out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import labcore as torch
from widgets import LaunchTimeline
from widgets.launch_timeline import rows

FILE = Path(__file__).parents[1] / "js" / "launches.json"
LAYER = torch.ones(32, 24), torch.ones(24, 16), torch.ones(16)
GROWN = (1, 4**8)


def chain(x, n):
    for _ in range(n):
        x = torch.relu(x + 1) * 0.5
    return x


def columns(x):
    """Kernels that stay apart, of which the first operator has several."""
    return torch.softmax(torch.softmax(x, 0), -1)


def layer(x, w, bias):
    return torch.relu(x @ w + bias)


def lanes(variant: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"grown": grown, "rows": [[plan, found.host, found.device, found.end, found.busy]
                                      for plan, found, _ in rows(variant, grown)]}
            for grown in GROWN]


def printed() -> str:
    traces = {"chain": LaunchTimeline(chain, counts=(1, 4)).trace,
              "columns": LaunchTimeline(columns, torch.ones(64, 64)).trace,
              "layer": LaunchTimeline(layer, *LAYER).trace}
    made = {name: {"trace": trace, "lanes": [lanes(v) for v in trace["variants"]]}
            for name, trace in traces.items()}
    return json.dumps(made) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())
