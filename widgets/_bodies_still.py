"""LoopStepper's last frame as SVG: the body's questions, and what all six handlers answered.

In: a body of the widget's trace (`static/bodies.js` has its schema).  Out: SVG text.
Invariant: every text is a handler's answer; nothing is computed here but sums.
"""

from __future__ import annotations

from typing import Any

from ._svg import INK, LINE, PANEL, QUIET, Picture, clip
from ._words import counted

Json = dict[str, Any]
WIDTH, PAD, ROW = 800, 16, 20
ASK, COLUMN = 256, 84  # the room of a question, of an answer
NAMES = {"show": "as text", "reads": "reads, writes", "count": "count", "numba": "CPU kernel",
         "cuda": "CUDA kernel"}
COUNTED = {"loads": "loads", "stores": "stores"}


def told_by(handler: Json, turn: int) -> Json:
    """Answers and lines of a handler; of the interpreter those of one turn of the loops."""
    if "turns" not in handler:
        return handler
    turns = handler["turns"]
    told = turns[min(turn, len(turns) - 1) if turn >= 0 else -1]
    lines = [{"text": step["note"], "since": k} for k, step in enumerate(told["steps"])]
    return {**handler, **told, "lines": lines}


def result_of(handler: Json, turn: int) -> str:
    """What a handler came to: "12 accesses", "mul[3] = 6 at i0 = 3"."""
    told = told_by(handler, turn)
    lines = told["lines"]
    if handler["id"] == "interpret":
        last = [line["text"] for line in lines if line["text"]][-1]
        return f"{last} at {told['at']}" if told["at"] else last
    if handler["id"] == "reads":
        read, wrote = (_places(lines, mark) for mark in ("read", "write"))
        return f"reads {read}; writes {wrote}"
    if handler["id"] == "count":
        total = sum(line["n"] for line in lines if line["table"] in COUNTED)
        return f"{total} access{'' if total == 1 else 'es'}"
    return counted(len(lines), "lines")


def _places(lines: list[Json], mark: str) -> str:
    return ", ".join(line["text"] for line in lines if line["mark"] == mark) or "nothing"


def body_picture(function: str, body: Json, when: str, turn: int) -> str:
    questions = body["questions"]
    told = [told_by(handler, turn) for handler in body["handlers"]]
    results = [result_of(handler, turn) for handler in body["handlers"]]
    label = f"{function}, {body['title']}, {when} fusion: {'; '.join(results)}"
    picture = Picture(WIDTH, label)
    picture.text(PAD, 30, "One loop body, six answers", size=16, bold=True)
    title = f"{function}, {when} fusion: {body['title']}"
    picture.text(PAD, 52, clip(title, WIDTH - 2 * PAD, 13), size=13, fill=QUIET)
    height = ROW * (len(questions) + len(body["sections"]) + 2) + 20
    picture.rect(PAD, 66, WIDTH - 2 * PAD, height, 8, fill=PANEL, stroke="#dddddd")
    y = 86.0
    at = next(handler["at"] for handler in told if "at" in handler)
    heads = [NAMES.get(handler["id"], at) for handler in told]
    for k, head in enumerate(heads):
        style: Json = {"size": 11, "bold": True, "fill": QUIET}
        picture.text(_column(k), y, clip(head, COLUMN, 11), **style)
    firsts = {section["first"]: section["head"] for section in body["sections"]}
    for q, question in enumerate(questions):
        if q in firsts:
            y += ROW
            picture.text(PAD + 12, y, clip(firsts[q], ASK), code=True, bold=True)
        y += ROW
        picture.text(PAD + 30, y, clip(question["text"], ASK - 22, 11), size=11, code=True)
        for k, handler in enumerate(told):
            answer = _cell(handler, handler["steps"][q])
            picture.text(_column(k), y, clip(answer, COLUMN, 11), size=11, code=True, fill=INK)
    picture.line(PAD + 12, y + 8, WIDTH - PAD - 12, y + 8, stroke=LINE)
    for k, handler in enumerate(told):
        said = _short(handler, results[k])
        picture.text(_column(k), y + ROW + 4, clip(said, COLUMN, 11), size=12, bold=True)
    return picture.render(66 + height + PAD)


def _short(handler: Json, result: str) -> str:
    """A result in the room of a column."""
    if handler["id"] == "reads":
        return counted(len(handler["lines"]), "places")
    return result.split(" = ")[1].split(" at ")[0] if handler["id"] == "interpret" else result


def _column(k: int) -> float:
    return PAD + 12 + ASK + k * COLUMN


def _cell(handler: Json, step: Json) -> str:
    """As `cellOf` in static/bodies.js."""
    if handler["id"] == "count":
        return next((f"+{add['n']} {add['table']}" for add in step["adds"]), "·")
    if handler["id"] == "reads":
        return step["note"] or "·"
    return step["answer"] or "–"
