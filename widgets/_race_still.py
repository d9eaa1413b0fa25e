"""The last frame of the race as SVG: both lanes finished, the saved accesses lit.

In: the race trace and n.  Out: SVG text.  Invariant: every mark is an access that `_race.run` made.
"""

from __future__ import annotations

from typing import Any

from ._race import Json, Run, formula, run, saved
from ._svg import INK, LINE, PANEL, QUIET, READ, SUNK, WRITE, Picture, clip

WIDTH, LANE, PAD = 800, 372, 16
LABEL = 70


def race_picture(trace: Json, n: int) -> str:
    separate, fused = (run(trace, lane, n) for lane in trace["lanes"])
    total, few = len(separate.accesses), len(fused.accesses)
    named = trace["function"] if trace.get("fixed") else f"{trace['function']}, N = {n}"
    title = f"{named}: {total} array accesses in separate passes, {few} fused"
    picture = Picture(WIDTH, title)
    picture.text(PAD, 30, named, size=16, bold=True)
    per, few_per = map(formula, trace["lanes"])
    formulas = f": {per} against {few_per}" if per else ""
    sentence = f"{total} accesses against {few}{formulas}. "
    told = (
        f"The {total - few} lit ones on the left are what fusion saved."
        if total > few
        else "None to save."
    )
    picture.text(PAD, 52, sentence + told, size=13, fill=QUIET)
    lit = saved(separate, fused) if total > few else [True] * total
    bottom = 0.0
    for k, (lane, done) in enumerate(zip(trace["lanes"], (separate, fused))):
        drawing = _Lane(picture, trace, lane, done, PAD + k * (LANE + 24), n, total)
        bottom = drawing.draw(lit if k == 0 else [True] * few)
    return picture.render(bottom + PAD)


class _Lane:
    def __init__(
        self, picture: Picture, trace: Json, lane: Json, done: Run, left: float, n: int, total: int
    ) -> None:
        self.picture, self.trace, self.lane, self.done = picture, trace, lane, done
        self.left, self.n, self.total = left, n, total
        self.used = {buffer for _, buffer, _ in done.accesses}

    def draw(self, lit: list[bool]) -> float:
        rows = len(self.trace["buffers"])
        bottom = 150.0 + 32 * rows + 8
        self.picture.rect(self.left, 68, LANE, bottom - 68, 8, fill=PANEL, stroke="#dddddd")
        passes = len(self.lane["passes"])
        separate = self.lane["id"] == "separate"
        name = f"{passes} separate passes" if separate else "One fused pass"
        self.picture.text(self.left + 12, 92, name, size=14, bold=True)
        names = "; ".join(step["name"] for step in self.lane["passes"])
        self.picture.text(self.left + 12, 108, clip(names, LANE - 130, 11), size=11, fill=QUIET)
        count = len(self.done.accesses)
        self.picture.text(self.left + LANE - 12, 98, str(count), size=28, bold=True, anchor="end")
        self.picture.text(
            self.left + LANE - 12,
            112,
            " = ".join(filter(None, ["array accesses", formula(self.lane)])),
            size=11,
            fill=QUIET,
            anchor="end",
        )
        self._ledger(lit)
        for k, buffer in enumerate(self.trace["buffers"]):
            self._row(buffer, 150 + 32 * k)
        return bottom

    def _ledger(self, lit: list[bool]) -> None:
        width = LANE - 24
        unit = width / self.total
        self.picture.rect(self.left + 12, 120, width, 14, 3, fill=SUNK)
        size = max(0.8, min(unit - 1.5, 14))
        for j, ((kind, _, _), on) in enumerate(zip(self.done.accesses, lit)):
            ink = READ if kind == "read" else WRITE
            outline = kind == "read" and size > 4
            self.picture.rect(
                self.left + 12 + j * unit + 0.7,
                121.5,
                size,
                11,
                2 if size > 4 else 0,
                fill=("#ffffff" if outline else ink) if on else "#d5d5d5",
                stroke=ink if outline and on else None,
                thick=1.6,
            )

    def _row(self, buffer: Json, y: float) -> None:
        name = buffer["name"]
        self.picture.text(self.left + 12, y + 17, clip(name, LABEL - 8), code=True)
        size = buffer.get("size", 1 if buffer.get("one") else self.n)
        cell = min(56.0, (LANE - 24 - LABEL) / self.n - 3)
        start = self.left + 12 + LABEL
        if name not in self.used:
            self.picture.rect(start, y, size * (cell + 3) - 3, 26, 4, stroke=LINE, dashed=True)
            self.picture.text(start + 8, y + 17, "never allocated", size=11, fill=QUIET)
            return
        for i in range(size):
            x = start + i * (cell + 3)
            self.picture.rect(x, y, cell, 26, 4, fill="#ffffff", stroke=LINE)
            if cell >= 24:
                value = short(self.done.memory[name].get(i), int((cell - 6) / 7.3))
                self.picture.text(
                    x + cell / 2,
                    y + 14,
                    value,
                    size=12,
                    bold=True,
                    code=True,
                    fill=INK,
                    anchor="middle",
                )
            self._pips(buffer, i, x, y, cell)

    def _pips(self, buffer: Json, i: int, x: float, y: float, cell: float) -> None:
        marks = [kind for kind, name, at in self.done.accesses if (name, at) == (buffer["name"], i)]
        pitch = min(6.0, (cell - 2) / max(1, len(marks))) if not buffer.get("one") else 6.0
        first = x + cell / 2 - len(marks) * pitch / 2 if not buffer.get("one") else x + cell + 6
        size = min(4.0, pitch - 1)
        for j, kind in enumerate(marks):
            ink = READ if kind == "read" else WRITE
            hollow = kind == "read" and size > 3
            self.picture.rect(
                first + j * pitch,
                y + 19,
                size,
                size,
                1,
                fill="#ffffff" if hollow else ink,
                stroke=ink if hollow else None,
            )


def short(value: Any, room: int) -> str:
    """A number in few characters, as `show` in static/ops.js."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value) if room >= 5 else str(value)[0]
    if (
        value == value
        and abs(value) != float("inf")
        and value == int(value)
        and len(str(int(value))) <= room
    ):
        return str(int(value)).replace("-", "−")
    for digits in range(4, 0, -1):
        text = f"{value:.{digits}g}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")
        if len(text) <= room:
            return text
    return "·"
