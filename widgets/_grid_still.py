"""GridView's last frame as SVG: each kernel with its launch, its reason and its traffic.

In: the view's trace (`static/grid.js` has its schema).  Out: SVG text.
"""

from __future__ import annotations

from typing import Any

from ._svg import FAIL, INK, LINE, OK, PANEL, QUIET, READ, WRITE, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, ROW, BAR = 800, 16, 22, 180


def grid_picture(trace: Json, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    picture = Picture(WIDTH, summary)
    picture.text(PAD, 30, f"{trace['function']}: what the warps ask for", size=16, bold=True)
    y = 52.0
    for kernel in trace["kernels"]:
        rows = [*kernel["traffic"], *kernel["shared"]]
        height = 54 + ROW * len(rows)
        picture.rect(PAD, y, WIDTH - 2 * PAD, height, 8, fill=PANEL, stroke="#dddddd")
        title = f"{kernel['name']}[{sizes(kernel['grid'])}, {sizes(kernel['block'])}]"
        picture.text(PAD + 12, y + 20, clip(title, WIDTH - 60), code=True, bold=True)
        said = f"{kernel['form']}: {kernel['reason']}"
        picture.text(PAD + 12, y + 38, clip(said, WIDTH - 60), size=12, fill=QUIET)
        for n, row in enumerate(rows):
            _row(picture, row, y + 46 + ROW * n)
        y += height + 12
    return picture.render(y + 4)


def sizes(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def _row(picture: Picture, row: Json, y: float) -> None:
    """An array: its accesses, and how much of what was carried for it was wanted."""
    picture.text(PAD + 12, y + 15, clip(row["array"], 150), code=True)
    if "requests" in row:
        told = f"shared: {row['requests']} requests, {row['lost']} turns lost to banks"
        picture.text(PAD + 170, y + 15, told, size=12, fill=FAIL if row["lost"] else INK)
        return
    reads, writes = row["reads"], row["writes"]
    kinds = [f"{reads} read"] * bool(reads) + [f"{writes} written"] * bool(writes)
    picture.text(PAD + 170, y + 15, ", ".join(kinds), fill=READ if reads else WRITE)
    share = row["fewest"] / row["sectors"] if row["sectors"] else 1.0
    picture.rect(PAD + 330, y + 4, BAR, 13, 3, stroke=LINE)
    picture.rect(PAD + 330, y + 4, BAR * share, 13, 3, fill=OK if share > 0.9 else FAIL)
    told = f"{row['sectors']} sectors, {row['fewest']} would do"
    picture.text(PAD + 330 + BAR + 10, y + 15, told, size=12, fill=QUIET)
