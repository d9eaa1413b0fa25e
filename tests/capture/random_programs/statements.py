"""The templates of statements, each under a line `# weight flavour`, with the place that it fits
in and the variables that it leaves behind, if any.

Loops end: what they go over is short, and what they wait for is counted.
"""

from __future__ import annotations

from .compound_statements import COMPOUND
from .holder_statements import HOLDERS
from .simple_statements import SIMPLE
from .writer import Template


def _parse(text: str) -> list[Template]:
    found = []
    for part in text.split("# ")[1:]:
        head, _, body = part.partition("\n")
        weight, *more = head.split()
        flavour = more.pop(0) if more and more[0] in ("break", "raise") else ""
        said = dict(zip(more[::2], more[1::2]))
        template = Template(
            body.rstrip("\n"), float(weight), said.get("leaves", ""), said.get("in", ""), flavour
        )
        found.append(template)
    return found


STATEMENTS = _parse(SIMPLE + HOLDERS + COMPOUND)
