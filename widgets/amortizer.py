"""Amortizer: does compiling pay? Four sums with sliders, fed by the figures of your own function.

In: nothing, or a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: text and still picture have the textbook's figures, which are the same everywhere; what
was measured is in the live view alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from labcore.measure.amortize import Launches, break_even, crossings, speedup, static_overtakes
from labcore.measure.costs import spoken

from . import _bundle
from ._amortize import TEXTBOOK, Figures, measured
from ._amortize_still import amortize_picture
from ._recording import original
from ._widget import LabWidget


class Amortizer(LabWidget):
    """Launches, break-even, variants, breaks: what each comes to, and what would change it.

    >>> Amortizer()                      # the figures of a textbook
    >>> Amortizer(block, x, bias)        # and those of your function, measured now

    `mode` is "launches", "break_even", "variants" or "breaks"; `source` is "article" or "measured";
    `moved` has the sliders that were moved, {"launches": {"launch": 20e-6}}, times in seconds. All
    three may be set from a cell, and are set by the view.

    The function is called many times and should leave its arguments as they are. An exception of
    the call is raised as it is; ValueError where it compiles to no kernel.
    """

    _esm = _bundle.esm("amortizer")
    _css = _bundle.css("amortizer")

    mode = traitlets.Enum([*TEXTBOOK], default_value="launches").tag(sync=True)
    source = traitlets.Enum(["article", "measured"], default_value="article").tag(sync=True)
    moved = traitlets.Dict().tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any] | None = None, *args: Any, language: str = "en"
    ) -> None:
        figures: dict[str, Figures] = {"article": TEXTBOOK}
        name = ""
        if fn is not None:
            name = getattr(original(fn), "__name__", type(fn).__name__)
            figures["measured"] = measured(original(fn), *args)
        shown = {"version": 1, "function": name, "figures": figures}
        super().__init__(trace=shown, language=language)

    def picture(self) -> str:
        return amortize_picture(TEXTBOOK, sums(TEXTBOOK))

    def __repr__(self) -> str:
        about = self.trace["function"]
        head = f"Amortizer({about}: measured figures are in the view)" if about else "Amortizer()"
        return "\n".join([head, *(f"  {line}" for line in sums(TEXTBOOK))])


def sums(figures: Figures) -> list[str]:
    """The four results, each with its numbers."""
    one, two, three, four = figures.values()
    before = Launches(int(one["kernels"]), one["compute"])
    after = Launches(int(one["fused_kernels"]), one["fused_compute"])
    totals = " -> ".join(spoken(each.total(one["launch"])) for each in (before, after))
    even = break_even(two["compiling"], two["eager"], two["compiled"])
    lead = static_overtakes(
        int(three["variants"]), three["each"], three["dynamic"], three["static_step"],
        three["dynamic_step"],
    )
    many = three["variants"] * three["each"]
    each, run = (crossings(int(four["breaks"]), four["crossing"], int(n))
                 for n in (1, four["iterations"]))
    return [
        f"launches: {totals}, {speedup(before, after, one['launch']):g} x",
        f"break-even: {spoken(two['compiling'])} are back after {even:,.0f} steps",
        f"variants: {spoken(many)} or {spoken(three['dynamic'])}; ahead from step {lead:,.0f}",
        f"breaks: {spoken(each)} an iteration, {spoken(run)} in {four['iterations']:,.0f}",
    ]
