"""The loop bodies of a race, run in Python: the counts that `repr` states and the last frame of the
picture.

In: the plan of `labcore.fusion.race` (its header has the schema).  Out: every array access of a
lane for n elements, and memory afterwards.  Invariant: the same accesses and values as the widget's
JavaScript, which runs the same bodies (tested).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy

from labcore.fusion.primitives import PRIMITIVES

Json = dict[str, Any]
Access = tuple[str, str, int]  # "read" or "write", buffer, element


@dataclass
class Run:
    """One lane, run."""

    accesses: list[Access]
    memory: dict[str, dict[int, Any]]

    @property
    def marks(self) -> Counter[Access]:
        return Counter(self.accesses)


def run(trace: Json, lane: Json, n: int) -> Run:
    """Run every pass of a lane over n elements; what does not depend on i runs before the loop. A
    lane that has been run already is the same for every n.
    """
    if "steps" in lane:
        accesses = [(step["kind"], step["buf"], step["cell"]) for step in lane["steps"]]
        return Run(accesses, {b: dict(enumerate(map(_told, c))) for b, c in lane["memory"].items()})
    memory = {buffer["name"]: _filled(buffer, n) for buffer in trace["buffers"]}
    done = Run([], memory)
    for step in lane["passes"]:
        known: dict[str, Any] = {}
        _turn([line for line in step["body"] if line.get("once")], 0, known, done)
        body = [line for line in step["body"] if not line.get("once")]
        for i in range(n):
            _turn(body, i, dict(known), done)
    return done


def _turn(body: list[Json], cell: int, registers: dict[str, Any], done: Run) -> None:
    for line in body:
        if line["op"] == "load":
            registers[line["reg"]] = done.memory[line["buf"]][cell]
            done.accesses.append(("read", line["buf"], cell))
        elif line["op"] == "store":
            done.memory[line["buf"]][cell] = registers[line["reg"]]
            done.accesses.append(("write", line["buf"], cell))
        else:
            registers[line["reg"]] = compute(line, registers)


def _told(value: Any) -> Any:
    """A number, of which JSON has some as texts."""
    return float(value) if isinstance(value, str) else value


def formula(lane: Json) -> str:
    """The number of accesses: "7N", or "6N + 2" where something is read before the loop; "" for a
    lane that has been run already.
    """
    if "steps" in lane:
        return ""
    accesses = [line for step in lane["passes"] for line in step["body"] if "buf" in line]
    once = sum(bool(line.get("once")) for line in accesses)
    return f"{len(accesses) - once}N" + (f" + {once}" if once else "")


def _filled(buffer: Json, n: int) -> dict[int, Any]:
    if buffer["role"] != "input":
        return {}
    values = buffer["values"]
    size = 1 if buffer.get("one") else n
    return {i: rounded(float(values[i % len(values)]), buffer["dtype"]) for i in range(size)}


def compute(line: Json, registers: Json) -> Any:
    """The value of one statement that touches no array."""
    if line["op"] == "const":
        return rounded(float(line["value"]), line["dtype"])
    values = [registers[name] for name in line["args"]]
    fn = PRIMITIVES[line["op"]].fn if line["op"] != "to_dtype" else (lambda value: value)
    return rounded(fn(*values), line["dtype"])


def rounded(value: Any, dtype: str) -> Any:
    """A Python number as an array of that dtype would hold it."""
    kind = "bool" if dtype == "bool" else dtype
    with numpy.errstate(all="ignore"):
        return numpy.dtype(kind).type(value).item()


def saved(separate: Run, fused: Run) -> list[bool]:
    """For each access of the separate lane: is it one that the fused lane does not make?"""
    left = fused.marks
    told = []
    for access in separate.accesses:
        told.append(left[access] <= 0)
        left[access] -= 1
    return told
