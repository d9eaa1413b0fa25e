"""FusionCourt: which loops became one, which did not, and why.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: pairs, verdicts and counts are those of the compiler's own lowering and scheduler.
PyTorch logs why pairs were not fused (TORCH_LOGS=fusion), without what would turn it round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from labcore.fusion import FusionOptions

from . import _bundle
from ._court import CourtRecord, key
from ._court_still import court_picture
from ._graphs import fused_graph, titled
from ._recording import original
from ._widget import LabWidget
from ._words import counted


class FusionCourt(LabWidget):
    """See the pairs tried one after the other, and ask about any other pair.

    >>> FusionCourt(block, x, bias)        # your arguments
    >>> FusionCourt(block)                 # float32 examples are made: -2, -1, 1, 2, and ones
    >>> court.pair = ("relu", "mul")       # as choosing two operators does

    `pair` has the names of the operators whose verdict is wanted, two or none. `graph` is the
    number of the graph, where a call has several, and `options` are the loop compiler's, as
    `compile` takes them.

    The call is really made, once, on a compiled form of its own. Raises ValueError where nothing of
    it is compiled, for a graph that is not there, and for a pair with a name that is no operator;
    an exception of the call itself is raised as it is.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    loops that are left and of all verdicts, which travels beside the widget in the same output;
    `.still()` gives that picture alone. `repr` has a line for each pair that was tried.
    """

    _esm = _bundle.esm("fusion_court")
    _css = _bundle.css("fusion_court")

    pair = traitlets.List(traitlets.Unicode(), maxlen=2).tag(sync=True)
    answers = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        fn: Callable[..., Any],
        *args: Any,
        graph: int = 0,
        options: Mapping[str, Any] | None = None,
        language: str = "en",
    ) -> None:
        __tracebackhide__ = True
        chosen = FusionOptions.of(options or {})
        fused = fused_graph("FusionCourt", fn, args, graph)
        self._record = CourtRecord(fused, chosen)
        name = getattr(original(fn), "__name__", type(fn).__name__)
        super().__init__(trace=self._record.trace(name) | fused.place, language=language)

    @traitlets.validate("pair")
    def _operators(self, proposal: Any) -> list[str]:
        names = [node["name"] for node in self.trace["nodes"] if node["op"] == "call"]
        for name in proposal.value:
            if name not in names:
                raise ValueError(f"FusionCourt: {name} is no operator: they are {', '.join(names)}")
        return list(proposal.value)

    @traitlets.observe("pair")
    def _answer(self, change: Any) -> None:
        """What was not judged beforehand is asked of the compiler now."""
        if len(self.pair) == 2:
            wanted = key(*self.pair)
            if wanted not in self.trace["answers"] and wanted not in self.answers:
                self.answers = {**self.answers, wanted: self._record.answer(*self.pair)}

    def verdict(self, first: str, second: str) -> str:
        """The verdict on two operators as a sentence. Raises ValueError as `pair` does."""
        self.pair = [first, second]
        wanted = key(first, second)
        return said(self.trace["answers"].get(wanted) or self.answers[wanted])

    def summary(self) -> str:
        """The counts as one sentence: "3 loops become 1, accesses 28 become 12"."""
        start, events = self.trace["start"], self.trace["events"]
        last = events[-1] if events else start
        become = "becomes" if start["loops"] == 1 else "become"
        loops = f"{counted(start['loops'], 'loops')} {become} {last['loops']}"
        return f"{loops}, accesses {start['accesses']} become {last['accesses']}"

    def memory(self) -> str:
        """"3 buffers in 2 places, peak 32 bytes, become ..." """
        apart, fused = (_held(self.trace["memory"][when]) for when in ("before", "after"))
        return f"memory: {apart}, become {fused}"

    def picture(self) -> str:
        return court_picture(self.trace, self.summary(), self.memory())

    def __repr__(self) -> str:
        head = f"FusionCourt({titled(self.trace)}: {self.summary()})"
        tried = [said(event) for event in self.trace["events"]]
        return "\n  ".join([head, *tried, self.memory()])


def _held(plan: dict[str, Any]) -> str:
    places = len({life["place"] for life in plan["lives"]})
    buffers = counted(len(plan["lives"]), "buffers")
    return f"{buffers} in {counted(places, 'places')}, peak {plan['peak']} bytes"


def said(verdict: dict[str, Any]) -> str:
    """"relu | mul: fuse, producer and consumer. ... It would flip if ..." """
    word = "fuse" if verdict["ok"] else "keep apart"
    saves = f" (saves {verdict['saved']} bytes)" if verdict["saved"] else ""
    head = f"{verdict['first']} | {verdict['second']}: {word}, {verdict['rule']}{saves}."
    flip = f"It would flip if {verdict['flip']}." if verdict["flip"] else ""
    return " ".join(filter(None, [head, verdict["detail"], flip]))
