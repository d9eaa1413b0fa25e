"""The user's source for KernelLens: the lines of a function, cut where operations begin and end.

In: graph nodes with origins.  Out: rows {no, text, kin, pieces: [{text, kin}]}; a row without a
number is a heading.
Invariant: a piece is kin to the operation whose columns reach over it most closely, as CPython's
bytecode has them; what is computed in other functions stands below, a heading before each file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from labcore.graph import Node
from labcore.trace import Origin

from ._listing import Listing, source_of
from ._recording import code_of, original

Json = dict[str, Any]
Span = tuple[int, int, list[str]]


class Sources:
    """`rows` tells where some nodes come from, `line` the number of one's line."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        code = code_of(original(fn))
        self.main: Listing | None = None
        if code is not None:
            lines, indent = source_of(code.co_filename, code.co_firstlineno)
            if lines:
                self.main = Listing(
                    code.co_filename, code.co_name, code.co_firstlineno, lines, indent
                )

    def line(self, node: Node) -> int | None:
        return node.origin.line if node.origin is not None else None

    def rows(self, nodes: Sequence[tuple[str, Node]]) -> list[Json]:
        by_line: dict[tuple[str, int], list[tuple[str, Origin]]] = {}
        for key, node in nodes:
            if node.origin is not None:
                place = node.origin.file, node.origin.line
                by_line.setdefault(place, []).append((key, node.origin))
        rows: list[Json] = []
        if self.main is not None:
            for no, text in enumerate(self.main.lines, self.main.first):
                there = by_line.pop((self.main.file, no), [])
                rows.append(_row(no, text, self.main.indent, there))
        return rows + _elsewhere(by_line)


def _elsewhere(by_line: dict[tuple[str, int], list[tuple[str, Origin]]]) -> list[Json]:
    rows: list[Json] = []
    before = ""
    for (_, no), there in sorted(by_line.items(), key=lambda item: item[0]):
        origin = there[0][1]
        head = f"{origin.function or origin.file_name} ({origin.file_name})"
        if head != before:
            rows.append({"text": head, "kin": []})
            before = head
        text = origin.source.expandtabs(4).rstrip()
        margin = len(text) - len(text.lstrip())
        rows.append(_row(no, text[margin:], margin, there))
    return rows


def _row(no: int, text: str, indent: int, there: list[tuple[str, Origin]]) -> Json:
    spans: dict[tuple[int, int], list[str]] = {}
    for key, origin in there:
        spans.setdefault(_columns(origin, text, indent), []).append(key)
    kin = list(dict.fromkeys(key for key, _ in there))
    row: Json = {"no": no, "text": text, "kin": kin}
    if spans:
        row["pieces"] = _pieces(text, [(a, b, keys) for (a, b), keys in spans.items()])
    return row


def _columns(origin: Origin, text: str, indent: int) -> tuple[int, int]:
    """An origin's columns in characters of the shown line: CPython counts UTF-8 bytes."""
    if origin.column < 0:
        return len(text) - len(text.lstrip()), len(text)
    raw = (" " * indent + text).encode()
    one_line = origin.end_line in (-1, origin.line) and origin.end_column >= 0
    ends = origin.column, origin.end_column if one_line else len(raw)
    start, end = (max(0, len(raw[:e].decode(errors="replace")) - indent) for e in ends)
    return start, end


def _pieces(text: str, spans: list[Span]) -> list[Json]:
    """The line cut at every span's ends; each piece belongs to the shortest span over it."""
    cuts = sorted({0, len(text), *(c for a, b, _ in spans for c in (a, b) if 0 <= c <= len(text))})
    pieces: list[Json] = []
    for a, b in zip(cuts, cuts[1:]):
        over = [span for span in spans if span[0] <= a and b <= span[1]]
        kin = min(over, key=lambda span: span[1] - span[0])[2] if over else []
        pieces.append({"text": text[a:b], "kin": kin})
    return pieces
