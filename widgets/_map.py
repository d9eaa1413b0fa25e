"""From the compiler's events to the map's trace: regions, breaks, and the way of each call.

In: the events of a recording in which the function was captured.  Out: `Survey`, whose `trace` is
JSON for `static/map.js` (its header has the schema).
Invariant: every region, break and beat is an event, or stands for a counted row of equal ones;
nothing carries a time, an address or a path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import labcore
from labcore import trace as t

from ._beats import Beats
from ._calls import call_labels, leaves_of
from ._listing import Listings
from ._regions import Regions
from ._route import Leg, Step, folded

Json = dict[str, Any]
OURS = str(Path(labcore.__file__).parent)
Where = tuple[str, int, int]  # file, first line of the code, offset


@dataclass
class Call:
    """One call as it went."""

    inputs: list[str]
    leaves: dict[str, str]  # what they hold, by name
    legs: list[Leg] = field(default_factory=list)
    result: str = "unfinished"
    error: str = ""
    steps: list[Step] = field(default_factory=list)


class Survey:
    """Reads a recording: `regions`, `breaks` and `calls` in the order in which they were met."""

    def __init__(
        self,
        events: Iterable[t.Event],
        errors: Mapping[int, str] | None = None,
        code: CodeType | None = None,
    ) -> None:
        events = list(events)
        first = next((e for e in events if isinstance(e, t.CallBegin)), None)
        if first is None:
            raise ValueError(
                "BreakMap: this recording has no call of a compiled function in it. "
                "Record its first call: `with trace.record() as r: f(x)`."
            )
        self.function, self.frame = first.function.rsplit(".", 1)[-1], first.frame
        self.listings = Listings()
        self.regions = Regions(events, self.listings)
        self._list_function(events, first, code)
        self.calls: dict[int, Call] = {}
        self.breaks: list[Json] = []
        self._numbers: dict[Where, int] = {}
        self._told = [e for e in events if isinstance(e, t.GraphBreak)]
        self._region = ""  # the one that ran last
        for event in events:
            self._read(event)
        for number, call in self.calls.items():
            call.error = (errors or {}).get(number, "")
            call.steps = folded(call.legs)

    def _list_function(
        self, events: list[t.Event], first: t.CallBegin, code: CodeType | None
    ) -> None:
        """The listing that comes first is the function's own."""
        if code is not None:
            self.listings.add(code.co_filename, code.co_firstlineno, code.co_name)
            return
        for event in events:
            if isinstance(event, t.RegionCaptured) and event.begins[0].function == first.function:
                begin = event.begins[0]
                self.listings.add(begin.file, begin.first_line, begin.function)
                return
        raise ValueError(
            f"BreakMap: {first.function} was captured before this recording began, or not at all. "
            "Record its first call, or give the function: BreakMap(fn, (x,))."
        )

    # ---- one call after the other ----

    def _read(self, event: t.Event) -> None:
        if isinstance(event, t.CallBegin) and event.frame == self.frame:
            self.calls[event.call] = Call(list(event.inputs), leaves_of(event))
            self._region = ""
        elif isinstance(event, t.Execute) and event.call in self.calls:
            self._leave(self.calls[event.call], None)
            self._region, self._hit = event.compile_id, event.hit
        elif isinstance(event, t.Handover) and event.call in self.calls:
            self._leave(self.calls[event.call], event)
        elif isinstance(event, t.CallEnd) and event.call in self.calls:
            call = self.calls[event.call]
            self._leave(call, None)
            call.result = event.result

    def _leave(self, call: Call, event: t.Handover | None) -> None:
        """The region that ran last is over, with a handover or without."""
        if self._region or event is not None:
            hit = self._hit if self._region else True
            if self._region:
                self.regions.letter(self._region)
            stop = None if event is None else self._break(event)
            call.legs.append(Leg(self._region, stop, hit, event))
        self._region = ""

    def _break(self, event: t.Handover) -> tuple[int, bool]:
        """The number of the break at the place of a handover, and whether the rest was run.

        One place is one reason in one piece of the source, as in `explain` and the log: a `with`
        statement is entered and left by two instructions.
        """
        frame = self._users(event.frames)[-1]
        where: Any = self.regions.stop(self._region)
        if where is None or where[1] is None:
            where = frame.file, frame.first_line, frame.offset
        if where not in self._numbers:
            self._numbers[where] = len(self.breaks)
            self.breaks.append(self._describe(event, frame))
        return self._numbers[where], event.rest

    def _users(self, frames: list[t.FrameRecord]) -> list[t.FrameRecord]:
        return [frame for frame in frames if not frame.file.startswith(OURS)] or frames[:1]

    def _describe(self, event: t.Handover, frame: t.FrameRecord) -> Json:
        known = self.regions.stop(self._region)
        said = next((e for e in self._told if known == (e.break_id, e.origin)), None)
        said = said or next((e for e in self._told if e.origin == event.origin), None)
        chain = []
        for each in self._users(event.frames):
            self.listings.add(each.file, each.first_line, each.function, each.line)
            place = self.listings.find(each.file, each.line)
            if place is not None:
                chain.append({**place, "function": each.function.rsplit(".", 1)[-1]})
        made: Json = {"instruction": event.instruction, "chain": chain, **chain[-1]}
        if said is not None:
            made |= {"id": said.break_id, "what": said.what, "why": said.why, "hint": said.hint}
            at = self.listings.columns(made, said.origin)
            made |= {"at": at} if at else {}
        return made

    # ---- what the view gets ----

    @property
    def trace(self) -> Json:
        labels = call_labels([call.leaves for call in self.calls.values()])
        calls = [
            {"inputs": ", ".join(call.inputs), "label": label}
            for call, label in zip(self.calls.values(), labels)
        ]
        events = [
            beat
            for number, call in enumerate(self.calls.values())
            for beat in Beats(number, self).of(call)
        ]
        return {
            "version": 1,
            "function": self.function,
            "listings": [listing.to_json() for listing in self.listings.all],
            "regions": self.regions.to_json(),
            "breaks": self.breaks,
            "calls": calls,
            "events": events,
        }
