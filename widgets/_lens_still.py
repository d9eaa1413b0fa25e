"""KernelLens as SVG: the statements of one kernel, each with its graph node and the user's line.

In: a kernel of the widget's trace (`static/lens.js` has its schema).  Out: SVG text.
Invariant: what is drawn is the same on every machine: statements, no machine code.
"""

from __future__ import annotations

from typing import Any

from ._svg import INK, LIVE, PANEL, QUIET, READ, WRITE, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, ROW = 800, 16, 20
LEFT, MIDDLE, RIGHT = PAD + 12, 330, 480
INKS = {"read": READ, "write": WRITE, "live": LIVE}


def lens_picture(function: str, kernel: Json, form: str) -> str:
    rows = kernel["stages"][form]
    known = {kin["id"]: kin for kin in kernel["kin"]}
    label = f"{function}: {kernel['name']}, {len(rows)} lines, each with its origin"
    picture = Picture(WIDTH, label)
    picture.text(PAD, 30, "One operation, five levels", size=16, bold=True)
    title = f"{function}, {kernel['phase']}: {kernel['name']}"
    picture.text(PAD, 52, clip(title, WIDTH - 2 * PAD, 13), size=13, fill=QUIET)
    picture.rect(PAD, 66, WIDTH - 2 * PAD, ROW * (len(rows) + 1) + 16, 8, fill=PANEL,
                 stroke="#dddddd")
    for x, head in ((LEFT, "kernel"), (MIDDLE, "graph"), (RIGHT, "your line")):
        picture.text(x, 85, head, size=11, bold=True, fill=QUIET)
    lines = {row["no"]: row["text"].strip() for row in kernel["stages"]["source"] if "no" in row}
    y = 105.0
    for row in rows:
        kin = next((known[key] for key in row["kin"] if key in known), None)
        _mark(picture, y, kin)
        picture.text(LEFT, y, clip(_spaced(row["text"]), MIDDLE - LEFT - 12), code=True)
        if kin is not None:
            picture.text(MIDDLE, y, clip(kin.get("node", ""), RIGHT - MIDDLE - 12), code=True,
                         fill=QUIET)
            no = kin.get("line")
            if no is not None:
                text = f"{no}  {lines.get(no, '')}"
                picture.text(RIGHT, y, clip(text, WIDTH - PAD - RIGHT - 8), code=True, fill=INK)
        y += ROW
    if "library" in kernel:
        picture.text(PAD, y + 16, clip(kernel["library"], WIDTH - 2 * PAD, 11), size=11, fill=QUIET)
    return picture.render(y + PAD + (20 if "library" in kernel else 4))


def _mark(picture: Picture, y: float, kin: Json | None) -> None:
    """A hollow square reads, a solid one writes, a pill computes."""
    if kin is None:
        return
    role = kin["role"]
    ink = INKS[role]
    if role == "live":
        picture.rect(PAD - 7, y - 8, 14, 8, 4, fill="#ffffff", stroke=ink)
    else:
        picture.rect(PAD - 5, y - 9, 10, 10, 2, fill=ink if role == "write" else "#ffffff",
                     stroke=ink, thick=2)


def _spaced(text: str) -> str:
    """SVG runs spaces together: those in front become ones that stay."""
    bare = text.lstrip()
    return "\u00a0" * (len(text) - len(bare)) + bare
