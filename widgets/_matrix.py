"""From a recording to the guard matrix: variants by guards, and what each call was answered.

In: a director that has read the recording, its guards, and what every variant would have said.
Out: JSON for `static/matrix.js` (its header has the schema), and the same as text.
Invariant: an asked cell is a GuardCheck event; one that was not asked, and is shown on demand,
comes from `guard_matrix`, which asks the same check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any

from labcore import trace as t
from labcore.compiler.guard_matrix import GuardMatrix as Whole

from ._listing import Listings
from ._theater import Director, place_of

Json = dict[str, Any]
Key = tuple[str, str, int]  # kind, source, and which of these two it is in its variant


class Matrix:
    """`columns` are the guards of all variants, each kind of each source once, in the order of
    asking; `rows` the guards of each variant."""

    def __init__(
        self,
        director: Director,
        events: Iterable[t.Event],
        wholes: Sequence[Whole] = (),
        code: CodeType | None = None,
    ) -> None:
        self.director, self.wholes = director, wholes
        events = list(events)
        self.listings = Listings()
        self.codes = [
            walked for e in events if isinstance(e, t.RegionCaptured) for walked in e.walked
        ]
        if code is not None:
            self.listings.add(code.co_filename, code.co_firstlineno, code.co_name)
        records = _records(director, events, wholes)
        self.columns: list[Key] = []
        self.rows: dict[str, list[Json]] = {}
        for variant, guards in records.items():
            self._row(variant, guards)
        for row in self.rows.values():
            for cell in row:
                cell["column"] = self.columns.index(cell.pop("key"))

    def _row(self, variant: str, guards: Sequence[t.GuardRecord]) -> None:
        """Where a column is new, it stands behind the one that is asked before it."""
        row = self.rows[variant] = []
        last = -1
        seen: list[tuple[str, str]] = []
        for guard in guards:
            name = (guard.type, guard.source)
            key = (*name, seen.count(name))
            seen.append(name)
            if key not in self.columns:
                self.columns.insert(last + 1, key)
            last = self.columns.index(key)
            place = self._place(guard.origin)
            told = {"text": guard.text, "expected": guard.expected}
            row.append({"key": key, **told, **({"place": place} if place else {})})

    def _place(self, origin: t.Origin | None) -> Json | None:
        """A line of a listing, or, where the function's first line is not known, the line alone."""
        if origin is None:
            return None
        found = self.listings.find(origin.file, origin.line)
        if found is None:
            homes = [
                code
                for code in self.codes
                if code.file == origin.file and code.first_line <= origin.line
            ]
            if homes:
                home = max(homes, key=lambda code: code.first_line)
                self.listings.add(home.file, home.first_line, home.function)
                found = self.listings.find(origin.file, origin.line)
        if found is None:
            return place_of(origin)
        at = self.listings.columns(found, origin)
        return {**found, **({"at": at} if at else {})}

    @property
    def trace(self) -> Json:
        play = self.director.trace
        play["events"] = [beat for beat in play["events"] if beat["kind"] != "stage"]
        columns = [{"kind": kind, "source": source} for kind, source, _ in self.columns]
        return {
            "version": 1,
            "columns": columns,
            "rows": self.rows,
            "whole": [_told(whole) for whole in self.wholes],
            "listings": [listing.to_json() for listing in self.listings.all],
            "play": play,
        }

    def asked(self, call: int) -> list[tuple[str, list[Json]]]:
        """The beats of the guards that a call asked, variant by variant, in order."""
        groups: dict[str, list[Json]] = {}
        for beat in self.director.beats:
            if beat["call"] == call and beat["kind"] == "guard":
                groups.setdefault(beat["variant"], []).append(beat)
        return list(groups.items())

    def marks(self, variant: str, beats: Sequence[Json]) -> str:
        """ "✓✓✕······": what held, what failed, what was not asked."""
        asked = "".join("✓" if beat["ok"] else "✕" for beat in beats)
        return asked + "·" * (len(self.rows[variant]) - len(beats))


def _records(
    director: Director, events: Sequence[t.Event], wholes: Sequence[Whole]
) -> dict[str, Sequence[t.GuardRecord]]:
    """The guards of every variant on stage: as they were installed, as they were told with a call,
    or, of a recording that began later, as far as they were asked."""
    known = {variant: _bare(shown["guards"]) for variant, shown in director.variants.items()}
    for whole in wholes:
        known |= {row.variant: row.guards for row in whole.rows if row.variant in known}
    for event in events:
        if isinstance(event, t.GuardsInstalled) and event.compile_id in known:
            known[event.compile_id] = event.guards
    return known


def _bare(guards: Sequence[Json]) -> Sequence[t.GuardRecord]:
    return [t.GuardRecord(guard["kind"], "", guard["text"], "") for guard in guards]


def _told(whole: Whole) -> Json:
    """Per variant: how many guards hold one after the other, and why the next one does not."""
    told = {}
    for row in whole.rows:
        failed = row.failed
        said: Json = {"held": len(row.checks) - (failed is not None)}
        if failed is not None:
            said |= {"expected": failed.expected, "actual": failed.actual, "reason": failed.reason}
        told[row.variant] = said
    return told
