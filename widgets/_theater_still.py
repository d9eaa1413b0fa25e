"""The theater's last frame as SVG: one row a call, with every guard that was asked, and what came
of it.

In: the theater's trace (`static/theater.js` has its schema).  Out: SVG text.  Invariant: a mark is
an event.
"""

from __future__ import annotations

from typing import Any

from ._svg import FAIL, LINE, LIVE, OK, QUIET, SOFT, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, ROW = 800, 16, 44
RESULTS = {
    "hit": ("✓ hit {}", OK),
    "compiled": ("compiled {}", LIVE),
    "eager": ("ran in Python", QUIET),
    "raised": ("raised", FAIL),
}


def theater_picture(trace: Json, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    picture = Picture(WIDTH, summary)
    picture.text(
        PAD, 30, f"{trace['function']}: which variant answers each call", size=16, bold=True
    )
    picture.text(PAD, 52, summary, size=13, fill=QUIET)
    y = 72.0
    for number, call in enumerate(trace["calls"]):
        beats = [beat for beat in trace["events"] if beat["call"] == number]
        y = _call(picture, call, beats, y)
    y = _variants(picture, trace["variants"], y + 8)
    return picture.render(y + PAD)


def _call(picture: Picture, call: Json, beats: list[Json], y: float) -> float:
    ended = next(
        (b for b in beats if b["kind"] == "return"), {"result": "unfinished", "variant": ""}
    )
    said, ink = RESULTS.get(ended["result"], (ended["result"], QUIET))
    picture.rect(PAD, y, 150, 34, 8, fill=SOFT.get(ink, "#ffffff"), stroke=ink)
    picture.text(PAD + 10, y + 15, clip(call["label"], 136), code=True, bold=True)
    picture.text(PAD + 10, y + 28, said.format(ended["variant"]), size=11, fill=ink, bold=True)
    x, line = PAD + 166.0, y
    for variant, guards in _asked(beats):
        width = 52 + 17.0 * len(guards)
        if x + width > WIDTH - 150:
            x, line = PAD + 166.0, line + 26
        picture.text(x, line + 21, variant, code=True, bold=True, fill=LIVE)
        for k, beat in enumerate(guards):
            picture.check(x + 44 + 17 * k, line + 10, beat["ok"])
        x += width + 10
    if any(beat["kind"] == "miss" for beat in beats):
        made = any(beat["kind"] == "variant" for beat in beats)
        again = any(beat.get("again") for beat in beats)
        said = ("miss: compile again" if again else "miss: compile") if made else "miss"
        picture.text(x, line + 21, said, fill=FAIL)
    return line + ROW


def _asked(beats: list[Json]) -> list[tuple[str, list[Json]]]:
    """The guards asked in this call, variant by variant, in order."""
    groups: list[tuple[str, list[Json]]] = []
    for beat in beats:
        if beat["kind"] == "guard":
            if not groups or groups[-1][0] != beat["variant"]:
                groups.append((beat["variant"], []))
            groups[-1][1].append(beat)
    return groups


def _variants(picture: Picture, variants: list[Json], y: float) -> float:
    """Two cards a line: the tag, the title, and the guards in the order of asking."""
    width = (WIDTH - 2 * PAD - 16) / 2
    for first in range(0, len(variants), 2):
        pair = variants[first : first + 2]
        height = 62.0 + 17 * max(len(v["guards"]) + ("stop" in v) for v in pair)
        for k, variant in enumerate(pair):
            x = PAD + k * (width + 16)
            eager = variant["result"] == "eager"
            picture.rect(x, y, width, height, 8, fill="#ffffff", stroke=LINE, dashed=eager)
            picture.rect(x, y, width, 4, 2, fill=QUIET if eager else LIVE)
            picture.text(x + 12, y + 24, variant["id"], code=True, bold=True, fill=LIVE)
            picture.text(x + 52, y + 24, clip(variant["title"], width - 64), code=True, bold=True)
            for j, guard in enumerate(variant["guards"]):
                picture.text(
                    x + 12, y + 44 + 17 * j, clip(guard["text"], width - 24, 11), size=11, code=True
                )
            stop = variant.get("stop")
            if stop:
                told = (
                    f"◆ line {stop['line']}: {stop['what']}"
                    if "line" in stop
                    else f"◆ {stop['what']}"
                )
                picture.text(
                    x + 12,
                    y + height - 26,
                    clip(told, width - 24, 11),
                    size=11,
                    bold=True,
                    fill=FAIL,
                )
            runs = (
                "runs the function in Python"
                if eager
                else f"runs {', '.join(variant['kernels']) or 'the graph'}"
            )
            picture.text(x + 12, y + height - 8, clip(runs, width - 24, 11), size=11, fill=QUIET)
        y += height + 12
    return y
