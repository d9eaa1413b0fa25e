"""SaveOrRecompute: the joint graph, and the cut through it that a memory budget moves.

In: a function and the arguments of one call.  Out: an anywidget, its SVG, its text.
Invariant: every cut, count and reason is the partitioner's answer for this very graph, the one that
`compile(..., options={"partitioner": "min_cut"})` gets.
PyTorch tells in a log what was saved (TORCH_LOGS=aot_graphs), and why not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

import labcore as torch
from labcore.autodiff import Cut, Joint, default_partition

from . import _bundle
from ._cut import CutSurvey, Json, key, text_of
from ._cut_still import cut_picture
from ._graphs import place_of, titled
from ._inputs import example_inputs
from ._recording import original
from ._widget import LabWidget
from ._words import counted

SIZE = 4  # elements of an example that nobody gave


class SaveOrRecompute(LabWidget):
    """Move the cut between forward and backward, and see what it costs.

    >>> SaveOrRecompute(block, x, bias)        # your arguments; one of them requires grad
    >>> SaveOrRecompute(block)                 # float32 examples are made, which all do
    >>> SaveOrRecompute(loopy, x, graph=1)     # not the first graph that is trained, the second

    `budget` is the share of memory that may be used, from 0 to 1; `partitioner` is "default" or
    "min_cut"; `forced` has values by their names in the graph, each "save" or "again". All three
    may be set from a cell, and are set by the view.

    The call is really made, once, on a compiled form of its own. Raises ValueError where no graph
    of it is trained, or there is none of that number; an exception of the call itself is raised as
    it is.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the cut
    at budget 1, which travels beside the widget in the same output; `.still()` gives that picture
    alone. Without a kernel one value can be forced at a time. `repr` has a line for each cut.
    """

    _esm = _bundle.esm("save_or_recompute")
    _css = _bundle.css("save_or_recompute")

    partitioner = traitlets.Enum(["default", "min_cut"], default_value="default").tag(sync=True)
    budget = traitlets.Float(1.0, min=0.0, max=1.0).tag(sync=True)
    forced = traitlets.Dict().tag(sync=True)
    answers = traitlets.Dict().tag(sync=True)

    def __init__(
        self, fn: Callable[..., Any], *args: Any, graph: int = 0, language: str = "en"
    ) -> None:
        __tracebackhide__ = True
        joint, names, place = joint_of(fn, args or _examples(fn), graph)
        self._survey = CutSurvey(joint, names)
        name = getattr(original(fn), "__name__", type(fn).__name__)
        super().__init__(trace=self._survey.trace(name) | place, language=language)

    @traitlets.observe("forced")
    def _answer(self, change: Any) -> None:
        """What was not worked out beforehand is asked of the partitioner now."""
        wanted = key(self.forced)
        if wanted not in self.trace.get("answers", {}) and wanted not in self.answers:
            self.answers = {**self.answers, wanted: self._survey.answer(self.forced)}

    def summary(self) -> str:
        """The counts as one sentence: "default saves 64 bytes, min-cut 48 and ..."."""
        first = self.trace["answers"][""]["cuts"][0]
        again = len(first["again"])
        more = f" and computes {counted(again, 'operators')} again" if again else ""
        default = self.trace["default"]["bytes"]
        return f"default saves {counted(default, 'bytes')}, min-cut {first['bytes']}{more}"

    def picture(self) -> str:
        return cut_picture(self.trace, self.summary())

    def __repr__(self) -> str:
        cuts = self.trace["answers"][""]["cuts"]
        lines = [f"SaveOrRecompute({titled(self.trace)}: {self.summary()})"]
        lines.append("  default" + self._line(self.trace["default"]))
        high, low = cuts[0]["bytes"], cuts[-1]["bytes"]
        for cut in cuts:
            # Rounded up: this much allows the cut, a little less does not.
            percent = -(100 * (low - cut["bytes"]) // (high - low)) if high > low else 100
            lines.append(f"  {percent:6}%" + self._line(cut))
        labels = self._survey.labels
        for name, (rule, detail, _) in cuts[0]["why"].items():
            lines.append(f"  {labels.get(name, name)}: {rule}: {detail}")
        return "\n".join(lines)

    def _line(self, cut: Json) -> str:
        saved, again = (text_of(self._survey.labels, cut[what]) for what in ("saved", "again"))
        more = f"; again: {again} ({counted(cut['cost'], 'operations')})" if cut["again"] else ""
        return f"  {counted(cut['bytes'], 'bytes')}: {saved}{more}"


def joint_of(
    fn: Callable[..., Any], args: tuple[Any, ...], graph: int
) -> tuple[Joint, list[str], Json]:
    """The joint graph of one call's region, the user's names of its inputs, and its place."""
    __tracebackhide__ = True
    found: list[Joint] = []
    names: list[list[str]] = []

    def look(joint: Joint) -> Cut:
        found.append(joint)
        return default_partition(joint)

    def backend(gm: Any, example_inputs: Any) -> Any:
        from labcore.autodiff import AutodiffOptions, aot_compile, run_by_operators

        before = len(found)
        options = AutodiffOptions(look)
        compiled = aot_compile(gm, example_inputs, run_by_operators, options=options)
        if len(found) > before:
            names.append([node.name for node in gm.graph.placeholders])
        return compiled

    torch.compile(original(fn), backend=backend)(*args)
    if not found:
        raise ValueError(
            "SaveOrRecompute: nothing of this call is trained. Give it a tensor that requires "
            "grad (torch.ones(4, requires_grad=True)), under which the result depends on it."
        )
    if not 0 <= graph < len(found):
        raise ValueError(f"SaveOrRecompute: this call has {len(found)} graph(s) that are trained")
    return found[graph], names[graph], place_of(graph, len(found))


def _examples(fn: Callable[..., Any]) -> tuple[Any, ...]:
    tensors = example_inputs(original(fn), SIZE)
    return tuple(tensor.clone().requires_grad_() for tensor in tensors)
