"""The traces of two small calls, for `tests/js/lens.test.js`.

`python -m tests.widgets.lens_fixture` writes `tests/js/lens.json`; a test says when it is out of
date. Machine code is of the processor that wrote it, and is not compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import labcore as torch
from widgets import KernelLens

from .programs import block

FILE = Path(__file__).parents[1] / "js" / "lens.json"


def layer(x, w):
    return torch.relu(x @ w + 1).sum(1)


def lenses(machine: bool) -> dict[str, KernelLens]:
    x, w = torch.ones(8, 16, requires_grad=True), torch.ones(16, 32)
    return {
        "block": KernelLens(block, machine=machine),
        "layer": KernelLens(layer, x, w, machine=machine),
    }


def printed(found: dict[str, KernelLens]) -> dict[str, Any]:
    """Their traces, the same wherever the functions stand."""
    traces = {name: lens.trace | {"machine": True} for name, lens in found.items()}
    for trace in traces.values():
        first = trace["kernels"][0]["stages"]["source"][0]["no"]
        for kernel in trace["kernels"]:
            for row in (*kernel["stages"]["source"], *kernel["kin"]):
                for key in {"no", "line"} & row.keys():
                    row[key] += 1 - first
    return traces


if __name__ == "__main__":
    found = lenses(machine=True)
    machines = {name: lens.machines for name, lens in found.items()}
    told = {"traces": printed(found), "machines": machines}
    FILE.write_text(json.dumps(told, indent=1) + "\n")
