"""The guard matrix of the last call as SVG.

In: the matrix's trace (`static/matrix.js` has its schema).  Out: SVG text.
Invariant: a mark is an event.
"""

from __future__ import annotations

from ._matrix import Json, Matrix
from ._svg import FAIL, LINE, LIVE, PANEL, QUIET, SOFT, Picture, clip

WIDTH, PAD, ROW, HEAD = 800, 16, 46, 56
WORDS = 58  # a narrower column has marks only


def matrix_picture(matrix: Matrix, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    director = matrix.director
    call = len(director.scores) - 1
    picture = Picture(WIDTH, summary)
    title = f"{director.function}: which guards each variant asks"
    picture.text(PAD, 30, title, size=16, bold=True)
    picture.text(PAD, 52, summary, size=13, fill=QUIET)
    shown = director.trace["calls"][call]
    picture.text(PAD, 82, f"call {call + 1}: {shown['label']}", bold=True, code=True)
    width = min(92.0, (WIDTH - 2 * PAD - 70) / max(1, len(matrix.columns)))
    y = 94.0
    _heads(picture, matrix, width, y)
    y += HEAD
    asked = dict(matrix.asked(call))
    order = [*asked, *(variant for variant in matrix.rows if variant not in asked)]
    for variant in order:
        _row(picture, matrix.rows[variant], variant, asked.get(variant, []), width, y)
        y += ROW
    failed = next((b for beats in asked.values() for b in beats if not b["ok"]), None)
    if failed:
        line = f", line {failed['line']}" if "line" in failed else ""
        told = f"{failed['variant']}: {failed['reason'] or failed['text']}{line}"
        picture.text(PAD, y + 18, clip(told, WIDTH - 2 * PAD), fill=FAIL, bold=True)
        y += 26
    return picture.render(y + PAD)


def _heads(picture: Picture, matrix: Matrix, width: float, y: float) -> None:
    if width < WORDS:
        return
    for k, (kind, source, _) in enumerate(matrix.columns):
        x = PAD + 70 + k * width
        picture.text(x, y + 22, clip(source, width - 6, 11), size=11, code=True, bold=True)
        picture.text(x, y + 38, clip(kind, width - 6, 11), size=11, code=True, fill=QUIET)


def _row(
    picture: Picture, row: list[Json], variant: str, beats: list[Json], width: float, y: float
) -> None:
    picture.rect(PAD, y, WIDTH - 2 * PAD, ROW - 4, 6, fill=PANEL)
    picture.text(PAD + 10, y + 25, variant, code=True, bold=True, fill=LIVE)
    for k, cell in enumerate(row):
        x = PAD + 70 + cell["column"] * width
        beat = beats[k] if k < len(beats) else None
        if beat is None:
            picture.rect(x + 1, y + 5, 12, 12, 6, stroke=LINE, dashed=True)
        else:
            if not beat["ok"]:
                picture.rect(x - 4, y, width, ROW - 4, 4, fill=SOFT[FAIL])
            picture.check(x, y + 4, beat["ok"])
        if width >= WORDS:
            said = cell["expected"] if beat is None or beat["ok"] else f"not {beat['actual']}"
            ink = FAIL if beat is not None and not beat["ok"] else QUIET
            picture.text(x, y + 34, clip(said, width - 6, 11), size=11, code=True, fill=ink)
