"""The map's last frame as SVG: the source with its regions beside it, breaks with their reasons.

In: the map's trace (`static/map.js` has its schema).  Out: SVG text.
Invariant: a bar is a region that ran, a diamond a break that was met.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ._svg import FAIL, INK, LINE, PANEL, QUIET, SOFT, TINTS, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, ROW = 800, 16, 18
MOST, BAR = 430, 30  # how wide the code may be, and a region's column
LETTER = 7.3  # the width of a character of code
FOLD, AROUND = 40, 1  # longer functions are folded; lines kept around what matters


def map_picture(trace: Json, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    picture = Picture(WIDTH, summary)
    picture.text(PAD, 30, f"{trace['function']}: where the graph breaks", size=16, bold=True)
    picture.text(PAD, 52, summary, size=13, fill=QUIET)
    rows = [row for number in range(len(trace["listings"])) for row in _rows(trace, number)]
    at = {(row["code"], row["line"]): 72.0 + ROW * n for n, row in enumerate(rows)}
    bottom = 72.0 + ROW * len(rows)
    longest = max(len(row["text"]) for row in rows)
    bars = PAD + min(MOST, 60 + LETTER * longest)  # where the columns of regions begin
    columns = _columns(trace["regions"])
    lane = bars + BAR * (max(columns.values(), default=0) + 1) + 16
    most = max(Counter(map(_place, trace["breaks"])).values(), default=1)  # on one line
    picture.rect(PAD, 66, lane - 2 + 22 * most, bottom - 60, 8, fill=PANEL, stroke="#dddddd")
    for stop in trace["breaks"]:
        y = at.get((stop["code"], stop["line"]))
        if y is not None:
            picture.rect(PAD + 40, y + 1, bars - PAD - 48, ROW - 2, 3, fill=SOFT[FAIL])
    for number, region in enumerate(trace["regions"]):
        _region(picture, region, bars + BAR * columns[region["id"]], at, number)
    for row, y in zip(rows, at.values()):
        _line(picture, row, y, bars - PAD - 50)
    for number, stop in enumerate(trace["breaks"], 1):
        y = at.get((stop["code"], stop["line"]))
        if y is not None:
            earlier = sum(_place(other) == _place(stop) for other in trace["breaks"][: number - 1])
            _diamond(picture, lane + 22 * earlier, y + ROW / 2 + 2, number)
    return picture.render(_reasons(picture, trace, bottom + 24) + PAD)


def _rows(trace: Json, number: int) -> list[Json]:
    """The lines of a listing that are shown; of a long one those near regions' ends and breaks."""
    listing = trace["listings"][number]
    first, lines = listing["first"], listing["lines"]
    marked = {stop["line"] for stop in trace["breaks"] if stop["code"] == number}
    for region in trace["regions"]:
        marked |= {n for code, a, b in region["runs"] if code == number for n in (a, b)}
    keep = {first, *(n + d for n in marked for d in range(-AROUND, AROUND + 1))}
    rows: list[Json] = []
    if number:
        rows.append({"code": number, "line": 0, "text": f"in {listing['name']}:", "quiet": True})
    for n, text in enumerate(lines, first):
        if len(lines) <= (FOLD if number == 0 else FOLD // 2) or n in keep:
            rows.append({"code": number, "line": n, "text": text, "quiet": False})
        elif not rows or rows[-1]["text"] != "…":
            rows.append({"code": number, "line": -n, "text": "…", "quiet": True})
    return rows


def _columns(regions: list[Json]) -> dict[str, int]:
    """Regions beside each other where they cover the same lines; at most six columns."""
    placed: list[list[Json]] = []
    columns: dict[str, int] = {}
    for region in regions:
        free = (n for n, col in enumerate(placed) if not any(_meet(region, r) for r in col))
        column = next(free, len(placed) if len(placed) < 6 else 5)
        if column == len(placed):
            placed.append([])
        placed[column].append(region)
        columns[region["id"]] = column
    return columns


def _meet(one: Json, other: Json) -> bool:
    """Do the two reach over the same lines?"""
    mine, theirs = _spans(one), _spans(other)
    both = mine.keys() & theirs.keys()
    return any(mine[c][0] <= theirs[c][1] and theirs[c][0] <= mine[c][1] for c in both)


def _spans(region: Json) -> dict[int, tuple[int, int]]:
    """From a region's first line to its last, in each listing."""
    runs = region["runs"]
    return {
        code: (min(r[1] for r in runs if r[0] == code), max(r[2] for r in runs if r[0] == code))
        for code in {run[0] for run in runs}
    }


def _place(stop: Json) -> tuple[int, int]:
    return stop["code"], stop["line"]


def _region(
    picture: Picture, region: Json, x: float, at: dict[tuple[int, int], float], number: int
) -> None:
    """A bar for each run of lines, joined by a thin line."""
    ink, soft = TINTS[number % len(TINTS)]
    middle, before = x + (BAR - 8) / 2, 0.0
    for code, first, last in region["runs"]:
        found = [y for (c, line), y in at.items() if c == code and first <= abs(line) <= last]
        if not found:
            continue
        top, end = min(found), max(found) + ROW
        if before:
            picture.rect(middle - 0.75, before, 1.5, top - before, 0, fill=ink)
        picture.rect(x, top + 1, BAR - 8, end - top - 2, 6, fill=soft, stroke=ink)
        if not before:
            style: Json = {"size": 12, "bold": True, "fill": ink, "anchor": "middle"}
            picture.text(middle, top + 14, region["id"], **style)
        before = end


def _line(picture: Picture, row: Json, y: float, room: float) -> None:
    number, text = row["line"], row["text"]
    if number > 0:
        style: Json = {"size": 11, "code": True, "fill": QUIET, "anchor": "end"}
        picture.text(PAD + 34, y + 14, str(number), **style)
    inset = LETTER * (len(text) - len(text.lstrip()))  # SVG drops spaces at the front
    fill = QUIET if row["quiet"] else INK
    told = clip(text.strip(), room - inset)
    picture.text(PAD + 44 + inset, y + 14, told, code=True, fill=fill)


def _diamond(picture: Picture, x: float, y: float, number: int) -> None:
    picture.text(x, y + 3, "◆", size=15, fill=FAIL, anchor="middle")
    picture.text(x + 10, y + 2, str(number), size=11, bold=True, fill=FAIL)


def _reasons(picture: Picture, trace: Json, y: float) -> float:
    """Each break with its reason and what would flip it; then each region's operators."""
    room = WIDTH - 2 * PAD - 24
    for number, stop in enumerate(trace["breaks"], 1):
        what = stop.get("what", "CPython runs the rest of the function")
        picture.text(PAD, y, f"◆{number}", size=13, bold=True, fill=FAIL)
        told = clip(f"line {stop['line']}: {what}", room, 13)
        picture.text(PAD + 28, y, told, size=13, bold=True)
        if "hint" in stop:
            picture.text(PAD + 28, y + 17, clip(stop["hint"], room, 11), size=11, fill=QUIET)
            y += 17
        y += 22
    for number, region in enumerate(trace["regions"]):
        names = ", ".join(node["text"] for node in region["nodes"] if node["op"] == "call")
        ink, _ = TINTS[number % len(TINTS)]
        picture.text(PAD, y, region["id"], size=13, bold=True, fill=ink)
        picture.text(PAD + 28, y, region["code"], size=12, code=True, fill=LINE)
        told = clip(names or "no tensor operator", room - 40, 12)
        picture.text(PAD + 66, y, told, size=12, code=True)
        y += 19
    return y
