"""A kernel's machine code for KernelLens: its loops first, the copies that unrolling made counted.

In: a kernel's text, and the kin of its lines.  Out: {same, sections: [{body, loop, turn, lanes,
bits, each, rows}]}, or {none: reason}.
Invariant: kin is the kin of the line that LLVM names; instructions of one loop stand together by
that line, as LLVM mixes the copies; nothing else is moved or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labcore.codegen.assembly import Assembly, Section, assembly_of
from labcore.codegen.instructions import ARITHMETIC

Json = dict[str, Any]


def assembly_json(source: str, vectorize: bool, kin: Mapping[int, list[str]]) -> Json:
    try:
        assembly = assembly_of(source, vectorize)
    except ImportError as error:  # a browser has no numba
        return {"none": str(error)}
    bodies = assembly.bodies
    ordered = [*bodies, *(s for s in assembly.sections if s not in bodies)]
    return {
        "same": assembly.same,
        "sections": [_section(section, section in bodies, kin) for section in ordered],
        "instructions": sum(len(section.instructions) for section in assembly.sections),
        "known": _known(assembly),
    }


def _known(assembly: Assembly) -> bool:
    """Are these instructions that the lab can count?"""
    return any(i.op != "other" for section in assembly.sections for i in section.instructions)


def _section(section: Section, body: bool, kin: Mapping[int, list[str]]) -> Json:
    each = {
        "load": section.each("load"),
        "store": section.each("store"),
        "fma": section.each("fma"),
        "other": section.each(*(op for op in ARITHMETIC if op != "fma")),
        "constant": section.each("constant"),
    }
    return {
        "body": body,
        "loop": section.loop,
        "turn": section.turn,
        "lanes": section.lanes,
        "bits": section.bits,
        "count": len(section.instructions),
        "each": {name: round(value, 2) for name, value in each.items()},
        "rows": _rows(section, kin),
    }


def _rows(section: Section, kin: Mapping[int, list[str]]) -> list[Json]:
    """One row for each mnemonic and access of a line: the first of its kind, and how many."""
    lines = dict.fromkeys(i.line for i in section.instructions)
    rows: list[Json] = []
    for line in lines:
        groups: dict[tuple[str, str], Json] = {}
        for each in section.instructions:
            if each.line != line:
                continue
            row = groups.setdefault((each.mnemonic, each.access), {
                "text": each.text, "times": 0, "op": each.op, "lanes": each.lanes,
                "access": each.access, "line": line, "kin": kin.get(line, []),
            })  # fmt: skip
            row["times"] += 1
        rows += groups.values()
    return rows
