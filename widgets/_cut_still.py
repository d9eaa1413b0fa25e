"""The cut at budget 1 as SVG: forward down on the left, backward up on the right, and between them
the values that wait in memory.

In: the widget's trace (`static/save.js` has its schema).  Out: SVG text.
Invariant: a filled square on the line is a saved value; a violet pill is an operator that runs in
the forward and in the backward.
"""

from __future__ import annotations

from typing import Any

from ._svg import INK, LINE, LIVE, PANEL, QUIET, SOFT, SUNK, WRITE, Picture, clip

Json = dict[str, Any]
WIDTH, PAD, STEP, TALL = 800, 16, 32, 24
PILL, CELL = 198, 64
LEFT, ON, AGAIN, RIGHT = 28.0, 244.0, 328.0, 574.0  # where the columns begin
TOP = 108


def cut_picture(trace: Json, summary: str) -> str:
    """`summary` is the sentence of counts, as `repr` states it."""
    picture = Picture(WIDTH, summary)
    cut = trace["answers"][""]["cuts"][0]
    left, right = left_of(trace["nodes"]), [n for n in trace["nodes"] if _is_late(n)]
    height = STEP * max(len(left), len(right))
    y = {n["name"]: TOP + (k + 0.5) * height / len(left) for k, n in enumerate(left)}
    y |= {
        n["name"]: TOP + height - (k + 0.5) * height / len(right) for k, n in enumerate(right)
    }
    title = f"{trace['function']}: what is saved for the backward"
    picture.text(PAD, 30, title, size=16, bold=True)
    picture.text(PAD, 52, clip(summary, WIDTH - 2 * PAD, 13), size=13, fill=QUIET)
    picture.rect(PAD, 66, WIDTH - 2 * PAD, height + 54, 8, fill=PANEL, stroke="#dddddd")
    middle = ON + CELL / 2
    sides = {"forward": LEFT + PILL / 2, "the cut": middle, "backward": (AGAIN + RIGHT + PILL) / 2}
    for said, x in sides.items():
        picture.text(x, 88, said, size=11, bold=True, fill=QUIET, anchor="middle")
    picture.rect(middle - 1.5, TOP - 10, 3, height + 12, 0, fill=INK)
    _edges(picture, trace["nodes"], cut, y)
    for node in trace["nodes"]:
        if node["name"] in y:
            _marks(picture, node, cut, y[node["name"]])
    return picture.render(_saved(picture, trace, cut, TOP + height + 38) + PAD)


def left_of(nodes: list[Json]) -> list[Json]:
    """The values left of the cut, from top to bottom: an input just before its first reader, and
    what only the backward reads below what it is computed from."""
    by_name = {node["name"]: node for node in nodes}
    order: list[Json] = []
    for node in nodes:
        if node["side"] == "forward":
            sources = [by_name[name] for name in node["args"]]
            order += [s for s in sources if s["side"] == "input" and s not in order]
            order.append(node)
    for node in nodes:
        if node["side"] == "either":
            places = [order.index(by_name[name]) for name in node["args"]]
            order.insert(max(places, default=-1) + 1, node)
    read = {name for node in nodes for name in node["args"]}
    rest = (n for n in nodes if n["side"] == "input" and n["name"] in read and n not in order)
    return [*order, *rest]


def _is_late(node: Json) -> bool:
    return node["side"] in ("tangent", "backward")


def _edges(picture: Picture, nodes: list[Json], cut: Json, y: dict[str, float]) -> None:
    """Across the columns only; within a column the pills name what they read."""
    saved, second = set(cut["saved"]), set(cut["second"])
    late = {node["name"] for node in nodes if _is_late(node)}
    for name in cut["saved"]:
        picture.line(LEFT + PILL, y[name], ON, y[name], stroke=WRITE)
    for node in nodes:
        if node["name"] not in late and node["name"] not in second:
            continue
        to = RIGHT if node["name"] in late else AGAIN
        for name in node["args"]:
            if name in saved:
                picture.line(ON + CELL, y[name], to, y[node["name"]], stroke=WRITE)
            elif name in second and name not in late and to == RIGHT:
                picture.line(AGAIN + PILL, y[name], to, y[node["name"]], stroke=LIVE)


def _marks(picture: Picture, node: Json, cut: Json, y: float) -> None:
    name = node["name"]
    if _is_late(node):
        _pill(picture, node, RIGHT, y, again=False)
        return
    again = name in cut["again"]
    if node["side"] == "input" or name in cut["first"]:
        _pill(picture, node, LEFT, y, again)
    if name in cut["second"]:
        _pill(picture, node, AGAIN, y, again)
    if name in cut["saved"]:
        picture.rect(ON, y - TALL / 2, CELL, TALL, 4, fill=WRITE)
        said = f"{node['bytes']} B"
        style: Json = {"size": 11, "bold": True, "code": True, "anchor": "middle"}
        picture.text(ON + CELL / 2, y + 4, clip(said, CELL, 11), fill="#ffffff", **style)


def _pill(picture: Picture, node: Json, x: float, y: float, again: bool) -> None:
    io = node["side"] in ("input", "tangent")
    fill, ink = (SOFT[LIVE], LIVE) if again else (SUNK if io else "#ffffff", LINE)
    picture.rect(x, y - TALL / 2, PILL, TALL, TALL / 2 if io else 5, fill=fill, stroke=ink)
    said = node["text"] if io else f"{node['name']} = {node['text']}"
    told = clip(said, PILL - 12, 11)
    picture.text(x + PILL / 2, y + 4, told, size=11, code=True, anchor="middle")


def _saved(picture: Picture, trace: Json, cut: Json, y: float) -> float:
    """Each value that the partitioner decided about, with its rule and reason."""
    texts = {node["name"]: node["text"] for node in trace["nodes"] if node["side"] == "input"}
    for name, (rule, detail, _) in cut["why"].items():
        kept = name in cut["saved"]
        picture.text(PAD, y, "saved" if kept else "again", size=12, fill=WRITE if kept else LIVE)
        picture.text(PAD + 56, y, texts.get(name, name), size=12, code=True, bold=True)
        picture.text(PAD + 170, y, clip(f"{rule}: {detail}", WIDTH - PAD - 190), size=12)
        y += 19
    return y
