"""The regions of a map: which lines each covers, how its way runs through them, and its graph.

In: the events of a recording.  Out: JSON, one entry for each region that ran, by letter.
Invariant: a line is covered when one of its instructions was walked; the line of a stop only when
a node of the graph came from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from labcore import trace as t

from ._listing import Listings

Json = dict[str, Any]
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "remainder": "%",
    "floor_divide": "//", "gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!=",
}  # fmt: skip


class Regions:
    """`letter` gives a region its letter when it is first met; all else is read off its events."""

    def __init__(self, events: Iterable[t.Event], listings: Listings) -> None:
        self.listings = listings
        self.letters: dict[str, str] = {}
        self._captured: dict[str, t.RegionCaptured] = {}
        self._graphs: dict[str, t.GraphCaptured] = {}
        self._guards: dict[str, int] = {}
        self._kernels: dict[str, list[str]] = {}
        for event in events:
            compile_id = event.compile_id
            if isinstance(event, t.RegionCaptured):
                self._captured[compile_id] = event
            elif isinstance(event, t.GraphCaptured):
                self._graphs[compile_id] = event
            elif isinstance(event, t.GuardsInstalled):
                self._guards[compile_id] = len(event.guards)
            elif isinstance(event, t.KernelReady):
                names = self._kernels.setdefault(compile_id, [])
                names += [event.name] if event.name not in names else []

    def letter(self, compile_id: str) -> str:
        """A, B, ... Z, AA, AB ... in the order of being met. Raises ValueError for a region that
        was captured before the recording.
        """
        if compile_id not in self._captured:
            raise ValueError(
                f"BreakMap: region {compile_id} was captured before this recording began. "
                "Record the function's first call, or give the function: BreakMap(fn, (x,))."
            )
        if compile_id not in self.letters:
            self.letters[compile_id] = self.name(len(self.letters))
        return self.letters[compile_id]

    @staticmethod
    def name(number: int) -> str:
        """A, B, ... Z, AA, AB ..."""
        last = chr(ord("A") + number % 26)
        return last if number < 26 else Regions.name(number // 26 - 1) + last

    def stop(self, compile_id: str) -> tuple[str, t.Origin | None] | None:
        """The id of the break that ended a region, and its place."""
        event = self._captured.get(compile_id)
        return (event.stop, event.origin) if event is not None and event.stop else None

    def is_new_graph(self, compile_id: str) -> bool:
        """Did it bring a graph that no other region had?"""
        graph = self._graphs.get(compile_id)
        return graph is not None and not graph.reused

    def way(self, compile_id: str) -> list[Json]:
        """The places where a way through the region turns: first, last, and each jump's ends."""
        event = self._captured[compile_id]
        covered = {(code, n) for code, a, b in self._runs(event) for n in range(a, b + 1)}
        steps = [step for step in self._walked(event) if step in covered] or sorted(covered)
        turns = [steps[0]]
        for a, b in pairwise(steps):
            if a[0] != b[0] or b[1] < a[1]:  # another function, or back up
                turns += [a, b]
        turns.append(steps[-1])
        distinct = [turn for turn, before in zip(turns, [None, *turns]) if turn != before]
        return [{"code": code, "line": line} for code, line in distinct]

    def to_json(self) -> list[Json]:
        return [self._region(compile_id) for compile_id in self.letters]

    def _region(self, compile_id: str) -> Json:
        event, graph = self._captured[compile_id], self._graphs.get(compile_id)
        reused = graph.reused if graph is not None else ""
        return {
            "id": self.letters[compile_id],
            "code": compile_id,
            "title": self._title(event),
            "runs": self._runs(event),
            "nodes": self._nodes(event),
            "kernels": self._kernels.get(reused or compile_id, []),
            "reused": self.letters.get(reused, reused),
            "guards": self._guards.get(compile_id, 0),
            "bytecode": self._bytecode(event),
            "goes_on": event.goes_on,
        }

    def _title(self, event: t.RegionCaptured) -> str:
        """The function, and from where on."""
        outer, inner = (event.begins[n].function.rsplit(".", 1)[-1] for n in (0, -1))
        if event.begins[-1].offset == 0:
            return outer
        inside = f" of {inner}" if len(event.begins) > 1 else ""
        return f"{outer} from line {self.way(event.compile_id)[0]['line']}{inside}"

    # ---- lines ----

    def _covered(self, event: t.RegionCaptured) -> set[tuple[int, int]]:
        """(listing, line) of what belongs to the region alone."""
        found = {(code, line) for code, line in self._walked(event)}
        edges = {self._key(*_at(frames[-1])) for frames in (event.begins, event.ends) if frames}
        if event.begins[-1].offset == 0:
            edges.discard(self._key(*_at(event.begins[-1])))
        from_nodes = {self._key(*place) for node in event.nodes for place in _places(event, node)}
        return (found - edges) | (found & from_nodes)

    def _walked(self, event: t.RegionCaptured) -> list[tuple[int, int]]:
        """(listing, line) of each instruction in a listing, in the order of being met first."""
        return [
            (place["code"], line)
            for file, line in sorted_lines(event)
            if (place := self.listings.find(file, line)) is not None
        ]

    def _key(self, file: str, line: int) -> tuple[int, int]:
        place = self.listings.find(file, line)
        return (-1, line) if place is None else (place["code"], place["line"])

    def _runs(self, event: t.RegionCaptured) -> list[list[int]]:
        """[listing, first line, last line]: lines in between that have no code belong to it."""
        covered = self._covered(event) or {self._first(event)}
        runs: list[list[int]] = []
        for code, line in sorted(covered):
            if runs and runs[-1][0] == code and self._is_empty(code, runs[-1][2] + 1, line):
                runs[-1][2] = line
            else:
                runs.append([code, line, line])
        return runs

    def _is_empty(self, code: int, start: int, end: int) -> bool:
        """Is there no code in the lines from `start` up to `end`? Then nothing else runs there."""
        listing = self.listings.all[code]
        texts = listing.lines[start - listing.first : end - listing.first]
        return all(not text.strip() or text.strip()[0] in "#)]}" or _else(text) for text in texts)

    def _first(self, event: t.RegionCaptured) -> tuple[int, int]:
        """Where a region begins that has no line to itself."""
        begins = [self._key(*_at(frame)) for frame in reversed(event.begins)]
        known = [key for key in (*self._walked(event), *begins) if key[0] >= 0]
        return known[0] if known else (0, self.listings.all[0].first)

    def _bytecode(self, event: t.RegionCaptured) -> list[Json]:
        walked = [code for code in event.walked if code.instructions]
        rows = []
        for code in walked:
            name = {"of": code.function.rsplit(".", 1)[-1]} if len(walked) > 1 else {}
            for offset, line, text, nth in code.instructions:
                place = self.listings.find(code.file, line) or {"line": line}
                rows.append((nth, {**place, "offset": offset, "text": text, **name}))
        return [row for _, row in sorted(rows, key=lambda pair: pair[0])]

    # ---- the graph ----

    def _nodes(self, event: t.RegionCaptured) -> list[Json]:
        made = []
        for node in event.nodes:
            where = [self.listings.find(*place) for place in _places(event, node)]
            place = next((w for w in reversed(where) if w is not None), None)
            entry: Json = {"name": node.name, "op": node_kind(node), "text": spelled(node)}
            made.append({**entry, "args": node.inputs, "meta": node.meta, **(place or {})})
        return made


def sorted_lines(event: t.RegionCaptured) -> list[tuple[str, int]]:
    """(file, line) of all that was walked, in order."""
    rows = [
        (nth, code.file, line) for code in event.walked for _, line, _, nth in code.instructions
    ]
    return [(file, line) for _, file, line in sorted(rows)]


def _at(frame: t.FrameRecord) -> tuple[str, int]:
    return frame.file, frame.line


def _places(event: t.RegionCaptured, node: t.NodeRecord) -> list[tuple[str, int]]:
    return [(event.walked[code].file, line) for code, line in node.places]


def _else(text: str) -> bool:
    return text.strip().rstrip(":") in ("else", "try", "finally")


def node_kind(node: t.NodeRecord) -> str:
    return {"placeholder": "input", "get_attr": "input"}.get(node.op, node.op.split("_")[0])


def spelled(node: t.NodeRecord) -> str:
    """A node as a person would write it: "x + bias", "relu(add)"; an output by what it gives."""
    if node.op in ("placeholder", "get_attr"):
        return node.name
    if node.op == "output":
        return ", ".join(node.inputs)
    sign = SIGNS.get(node.target)
    if sign and len(node.args) == 2:
        return f"{node.args[0]} {sign} {node.args[1]}"
    return f"{node.target}({', '.join(node.args)})"


def operators(nodes: Sequence[Json]) -> list[str]:
    """The operations of a graph, as texts."""
    return [node["text"] for node in nodes if node["op"] == "call"]
