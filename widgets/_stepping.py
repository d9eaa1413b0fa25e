"""From the interpreter's steps to the stepper's trace: one beat an instruction.

In: the events of one recorded call, with steps.  Out: `Stepping`, whose `trace` is JSON for
`static/stepper.js` (its header has the schema).
Invariant: every beat is a `TraceStep`; only instructions that do nothing at all are left out, and
what comes after the first `MOST` is counted, not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from labcore import trace as t

from ._listing import Json, Listings
from ._regions import Regions, node_kind, spelled

MOST = 1500  # beats
SILENT = ("PRECALL", "KW_NAMES", "NOP", "RESUME", "CACHE", "COPY_FREE_VARS", "MAKE_CELL")


class Stepping:
    """The steps of one region: the one with the letter `region`, in the order of being captured."""

    def __init__(self, events: Iterable[t.Event], region: str = "A") -> None:
        events = list(events)
        self.listings = Listings()
        steps, self.compile_id = _steps_of(events, region)
        mine = [event for event in events if event.compile_id == self.compile_id]
        self.region = next((e for e in mine if isinstance(e, t.RegionCaptured)), None)
        self.stop = _break_of(events, mine, self.region)
        self.installed = next((e for e in mine if isinstance(e, t.GuardsInstalled)), None)
        self.file = steps[0].file  # the function's own
        for step in steps:
            line = step.first_line if step.origin is None else step.origin.line
            self.listings.add(step.file, step.first_line, step.function, line)
        self.nodes: list[Json] = []
        self.guards: list[Json] = []
        self.beats: list[Json] = []
        self.frames: list[dict[str, list[str]]] = []  # the variables told so far
        self.hidden = 0
        self.start = self._start(steps[0])
        for step, after in zip(steps, [*steps[1:], None]):
            self._beat(step, after)
        self._close(steps[-1])

    # ---- frames ----

    def _start(self, first: t.TraceStep) -> list[Json]:
        """The frames before the first step; of those that wait only the names are known."""
        begins = self.region.begins if self.region is not None else []
        waiting = [frame.function for frame in begins][: first.depth]
        names = [*waiting, *["?"] * (first.depth - len(waiting)), first.function]
        frames = [self._frame(name) for name in names]
        for frame in frames[:-1]:
            frame["waiting"] = True
        frames[-1]["variables"], frames[-1]["stack"] = first.variables, first.before
        self.frames = [{} for _ in names]
        self.frames[-1] = {name: [kind, text] for name, kind, text in first.variables}
        return frames

    def _frame(self, function: str) -> Json:
        return {"function": function.rsplit(".", 1)[-1], "variables": [], "stack": []}

    def _changes(self, step: t.TraceStep) -> Json:
        """The variables that are new or other than told before, and those that are gone."""
        known = self.frames[step.depth]
        now = {name: [kind, text] for name, kind, text in step.variables}
        changed = [[name, *told] for name, told in now.items() if known.get(name) != told]
        gone = [name for name in known if name not in now]
        self.frames[step.depth] = now
        return {**({"set": changed} if changed else {}), **({"gone": gone} if gone else {})}

    # ---- beats ----

    def _beat(self, step: t.TraceStep, after: t.TraceStep | None) -> None:
        del self.frames[step.depth + 1 :]
        changes = self._changes(step)
        made = [self._node(node, step) for node in step.nodes]
        asked = [self._guard(guard) for guard in step.guards]
        self.nodes += made
        self.guards += asked
        beat: Json = {
            "kind": "step",
            "depth": step.depth,
            "offset": step.offset,
            "text": step.instruction,
            "at": self._place(step),
            "before": step.before,
            "after": step.after,
            "nodes": len(made),
            "guards": len(asked),
            **changes,
        }
        if step.stops:
            beat["stops"] = True
        elif after is not None and after.depth > step.depth:
            beat["enters"] = self._frame(after.function) | {"variables": after.variables}
            self.frames.append({name: [kind, text] for name, kind, text in after.variables})
        elif after is not None and after.depth < step.depth:
            beat["returns"] = after.before
        if len(self.beats) >= MOST:
            self.hidden += 1
        elif not _does_nothing(step, beat):
            self.beats.append(beat)

    def _place(self, step: t.TraceStep) -> Json:
        line = step.origin.line if step.origin is not None else step.first_line
        place = self.listings.find(step.file, line) or {"code": 0, "line": line}
        at = self.listings.columns(place, step.origin)
        return {**place, **({"at": at} if at else {})}

    def _node(self, node: t.NodeRecord, step: t.TraceStep) -> Json:
        place = {} if node.op == "placeholder" else self._place(step)
        made = {"name": node.name, "op": node_kind(node), "text": spelled(node), "meta": node.meta}
        return {**made, "args": node.inputs, "code": place.get("code"), "line": place.get("line")}

    def _guard(self, guard: t.GuardRecord) -> Json:
        made: Json = {"text": guard.text, "type": guard.type, "about": guard.source}
        if guard.origin is not None:
            made["line"] = guard.origin.line
            if guard.origin.file != self.file:  # a line of a library the function went through
                made["file"] = PurePath(guard.origin.file).name
        return made

    # ---- the end ----

    def _close(self, last_step: t.TraceStep) -> None:
        """The graph as it is handed on: what nobody reads is dropped, what is returned is read once
        more where it was written in place, and the graph gets its output."""
        final = self.region.nodes if self.region is not None else []
        kept = {node.name for node in final}
        for node in self.nodes:
            if node["name"] not in kept:
                node["dropped"] = True
        outputs = [node for node in final if node.op == "output"]
        told = {node["name"] for node in self.nodes}
        made = [node for node in final if node.op != "output" and node.name not in told]
        self.nodes += [self._node(node, last_step) for node in made]
        for last in outputs:
            entry = {"name": last.name, "op": "output", "text": spelled(last), "meta": ""}
            self.nodes.append({**entry, "args": last.inputs})
        late = self.installed.guards[len(self.guards) :] if self.installed is not None else []
        self.guards += [self._guard(guard) for guard in late]
        count = len(made) + len(outputs)
        self.beats.append({"kind": "end", "nodes": count, "guards": len(late)})

    @property
    def trace(self) -> Json:
        stop = self.stop
        told = (
            {}
            if stop is None
            else {"stop": {"what": stop.what, "why": stop.why, "hint": stop.hint, **_line(stop)}}
        )
        return {
            "version": 1,
            "function": self.start[0]["function"],
            "code": self.compile_id,
            "listings": [listing.to_json() for listing in self.listings.all],
            "start": self.start,
            "nodes": self.nodes,
            "guards": self.guards,
            "captured": self.region is not None,
            "hidden": self.hidden,
            "events": self.beats,
            **told,
        }


def _line(stop: t.GraphBreak) -> Json:
    return {} if stop.origin is None else {"line": stop.origin.line}


def _steps_of(events: Sequence[t.Event], region: str) -> tuple[list[t.TraceStep], str]:
    """The steps of the region with that letter. Raises ValueError where there is none."""
    groups: dict[str, list[t.TraceStep]] = {}
    for event in events:
        if isinstance(event, t.TraceStep):
            groups.setdefault(event.compile_id, []).append(event)
    if not groups:
        raise ValueError(
            "TraceStepper: capture read no instruction of yours, for all that this call runs is "
            "the lab's own. Give it a function that makes the call: lambda x: model(x)"
        )
    letters = [Regions.name(number) for number in range(len(groups))]
    if region not in letters:
        raise ValueError(
            f"TraceStepper: this call has no region {region!r}, only {', '.join(letters)}"
        )
    compile_id = list(groups)[letters.index(region)]
    return groups[compile_id], compile_id


def _break_of(
    events: Sequence[t.Event], mine: Sequence[t.Event], region: t.RegionCaptured | None
) -> t.GraphBreak | None:
    """The break that ended the region; one that was told for an earlier region is not told anew."""
    if region is None:
        return next((e for e in mine if isinstance(e, t.GraphBreak)), None)
    told = (e for e in events if isinstance(e, t.GraphBreak))
    return next((e for e in told if (e.break_id, e.origin) == (region.stop, region.origin)), None)


def _does_nothing(step: t.TraceStep, beat: Json) -> bool:
    return (
        step.instruction.split(" ")[0] in SILENT
        and not (step.nodes or step.guards or step.stops)
        and step.before == step.after
        and "set" not in beat
        and "enters" not in beat
    )
