"""LaunchTimeline: when the CPU launches, when the card computes; eager, compiled, and replayed.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: text and still picture have the kernels that were launched on a simulated card, with
times of the model, which are the same everywhere; what was measured is in the live view alone.
NVIDIA's Nsight Systems shows such lanes of a program on a card.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import traitlets

from labcore.measure.costs import spoken
from labcore.measure.lanes import H200, PLANS, Lanes, modelled

from . import _bundle
from ._launches import Json, launch_trace
from ._launches_still import NAMES, launches_picture
from ._widget import LabWidget
from ._words import counted


class LaunchTimeline(LabWidget):
    """See who waits for whom: the card for launches, or the CPU for kernels.

    >>> LaunchTimeline(block)                        # vectors of 4096 elements
    >>> LaunchTimeline(softmax, torch.ones(8, 512))  # your tensors, of 4096 elements at most
    >>> LaunchTimeline(chain, counts=(1, 2, 4, 8))   # chain(x, n), a slider for n

    The calls are really made, on a simulated card, where kernels and bytes are counted; times
    are a model's, for all sizes that the slider has. On a machine with a card the calls are
    measured as well, for vectors of several sizes, or for your tensors; `source` is "measured" or
    "model". `size` and `variant` are places on the sliders. All three may be set from a cell.

    Raises ValueError for tensors that are too large for the simulated card, and where something
    runs that is neither a kernel nor a product of matrices; what the call raises comes as it is.
    """

    _esm = _bundle.esm("launch_timeline")
    _css = _bundle.css("launch_timeline")

    size = traitlets.Int(0, min=0).tag(sync=True)
    variant = traitlets.Int(0, min=0).tag(sync=True)
    source = traitlets.Enum(["measured", "model"], default_value="measured").tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any], *args: Any, counts: Sequence[int] = (), language: str = "en"
    ) -> None:
        __tracebackhide__ = True
        shown = launch_trace(fn, args, counts)
        super().__init__(trace=shown, variant=len(counts) // 2, language=language)

    def picture(self) -> str:
        return launches_picture(self._title(), rows(self._recorded))

    @property
    def _recorded(self) -> Json:
        """The variant that is chosen."""
        variants: list[Json] = self.trace["variants"]
        return variants[min(self.variant, len(variants) - 1)]

    def _title(self) -> str:
        found = self._recorded
        count = "" if found["count"] is None else f", {found['count']}"
        return f"{self.trace['function']}{count}: {found['elements']:,} elements"

    def __repr__(self) -> str:
        head = f"LaunchTimeline({self._title()}; a model with the figures of {H200.of})"
        return "\n".join([head, *(_told(plan, lanes) for plan, lanes, _ in rows(self._recorded))])


Row = tuple[str, Lanes, list[str]]


def rows(variant: Json, grown: float = 1.0) -> list[Row]:
    """The lanes of each plan with the kernels' names, all tensors `grown` times as large."""
    found = []
    for plan in PLANS:
        kernels = variant["eager" if plan.startswith("eager") else "compiled"]
        timed = [(H200.kernel(k["bytes"] * grown, k["work"] * grown), k["first"]) for k in kernels]
        found.append((plan, modelled(plan, timed), [k["name"] for k in kernels]))
    return found


def _told(plan: str, lanes: Lanes) -> str:
    launches = counted(len(lanes.host), "launches")
    kernels = counted(len(lanes.device), "kernels")
    return (f"  {NAMES[plan]:<20}{launches}, {kernels}: {spoken(lanes.end)}, "
            f"card busy {lanes.busy:.0%}")
