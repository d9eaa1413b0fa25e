"""The four sums as SVG, with a textbook's figures; measured ones change from run to run.

In: the figures (`static/amortize.js` has the fields), the four sentences.  Out: SVG text.
"""

from __future__ import annotations

from collections.abc import Iterable

from ._svg import FAIL, INK, LINE, LIVE, QUIET, SOFT, Picture

WIDTH, PAD, HALF = 800, 16, 384
Figures = dict[str, dict[str, float]]


def amortize_picture(figures: Figures, sentences: Iterable[str]) -> str:
    said = list(sentences)
    picture = Picture(WIDTH, "; ".join(said))
    picture.text(PAD, 30, "Does compiling pay?", size=16, bold=True)
    places = [(PAD, 52), (PAD + HALF, 52), (PAD, 232), (PAD + HALF, 232)]
    drawings = (_launches, _break_even, _variants, _breaks)
    for (mode, values), draw, sentence, (x, y) in zip(figures.items(), drawings, said, places):
        picture.text(x, y + 12, mode.replace("_", "-"), size=11, bold=True, fill=QUIET)
        draw(picture, values, x, y + 22)
        picture.text(x, y + 160, sentence, size=11, code=True)
    return picture.render(412)


def _launches(picture: Picture, v: dict[str, float], x: float, y: float) -> None:
    scale = (HALF - 40) / (v["compute"] + v["kernels"] * v["launch"])
    for row, part in enumerate(("", "fused_")):
        count, work = int(v[part + "kernels"]), v[part + "compute"]
        at = x
        for _ in range(count):
            picture.rect(at, y + 60 * row, v["launch"] * scale, 34, 0, fill="#ffffff", stroke=LINE)
            at += v["launch"] * scale
            fill = LIVE if part else LINE
            picture.rect(at, y + 60 * row, work / count * scale, 34, 0, fill=fill)
            at += work / count * scale


def _lines(picture: Picture, x: float, y: float, slow: tuple[float, float],
           fast: tuple[float, float]) -> None:
    """Two straight lines, (start, step), to half as far again as where they meet."""
    meet = (fast[0] - slow[0]) / (slow[1] - fast[1])
    steps = 1.5 * meet
    most = max(start + step * steps for start, step in (slow, fast))
    right, base = HALF - 40, 118
    height = lambda seconds: y + base - seconds / most * base
    picture.line(x, y + base, x + right, y + base, stroke=LINE)
    for (start, step), ink in ((slow, LINE), (fast, LIVE)):
        end = height(start + step * steps)
        picture.line(x, height(start), x + right, end, stroke=ink, thick=2)
    at = x + right / 1.5
    picture.rect(at - 5, height(slow[0] + slow[1] * meet) - 5, 10, 10, 5, fill="#ffffff",
                 stroke=INK, thick=2)
    picture.text(at, y + base + 14, f"{meet:,.0f}", size=11, anchor="middle")


def _break_even(picture: Picture, v: dict[str, float], x: float, y: float) -> None:
    _lines(picture, x, y, (0, v["eager"]), (v["compiling"], v["compiled"]))


def _variants(picture: Picture, v: dict[str, float], x: float, y: float) -> None:
    """The time beyond what the faster steps take."""
    more = v["dynamic_step"] - v["static_step"]
    _lines(picture, x, y, (v["dynamic"], more), (v["variants"] * v["each"], 0))


def _breaks(picture: Picture, v: dict[str, float], x: float, y: float) -> None:
    count = int(v["breaks"]) + 1
    step = (HALF - 40) / count
    for k in range(count):
        picture.rect(x + k * step + 8, y + 36, step - 16, 46, 8, fill=SOFT[LIVE], stroke=LIVE)
        if k:
            picture.rect(x + k * step - 5, y + 54, 10, 10, 5, fill=FAIL)
