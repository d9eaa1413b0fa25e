"""The loop bodies of a race, run in Python: the counts that `repr` states and the last frame of the picture.

In: the race trace (`static/race.js` has its schema).  Out: every array access of a lane for n elements, and memory
afterwards.  Invariant: the same accesses and values as the widget's JavaScript, which runs the same bodies (tested).
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
    """Run every pass of a lane over n elements."""
    buffers = {buffer["name"]: buffer for buffer in trace["buffers"]}
    memory = {name: _filled(buffer, n) for name, buffer in buffers.items()}
    accesses: list[Access] = []
    for step in lane["passes"]:
        for i in range(n):
            registers: dict[str, Any] = {}
            for line in step["body"]:
                cell = 0 if line.get("buf") and buffers[line["buf"]].get("one") else i
                if line["op"] == "load":
                    registers[line["reg"]] = memory[line["buf"]][cell]
                    accesses.append(("read", line["buf"], cell))
                elif line["op"] == "store":
                    memory[line["buf"]][cell] = registers[line["reg"]]
                    accesses.append(("write", line["buf"], cell))
                else:
                    registers[line["reg"]] = compute(line, registers)
    return Run(accesses, memory)


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
