"""LaunchTimeline's last frame as SVG: four rows of two lanes, by the model.

In: a title, and each plan's lanes with the names of its kernels.  Out: SVG text.
"""

from __future__ import annotations

from labcore.measure.costs import spoken
from labcore.measure.lanes import H200, Lanes

from ._svg import LINE, LIVE, QUIET, Picture

WIDTH, PAD, LABEL, LANE, ROW, LETTER = 800, 16, 42, 18, 72, 6.7
NAMES = {"eager": "eager", "eager_replayed": "eager, replayed", "compiled": "compiled",
         "compiled_replayed": "compiled, replayed"}


def launches_picture(title: str, rows: list[tuple[str, Lanes, list[str]]]) -> str:
    picture = Picture(WIDTH, f"{title}: when the CPU launches, when the card computes")
    picture.text(PAD, 30, title, size=16, bold=True)
    scale = (WIDTH - 2 * PAD - LABEL) / max(lanes.end for _, lanes, _ in rows)
    for n, (plan, lanes, names) in enumerate(rows):
        _row(picture, 44 + n * ROW, plan, lanes, names, scale)
    bottom = 44 + ROW * len(rows) + 12
    picture.text(PAD, bottom, f"A model, with the figures of {H200.of}", size=11, fill=QUIET)
    return picture.render(bottom + 14)


def _row(picture: Picture, y: float, plan: str, lanes: Lanes, names: list[str],
         scale: float) -> None:
    left, host, device = PAD + LABEL, y + 20, y + 41
    picture.text(PAD, y + 13, NAMES[plan], bold=True)
    result = f"{spoken(lanes.end)}, card busy {lanes.busy:.0%}"
    picture.text(WIDTH - PAD, y + 13, result, bold=True, anchor="end")
    picture.text(PAD, host + 13, "CPU", size=11, fill=QUIET)
    picture.text(PAD, device + 13, "card", size=11, fill=QUIET)
    for start, to in lanes.host:
        width = max(1.0, (to - start) * scale - 1)
        picture.rect(left + start * scale, host, width, LANE, 2, fill="#ffffff", stroke=LINE)
    fill, free = QUIET if plan.startswith("eager") else LIVE, 0.0
    for (start, to), name in zip(lanes.device, names):
        if (start - free) * scale > 6:
            x, middle = left + free * scale, device + LANE / 2
            picture.line(x + 2, middle, left + start * scale - 2, middle, stroke=LINE, thick=1.5)
        free, long = to, (to - start) * scale
        picture.rect(left + start * scale, device, max(1.0, long - 1), LANE, 2, fill=fill)
        if long > len(name) * LETTER + 8:
            x = left + start * scale + 5
            picture.text(x, device + 13, name, size=11, code=True, fill="#ffffff")
