"""The user's source as a widget lists it, and where an event's line stands in it.

In: files and first lines of code objects.  Out: listings, numbered in the order in which they were
asked for, and places {code, line}.
Invariant: a function defined inside another one's lines is part of that listing; paths stay here,
as they are not the same everywhere.
"""

from __future__ import annotations

import inspect
import linecache
import tokenize
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass
class Listing:
    """`lines` of one function, from `first` on, without their common indentation."""

    file: str
    name: str
    first: int
    lines: list[str]
    indent: int

    def holds(self, file: str, line: int) -> bool:
        return file == self.file and self.first <= line < self.first + len(self.lines)

    def to_json(self) -> Json:
        return {"name": self.name, "first": self.first, "lines": self.lines}


class Listings:
    """`place` finds a line, and takes its function in if it is a new one."""

    def __init__(self) -> None:
        self.all: list[Listing] = []

    def add(self, file: str, first: int, name: str, needed: int = 0) -> int:
        """The number of the listing that has these lines. Where no source can be read, the lines
        up to `needed` are empty.
        """
        number = next((n for n, known in enumerate(self.all) if known.holds(file, first)), None)
        if number is None:
            number = len(self.all)
            lines, indent = source_of(file, first)
            self.all.append(Listing(file, name.rsplit(".", 1)[-1], first, lines, indent))
            if not lines:
                lines.append(f"# {name}: no source")
        listing = self.all[number]
        if listing.lines[0].endswith(": no source"):
            listing.lines += [""] * (needed - first - len(listing.lines) + 1)
        return number

    def find(self, file: str, line: int) -> Json | None:
        """The place of a line, if a listing has it."""
        for number, listing in enumerate(self.all):
            if listing.holds(file, line):
                return {"code": number, "line": line}
        return None

    def columns(self, place: Json, origin: Any) -> list[int] | None:
        """An origin's columns in characters of the listed line, or None where they are unknown."""
        listing = self.all[place["code"]]
        text = listing.lines[place["line"] - listing.first]
        if origin is None or origin.column < 0 or origin.line != place["line"]:
            return None
        one_line = origin.end_line in (-1, origin.line) and origin.end_column >= 0
        raw = (" " * listing.indent + text).encode()
        ends = origin.column, origin.end_column if one_line else len(raw)
        at = [max(0, len(raw[:end].decode(errors="replace")) - listing.indent) for end in ends]
        return at if at[0] < at[1] else None


def source_of(file: str, first: int) -> tuple[list[str], int]:
    """The lines of the function that begins at `first`, and the indentation taken off."""
    rest = linecache.getlines(file)[first - 1 :]
    if not rest:
        return [], 0
    try:
        block = inspect.getblock(rest)
    except (SyntaxError, tokenize.TokenError):
        block = rest[:1]
    lines = [line.rstrip("\n").expandtabs(4) for line in block]
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    indent = min(margins, default=0)
    return [line[indent:].rstrip() for line in lines], indent
