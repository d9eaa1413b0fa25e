"""From the compiler's events to the theater's trace: one beat an event that a person can see.

In: the events of a recording.  Out: `theater_trace(...)`, JSON for `static/theater.js` (its header
has the schema), and `Score`, the same calls as text.  Invariant: every beat comes from an event, in
the order of the events; nothing carries a time, an address or a path, so the same program gives the
same trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labcore import trace as t

from ._calls import call_labels, leaves_of

Json = dict[str, Any]
_LOOP = re.compile(r"^ *for \w+ in p?(range\(.+\)):", re.M)


@dataclass
class Score:
    """One call as it went: what `repr` prints a line for."""

    inputs: str
    result: str = "unfinished"
    variant: str = ""
    miss: bool = False
    reasons: list[str] = field(default_factory=list)
    error: str = ""

    def __str__(self) -> str:
        return {
            "hit": f"hit {self.variant}",
            "compiled": f"compiled {self.variant}",
            "eager": "ran in Python",
            "raised": f"raised {self.error}".rstrip(),
        }.get(self.result, self.result)


class Director:
    """Reads events one by one; `trace` and `scores` are what it has understood so far."""

    def __init__(self, frame: int, function: str, errors: Mapping[int, str]) -> None:
        self.frame, self.function, self.errors = frame, function, errors
        self.calls: dict[int, int] = {}  # the compiler's number of a call -> ours, from 0
        self.leaves: list[dict[str, str]] = []  # what the arguments of each call hold, by name
        self.breaks: dict[tuple[str, int], t.GraphBreak] = {}  # by id and line
        self.scores: list[Score] = []
        self.variants: dict[str, Json] = {}
        self.added: dict[str, int] = {}  # variant -> the call it was made for
        self.earlier: list[str] = []
        self.open = False
        self.beats: list[Json] = []

    def read(self, event: t.Event) -> None:
        readers: dict[type[t.Event], Callable[[Any], None]] = {
            t.CallBegin: self._call,
            t.GuardCheck: self._guard,
            t.CacheMiss: self._miss,
            t.Stage: self._stage,
            t.GuardsInstalled: self._guards,
            t.GraphBreak: self._break,
            t.GraphCaptured: self._graph,
            t.RegionCaptured: self._region,
            t.KernelReady: self._kernel,
            t.VariantAdded: self._variant,
            t.Execute: self._execute,
            t.CallEnd: self._end,
        }
        if isinstance(event, t.GraphBreak):
            self.breaks[event.break_id, line_of(event.origin)] = event
        reader = readers.get(type(event))
        if reader and self._ours(event):
            reader(event)

    def _ours(self, event: t.Event) -> bool:
        """Does it belong to the function on stage? Events name their frame, their call or their
        variant. What goes on after a graph break has frames of its own, and is not shown here.
        """
        if isinstance(event, (t.CallBegin, t.CacheMiss, t.VariantAdded)):
            return event.frame == self.frame
        if isinstance(event, t.CallEnd):
            return event.call in self.calls
        if isinstance(event, (t.GuardCheck, t.Execute)) and event.call not in self.calls:
            return False
        return event.compile_id.startswith(f"{self.frame}/")

    def _beat(self, kind: str, **values: Any) -> None:
        self.beats.append({"kind": kind, "call": len(self.leaves) - 1, **values})

    def _known(self, compile_id: str) -> Json:
        empty = {"id": compile_id, "result": "graph", "guards": [], "kernels": []}
        return self.variants.setdefault(compile_id, empty)

    # ---- one reader an event ----

    def _call(self, event: t.CallBegin) -> None:
        self.calls[event.call] = len(self.leaves)
        self.leaves.append(leaves_of(event))
        self.scores.append(Score(", ".join(event.inputs)))
        self.open = True
        self._beat("call")

    def _guard(self, event: t.GuardCheck) -> None:
        variant = self._known(event.compile_id)
        if event.compile_id not in self.added and event.compile_id not in self.earlier:
            self.earlier.append(event.compile_id)  # made before the recording began
        guards = variant["guards"]
        while len(guards) <= event.index:
            guards.append({"kind": "", "text": event.text})
        place = {} if event.ok else place_of(event.origin)
        told = (
            {}
            if event.ok
            else {"expected": event.expected, "actual": event.actual, "reason": event.reason}
        )
        self._beat(
            "guard",
            variant=event.compile_id,
            guard=event.index,
            ok=event.ok,
            text=event.text,
            **told,
            **place,
        )

    def _miss(self, event: t.CacheMiss) -> None:
        score = self.scores[-1]  # a miss belongs to the call on its way
        score.miss, score.reasons = True, list(event.reasons)
        self._beat("miss", again=event.variants > 0)

    def _stage(self, event: t.Stage) -> None:
        self._beat(
            "stage", variant=event.compile_id, stage=event.name, note=event.note, late=not self.open
        )

    def _guards(self, event: t.GuardsInstalled) -> None:
        self._known(event.compile_id)["guards"] = [
            {"kind": g.type, "text": g.text} for g in event.guards
        ]

    def _break(self, event: t.GraphBreak) -> None:
        stop = {"what": event.what, "why": event.why, "hint": event.hint, **place_of(event.origin)}
        self._known(event.compile_id)["stop"] = stop
        self._beat("break", variant=event.compile_id, **stop)

    def _graph(self, event: t.GraphCaptured) -> None:
        if event.reused:
            self._known(event.compile_id)["same"] = event.reused

    def _region(self, event: t.RegionCaptured) -> None:
        """A break that an earlier variant met is told once, and ends this one too."""
        told = self.breaks.get((event.stop, line_of(event.origin)))
        if told is not None and "stop" not in self._known(event.compile_id):
            self._break(replace(told, compile_id=event.compile_id))

    def _kernel(self, event: t.KernelReady) -> None:
        kernels = self._known(event.compile_id)["kernels"]
        told = " · ".join([event.name, *loops_of(event.source)])
        if told not in kernels:
            kernels.append(told)

    def _variant(self, event: t.VariantAdded) -> None:
        self._known(event.compile_id)["result"] = event.result
        self.added[event.compile_id] = len(self.leaves) - 1
        self._beat("variant", variant=event.compile_id, result=event.result)

    def _execute(self, event: t.Execute) -> None:
        if event.compile_id:
            self._known(event.compile_id)
            if event.compile_id not in self.added and event.compile_id not in self.earlier:
                self.earlier.append(event.compile_id)
        self.scores[self.calls[event.call]].variant = event.compile_id
        self._beat("execute", variant=event.compile_id, hit=event.hit)

    def _end(self, event: t.CallEnd) -> None:
        score = self.scores[self.calls[event.call]]
        score.result, score.error = event.result, self.errors.get(event.call, "")
        mine = [beat for beat in self.beats if beat["call"] == len(self.leaves) - 1]
        made = any(beat["kind"] == "variant" for beat in mine)
        for beat in mine:
            if (
                beat["kind"] == "miss" and beat["again"] and not made
            ):  # the limit, or capture met an error
                beat.update(again=False, instead="python" if event.result == "eager" else "error")
        if event.result == "eager":
            self._python(score, mine)
        self.open = False
        ended = {"variant": score.variant, "result": event.result}
        self._beat("return", **ended, **({"error": score.error} if score.error else {}))

    def _python(self, score: Score, mine: Sequence[Json]) -> None:
        """The function itself ran. Said by a variant made just now, by one whose guards held, or by
        the limit.
        """
        made = [beat["variant"] for beat in mine if beat["kind"] == "variant"]
        held = mine[-1]["kind"] == "guard" and mine[-1]["ok"]
        score.variant = made[-1] if made else mine[-1]["variant"] if held else ""
        self._beat("execute", variant=score.variant, hit=False, front=held)

    def counts(self) -> dict[str, int]:
        """The four counters of the picture, from the same beats."""
        kinds = [beat["kind"] for beat in self.beats]
        return {
            "calls": len(self.scores),
            "hits": sum(bool(beat.get("hit")) for beat in self.beats),
            "misses": kinds.count("miss"),
            "recompiles": sum(bool(beat.get("again")) for beat in self.beats),
            "variants": len(self.earlier) + kinds.count("variant"),
        }

    @property
    def trace(self) -> Json:
        labels = call_labels(self.leaves)
        calls = [
            {"inputs": score.inputs, "label": label}
            for score, label in zip(self.scores, labels)
        ]
        made_for = {name: labels[call] for name, call in self.added.items()}
        variants = [
            {**v, "title": made_for.get(v["id"], "made earlier")} for v in self.variants.values()
        ]
        return {
            "version": 1,
            "function": self.function,
            "calls": calls,
            "variants": variants,
            "earlier": self.earlier,
            "events": self.beats,
        }


def direct(events: Iterable[t.Event], errors: Mapping[int, str] | None = None) -> Director:
    """Read a recording. `errors`: texts of exceptions by the compiler's number of the call."""
    events = list(events)
    first = next((e for e in events if isinstance(e, t.CallBegin)), None)
    if first is None:
        raise ValueError(
            "VariantTheater: this recording has no call of a compiled function in it. "
            "Record while the compiled function is called: `with trace.record() as r: f(x)`."
        )
    director = Director(first.frame, first.function, errors or {})
    for event in events:
        director.read(event)
    return director


def line_of(origin: t.Origin | None) -> int:
    return origin.line if origin is not None else 0


def loops_of(kernel: str) -> list[str]:
    """What a kernel loops over, outermost first: it differs where two kernels have one name."""
    return [" × ".join(dict.fromkeys(_LOOP.findall(kernel)))] if _LOOP.search(kernel) else []


def place_of(origin: t.Origin | None) -> Json:
    """The user's line with the columns in characters; no file, for a path is not the same
    everywhere.
    """
    if origin is None:
        return {}
    line = origin.source
    place: Json = {"line": origin.line, "source": line}
    if line and origin.column >= 0:
        one_line = origin.end_line in (-1, origin.line) and origin.end_column >= 0
        raw = line.encode()
        end = origin.end_column if one_line else len(raw)
        place["at"] = [
            len(raw[:column].decode(errors="replace")) for column in (origin.column, end)
        ]
    return place
