"""The stepper's last frame as SVG: each line with the nodes that came from it, and the guards.

In: the stepper's trace (`static/stepper.js` has its schema).  Out: SVG text.
Invariant: a pill is a node that capture wrote while it read that line; no instruction is named, as
those differ from one Python to the next.
"""

from __future__ import annotations

from typing import Any

from ._svg import FAIL, INK, LINE, LIVE, PANEL, QUIET, SOFT, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, ROW = 800, 16, 24
CODE, LETTER = 330, 7.3  # the room for code, the width of its characters
MOST_LINES, MOST_GUARDS = 40, 16


def stepping_picture(trace: Json, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    picture = Picture(WIDTH, summary)
    picture.text(PAD, 30, f"{trace['function']}: what capture wrote down", size=16, bold=True)
    picture.text(PAD, 52, clip(summary, WIDTH - 2 * PAD, 13), size=13, fill=QUIET)
    rows = [row for number in range(len(trace["listings"])) for row in _rows(trace, number)]
    picture.rect(PAD, 66, WIDTH - 2 * PAD, ROW * len(rows) + 10, 8, fill=PANEL, stroke="#dddddd")
    y = 71.0
    for row in rows:
        _row(picture, trace, row, y)
        y += ROW
    return picture.render(_guards(picture, trace["guards"], y + 28) + PAD)


def _rows(trace: Json, number: int) -> list[Json]:
    """The lines of a listing; of a long one those that nodes came from."""
    listing = trace["listings"][number]
    first, lines = listing["first"], listing["lines"]
    used = {node["line"] for node in trace["nodes"] if node.get("code") == number}
    rows: list[Json] = []
    if number:
        rows.append({"code": number, "line": 0, "text": f"in {listing['name']}:"})
    for n, text in enumerate(lines, first):
        if len(lines) <= MOST_LINES or n == first or n in used:
            rows.append({"code": number, "line": n, "text": text})
        elif rows[-1]["text"] != "…":
            rows.append({"code": number, "line": 0, "text": "…"})
    return rows


def _row(picture: Picture, trace: Json, row: Json, y: float) -> None:
    stop = trace.get("stop", {})
    text, number = row["text"], row["line"]
    if number and number == stop.get("line"):
        picture.rect(PAD + 40, y + 2, CODE - 20, ROW - 4, 3, fill=SOFT[FAIL])
        picture.text(PAD + 28 + CODE, y + 17, "◆", size=14, fill=FAIL, anchor="middle")
    if number:
        style: Json = {"size": 11, "code": True, "fill": QUIET, "anchor": "end"}
        picture.text(PAD + 34, y + 16, str(number), **style)
    inset = LETTER * (len(text) - len(text.lstrip()))  # SVG drops spaces at the front
    told = clip(text.strip(), CODE - inset - 24)
    picture.text(PAD + 44 + inset, y + 16, told, code=True, fill=INK if number else QUIET)
    x = PAD + CODE + 44.0
    nodes = [n for n in trace["nodes"] if (n.get("code"), n.get("line")) == (row["code"], number)]
    for n, node in enumerate(nodes):
        width = 14 + 6.8 * len(node["text"])
        if x + width > WIDTH - PAD - 60 and n < len(nodes) - 1 or x + width > WIDTH - PAD - 10:
            more = f"and {len(nodes) - n} more"
            picture.text(x, y + 16, more, size=11, fill=QUIET)
            return
        gone = bool(node.get("dropped"))
        fill, ink = ("#ffffff", LINE) if gone else (SOFT[LIVE], LIVE)
        picture.rect(x, y + 3, width, ROW - 6, 9, fill=fill, stroke=ink, dashed=gone)
        style = {"size": 11, "code": True, "fill": QUIET if gone else INK, "anchor": "middle"}
        picture.text(x + width / 2, y + 16, node["text"], **style)
        x += width + 6


def _guards(picture: Picture, guards: list[Json], y: float) -> float:
    """Two columns of guards."""
    picture.text(PAD, y, f"guards: {len(guards)}", size=13, bold=True)
    shown = guards[:MOST_GUARDS]
    half = (len(shown) + 1) // 2
    room = (WIDTH - 3 * PAD) / 2
    for n, guard in enumerate(shown):
        x, row = PAD + (room + PAD) * (n // half), n % half
        told = clip(guard["text"], room, 11)
        picture.text(x, y + 20 + 17 * row, told, size=11, code=True)
    if len(guards) > MOST_GUARDS:
        picture.text(PAD, y + 22 + 17 * half, f"and {len(guards) - MOST_GUARDS} more", size=11)
    return y + 12 + 17 * (half + (len(guards) > MOST_GUARDS))
