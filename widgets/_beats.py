"""The way of one call as beats: what a person sees one after the other.

In: a call with its legs, loops found.  Out: JSON, one entry a beat.
Invariant: a loop of equal rounds is its first round, one beat for all rounds between (which counts
them, and has what varied in each), and its last round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from labcore import trace as t

from ._route import Leg, Loop, Step, unrolled

if TYPE_CHECKING:
    from ._map import Call, Survey

Json = dict[str, Any]
MOST_ROUNDS = 2000  # whose varying values are kept


class Beats:
    """`of(call)`: its beats. `at` is a place and the lane: "python" or a region's letter."""

    def __init__(self, number: int, survey: Survey) -> None:
        self.number, self.survey = number, survey
        self.letters = survey.regions.letters

    def of(self, call: Call) -> list[Json]:
        first = {"code": 0, "line": self.survey.listings.all[0].first}
        beats = [self._beat("call", first)]
        beats += self._walk(call.steps)
        if not call.legs:
            beats.append(self._beat("whole", first))
        last = self._last(call, beats)
        error = {"error": call.error} if call.error else {}
        beats.append(self._beat("return", last, result=call.result, **error))
        return beats

    def _beat(self, kind: str, place: Json, lane: str = "python", **more: Any) -> Json:
        at = {"code": place["code"], "line": place["line"], "lane": lane}
        return {"kind": kind, "call": self.number, "at": at, **more}

    def _last(self, call: Call, beats: list[Json]) -> Json:
        """Where the call is when it returns: the function's last line it was in."""
        listing = self.survey.listings.all[0]
        if not call.legs or call.legs[-1].stop is not None:
            return {"code": 0, "line": listing.first + len(listing.lines) - 1}
        return beats[-1]["at"]

    def _walk(self, steps: Sequence[Step]) -> Iterator[Json]:
        for step in steps:
            if isinstance(step, Leg):
                yield from self._leg(step)
                continue
            first, *between, last = step.rounds
            yield from self._walk(first)
            yield self._rounds(step, between)
            yield from self._walk(last)

    def _leg(self, leg: Leg) -> Iterator[Json]:
        if leg.region:
            yield from self._region(leg)
        if leg.stop is None:
            return
        number, rest = leg.stop
        place = self.survey.breaks[number]
        handed = _handed(leg.event)
        yield self._beat("break", place, **{"break": number}, handed=handed, rest=rest)
        kind = "rest" if rest else "python"
        yield self._beat(kind, place, **{"break": number}, handed=handed, result=leg.event.result)

    def _region(self, leg: Leg) -> Iterator[Json]:
        letter, way = self.letters[leg.region], self.survey.regions.way(leg.region)
        new = not leg.hit
        graph = new and self.survey.regions.is_new_graph(leg.region)
        yield self._beat("enter", way[0], letter, region=letter, new=new, graph=graph)
        if len(way) > 1:
            yield self._beat("run", way[-1], letter, region=letter, way=way)

    def _rounds(self, loop: Loop, between: Sequence[tuple[Step, ...]]) -> Json:
        """The rounds that go the way of the first: how many, what one counts for, what varied."""
        legs = list(unrolled(loop.rounds[0]))
        stops = [leg.stop[0] for leg in legs if leg.stop is not None]
        last = next(leg for leg in reversed(legs) if leg.stop is not None)
        return self._beat(
            "rounds",
            self.survey.breaks[last.stop[0]],
            **{"break": last.stop[0]},
            count=len(between),
            of=len(loop.rounds),
            regions=sum(bool(leg.region) for leg in legs),
            met=stops,
            region=next((self.letters[leg.region] for leg in legs if leg.region), None),
            values=_varying([list(unrolled(each)) for each in between[:MOST_ROUNDS]]),
        )


def _handed(event: t.Handover) -> list[Json]:
    """The frames that CPython was handed, outermost first."""
    return [
        {
            "function": frame.function.rsplit(".", 1)[-1],
            "variables": frame.variables,
            "stack": frame.stack,
        }
        for frame in event.frames
    ]


def _varying(rounds: Sequence[Sequence[Leg]]) -> list[list[str]]:
    """For each round what was handed over and is not the same in all of them: variables as
    "i = 17", values on the stack as they are.
    """
    told = [dict(_named(legs)) for legs in rounds]
    names = list(dict.fromkeys(name for each in told for name in each))
    varying = [name for name in names if len({each.get(name) for each in told}) > 1]
    rows = [[each[name] for name in varying if name in each] for each in told]
    return [list(dict.fromkeys(row)) for row in rows]


def _named(legs: Sequence[Leg]) -> Iterator[tuple[Any, str]]:
    """What each stop of a round handed over, under a name of its own."""
    for place, leg in enumerate(legs):
        if leg.event is not None:
            frame = leg.event.frames[-1]
            yield from ((name, f"{name} = {text}") for name, text in frame.variables)
            yield from (((place, n), text) for n, text in enumerate(frame.stack))
