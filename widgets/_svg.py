"""A few lines of SVG: the still pictures of the widgets, in the colours of `static/tokens.css`.

In: marks, one call each.  Out: `Picture.text()`, a self-contained SVG on a white card, the same
bytes for the same marks.
Invariant: no ids, no styles from outside, and coordinates rounded to a tenth, so a picture can be
compared as text.
"""

from __future__ import annotations

from html import escape

INK, QUIET, LINE, PANEL, SUNK = "#1b1b1b", "#606060", "#959595", "#f6f6f6", "#ececec"
READ, WRITE, LIVE, OK, FAIL = "#1a65c0", "#984f00", "#4a2a9c", "#0b5f4e", "#c4165f"
SOFT = {LIVE: "#e9e5f3", OK: "#e1ecea", FAIL: "#faeaf1", READ: "#e6eff8", WRITE: "#f3eae1"}
# Regions of one picture, each its own (--lab-id-1 to 8), with their soft fills.
TINTS = (
    (LIVE, SOFT[LIVE]),
    ("#00657c", "#e0edef"),
    ("#8a4b00", "#f1e9e0"),
    ("#2d6a1f", "#e6ede4"),
    ("#8c2a8c", "#f1e5f1"),
    ("#1f56b8", "#e4ebf6"),
    ("#635c00", "#ecebe0"),
    ("#4a5560", "#e9ebec"),
)
MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"


def _attributes(values: dict[str, object]) -> str:
    spelled = {
        key.replace("_", "-"): _number(value) if isinstance(value, float) else str(value)
        for key, value in values.items()
        if value is not None
    }
    return "".join(f' {key}="{escape(value)}"' for key, value in spelled.items())


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Picture:
    """Marks in drawing order; `width` is fixed, the height is told at the end."""

    def __init__(self, width: int, label: str) -> None:
        self.width, self.label = width, label
        self.marks: list[str] = []

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        radius: float = 4,
        *,
        fill: str = "none",
        stroke: str | None = None,
        dashed: bool = False,
        thick: float = 1,
    ) -> None:
        border = {"stroke": stroke, "stroke_width": float(thick)} if stroke else {}
        dash = {"stroke_dasharray": "3 3"} if dashed else {}
        place = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
        look = {"rx": float(radius), "fill": fill, **border, **dash}
        self.marks.append(f"<rect{_attributes({**place, **look})}/>")

    def line(
        self, x: float, y: float, to_x: float, to_y: float, *, stroke: str, thick: float = 1
    ) -> None:
        ends = {"x1": float(x), "y1": float(y), "x2": float(to_x), "y2": float(to_y)}
        look = {"stroke": stroke, "stroke_width": float(thick)}
        self.marks.append(f"<line{_attributes({**ends, **look})}/>")

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = 12,
        bold: bool = False,
        code: bool = False,
        fill: str = INK,
        anchor: str | None = None,
    ) -> None:
        look = {"font_family": MONO if code else SANS, "font_size": size, "fill": fill}
        weight = {"font_weight": 600} if bold else {}
        place = {"x": float(x), "y": float(y), "text_anchor": anchor}
        self.marks.append(f"<text{_attributes({**place, **look, **weight})}>{escape(words)}</text>")

    def check(self, x: float, y: float, ok: bool) -> None:
        """A round tick or a square cross, 14 wide: never told apart by colour alone."""
        self.rect(x, y, 14, 14, 7 if ok else 3, fill=OK if ok else FAIL)
        mark = "✓" if ok else "✕"
        self.text(x + 7, y + 11, mark, size=11, bold=True, fill="#ffffff", anchor="middle")

    def render(self, height: float) -> str:
        sizes = {"width": self.width, "height": float(height)}
        frame = {"xmlns": "http://www.w3.org/2000/svg", **sizes, "role": "img"}
        view = {"viewBox": f"0 0 {self.width} {_number(height)}", "aria-label": self.label}
        back = Picture(self.width, "")
        back.rect(0.5, 0.5, self.width - 1, height - 1, 8, fill="#ffffff", stroke=LINE)
        return "\n".join(
            [f"<svg{_attributes({**frame, **view})}>", *back.marks, *self.marks, "</svg>"]
        )


def clip(words: str, width: float, size: int = 12) -> str:
    """`words` shortened to fit `width`, judged by the usual width of a character."""
    room = max(1, int(width / (0.61 * size)))
    return words if len(words) <= room else words[: room - 1] + "…"
