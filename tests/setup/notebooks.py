"""What a committed notebook must be: executed, in order, and wrong only where it says so.

nbval compares no output of a cell that has no execution count: a stripped notebook would pass
unchecked.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Cell = dict[str, Any]
WORDS = {"text/plain", "text/html", "text/markdown"}
# Where one machine keeps its things: a path of a home folder, or of a checkout of the lab.
OWN_PATH = re.compile(
    r"/(?:home|root|Users)/|(?<![\w.~])/(?:[\w.-]+/)+(?:labcore|widgets|notebooks)/"
)


def source(cell: Cell) -> str:
    return "".join(cell["source"])


def problems(notebook: dict[str, Any]) -> list[str]:
    """Everything that keeps a notebook from being one to hand out; empty when all is well."""
    code = [(i, c) for i, c in enumerate(notebook["cells"]) if c["cell_type"] == "code"]
    found = [f"cell {i}: {what}" for i, cell in code for what in of_cell(cell)]
    counts = [c["execution_count"] for _, c in code if c["execution_count"] is not None]
    if counts != list(range(1, len(counts) + 1)):
        found.append(f"cells did not run once each from top to bottom: {counts}")
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        found.append("the kernel is not python3")
    ids = [cell.get("id") for cell in notebook["cells"]]
    if None in ids or len(set(ids)) != len(ids):
        found.append("cell ids are missing or not unique: differences would be unreadable")
    return found


def of_cell(cell: Cell) -> Iterator[str]:
    tags = cell["metadata"].get("tags", [])
    errors = [o for o in cell["outputs"] if o["output_type"] == "error"]
    if "nbval-skip" in tags:
        yield "nbval-skip: a cell that cannot be checked does not belong in the course"
    if cell["execution_count"] is None:
        yield "no execution count: nbval would compare nothing"
    if errors and "raises-exception" not in tags:
        yield f"raised {errors[0]['ename']}: {errors[0]['evalue']}"
    if not errors and "raises-exception" in tags:
        yield "is tagged raises-exception and stores no error"
    if OWN_PATH.search(shown(cell)):
        yield "shows a path of one machine"


def shown(cell: Cell) -> str:
    """The text of a cell's outputs; pictures and widget state hold no words."""
    parts: list[str] = []
    for output in cell["outputs"]:
        parts += ["".join(output.get("text", "")), *output.get("traceback", [])]
        data = output.get("data", {})
        parts += ["".join(text) for kind, text in data.items() if kind in WORDS]
    return "\n".join(parts)
