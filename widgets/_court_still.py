"""FusionCourt's last frame as SVG: the loops that are left, and the verdict on every pair tried.

In: the widget's trace (`static/court.js` has its schema).  Out: SVG text.
Invariant: a card is an operator, a frame around cards is a loop of the schedule.
"""

from __future__ import annotations

from typing import Any

from ._svg import FAIL, INK, LINE, OK, PANEL, QUIET, TINTS, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, CARD, GAP = 800, 16, 104, 8


def court_picture(trace: Json, summary: str, memory: str) -> str:
    """`summary` and `memory` are sentences of counts, as `repr` states them."""
    picture = Picture(WIDTH, f"{trace['function']}: {summary}")
    picture.text(PAD, 30, "Which loops may be one?", size=16, bold=True)
    picture.text(PAD, 52, clip(f"{trace['function']}: {summary}", WIDTH - 2 * PAD, 13), size=13,
                 fill=QUIET)
    y = _loops(picture, trace, 66.0)
    for event in trace["events"]:
        y = _verdict(picture, event, y)
    picture.text(PAD, y + 11, memory, size=12, fill=QUIET)
    return picture.render(y + PAD + 14)


def _loops(picture: Picture, trace: Json, y: float) -> float:
    """A frame for each loop, its operators in it in the order of the graph."""
    order = [node["name"] for node in trace["nodes"]]
    externs = {node["name"] for node in trace["nodes"] if "extern" in node}
    last = trace["events"][-1] if trace["events"] else trace["start"]
    x = float(PAD)
    for number, group in enumerate(last["groups"]):
        names = sorted(group, key=order.index)
        for part in _rows(names):
            width = len(part) * (CARD + GAP) + GAP
            if x > PAD and x + width > WIDTH - PAD:
                x, y = float(PAD), y + 52
            ink, soft = TINTS[number % len(TINTS)]
            outside = part[0] in externs
            picture.rect(x, y, width, 42, 10, fill=PANEL if outside else soft, stroke=ink,
                         dashed=outside)
            for k, name in enumerate(part):
                left = x + GAP + k * (CARD + GAP)
                radius = 0 if outside else 5
                picture.rect(left, y + 8, CARD, 26, radius, fill="#ffffff", stroke=LINE)
                picture.text(left + CARD / 2, y + 25, clip(name, CARD, 11), size=11, code=True,
                             anchor="middle")
            x += width + 12
    return y + 62


def _rows(names: list[str]) -> list[list[str]]:
    """At most six operators beside each other."""
    return [names[k : k + 6] for k in range(0, len(names), 6)]


def _verdict(picture: Picture, event: Json, y: float) -> float:
    picture.check(PAD, y, event["ok"])
    pair = f"{event['first']} | {event['second']}"
    picture.text(PAD + 22, y + 11, clip(pair, 190), code=True, bold=True)
    ink = OK if event["ok"] else FAIL
    picture.text(PAD + 224, y + 11, clip(event["rule"], 300), fill=ink)
    if event["saved"]:
        saves = f"saves {event['saved']} bytes"
        picture.text(WIDTH - PAD, y + 11, saves, size=11, fill=QUIET, anchor="end")
    told = event["detail"] if event["ok"] else f"It would flip if {event['flip']}."
    picture.text(PAD + 22, y + 27, clip(told, WIDTH - 2 * PAD - 30, 11), size=11, fill=INK)
    return y + 40


