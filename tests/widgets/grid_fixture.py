"""The traces of four small functions on the grid, for `tests/js/grid.test.js`.

`python -m tests.widgets.grid_fixture` writes `tests/js/grid.json`; a test says when it is out of
date.
"""

from __future__ import annotations

import json
from pathlib import Path

import labcore as torch
from widgets import GridView

from .programs import block

FILE = Path(__file__).parents[1] / "js" / "grid.json"


def apart(x, y):
    return x + y[::8]


def turned(x, y):
    return x + y.t()


def rows(x):
    return torch.softmax(x, -1)


def square(size: int) -> torch.Tensor:
    return torch.ones(size, size)


def printed() -> str:
    traces = {
        "block": GridView(block).trace,
        "apart": GridView(apart, torch.ones(1024), torch.ones(8192)).trace,
        "turned": GridView(turned, square(32), square(32)).trace,
        "rows": GridView(rows, torch.ones(2, 600)).trace,
    }
    return json.dumps(traces) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())
