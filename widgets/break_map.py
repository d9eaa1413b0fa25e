"""BreakMap: where a function is cut into regions, and how a call travels through the pieces.

In: a function and calls, or a recording.  Out: an anywidget, its SVG, its text.
Invariant: every region, break and beat is an event that the compiler emitted for these very calls.
PyTorch tells the places in a log (TORCH_LOGS=graph_breaks) and in `explain`; the way of a call
through the pieces it does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from labcore import trace as t

from . import _bundle
from ._map import Call as Route, Survey
from ._map_still import map_picture
from ._recording import Call, code_of, compiled_anew, given, record_calls
from ._regions import operators
from ._route import Loop, Step
from ._widget import CallsWidget
from ._words import counted


class BreakMap(CallsWidget):
    """Watch calls go through compiled regions, and through Python between them.

    >>> BreakMap(loopy, (x, 5))               # calls as tuples of arguments
    >>> BreakMap(block, 4, 8)                 # float32 tensors of so many elements
    >>> with trace.record() as r: ...
    >>> BreakMap(trace=r)                     # what was recorded elsewhere, from the first call on

    `fn` is compiled anew, even if it is compiled already, so that each region is seen when it is
    captured; its own variants are left alone. A call that raises is shown as such, and the calls
    after it go on. A loop that goes the same way a thousand times is its first round, its last,
    and one beat between them in which the rounds can be stepped through.

    Raises ValueError for a recording that begins after the function was captured.

    Where no script runs (GitHub, nbconvert, an untrusted notebook) the cell shows an SVG of the
    last frame, which travels beside the widget in the same output; `.still()` gives that picture
    alone. `repr` has a line for each region and each call.
    """

    _esm = _bundle.esm("break_map")
    _css = _bundle.css("break_map")

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *calls: Call,
        trace: t.Recorder | Iterable[t.Event] | None = None,
        language: str = "en",
    ) -> None:
        events = given("BreakMap", fn, calls, trace)
        if events is not None:
            self._survey = Survey(events)
        else:
            assert fn is not None
            self._survey = survey(fn, calls)
        super().__init__(trace=self._survey.trace, language=language)

    def summary(self) -> str:
        """The counts as one sentence: "1 call, 3 graphs in 4 regions, 2 breaks, met 9 times"."""
        shown = self._survey
        graphs = sum(shown.regions.is_new_graph(name) for name in shown.regions.letters)
        met = sum(leg.stop is not None for call in shown.calls.values() for leg in call.legs)
        regions = counted(len(shown.regions.letters), "regions")
        breaks = counted(len(shown.breaks), "breaks")
        times = f", met {counted(met, 'times')}" if met else ""
        calls, graph = counted(len(shown.calls), "calls"), counted(graphs, "graphs")
        return f"{calls}, {graph} in {regions}, {breaks}{times}"

    def picture(self) -> str:
        return map_picture(self.trace, self.summary())

    def __repr__(self) -> str:
        lines = [f"BreakMap({self.trace['function']}: {self.summary()})"]
        for region in self.trace["regions"]:
            lines.append("  " + _region_line(region))
        for number, stop in enumerate(self.trace["breaks"], 1):
            lines.append(f"  {_mark(number)}  {_break_line(stop)}")
        letters = self._survey.regions.letters
        for number, call in enumerate(self._survey.calls.values(), 1):
            way = ", ".join(_told(step, letters) for step in call.steps) or "ran in Python"
            lines.append(f"  call {number}  {', '.join(call.inputs)}: {way}{_ending(call)}")
        return "\n".join(lines)


def survey(fn: Callable[..., Any], calls: Sequence[Call]) -> Survey:
    """Compile the function anew, run the calls, and read the recording."""
    events, errors = record_calls(compiled_anew(fn), fn, calls)
    return Survey(events, errors, code_of(fn))


def _mark(number: int) -> str:
    return f"◆{number}"


def _region_line(region: dict[str, Any]) -> str:
    names = ", ".join(operators(region["nodes"])) or "no tensor operator"
    same = f" (the graph of {region['reused']})" if region["reused"] else ""
    return f"{region['id']}   {region['code']}  {names}{same}"


def _break_line(stop: dict[str, Any]) -> str:
    line = f"line {stop['line']}"
    inside = f" of {stop['chain'][-1]['function']}" if stop["code"] else ""
    return f"{line}{inside}: {stop.get('what', 'CPython runs the rest of the function')}"


def _told(step: Step, letters: dict[str, str]) -> str:
    """A leg as "A ◆1", a loop as "998 times (B ◆1)"."""
    if isinstance(step, Loop):
        around = ", ".join(_told(each, letters) for each in step.rounds[0])
        return f"{len(step.rounds)} times ({around})"
    stop = "" if step.stop is None else _mark(step.stop[0] + 1) + (" rest" if step.stop[1] else "")
    return " ".join(filter(None, [letters.get(step.region, ""), stop]))


def _ending(call: Route) -> str:
    return f", raised {call.error or 'an exception'}" if call.result == "raised" else ""
