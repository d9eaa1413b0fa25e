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


def traces(machine: bool) -> dict[str, Any]:
    x, w = torch.ones(8, 16, requires_grad=True), torch.ones(16, 32)
    found = {
        "block": KernelLens(block, machine=machine).trace,
        "layer": KernelLens(layer, x, w, machine=machine).trace,
    }
    for trace in found.values():
        first = trace["kernels"][0]["stages"]["source"][0]["no"]
        for kernel in trace["kernels"]:  # the same wherever the functions stand
            for row in (*kernel["stages"]["source"], *kernel["kin"]):
                for key in {"no", "line"} & row.keys():
                    row[key] += 1 - first
    return found


def without_machine(found: dict[str, Any]) -> dict[str, Any]:
    for trace in found.values():
        for kernel in trace["kernels"]:
            for form in ("run", "plain"):
                kernel["stages"].pop(f"{form}_machine", None)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(traces(machine=True), indent=1) + "\n")
