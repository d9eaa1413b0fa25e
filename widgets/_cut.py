"""From a joint graph to what SaveOrRecompute shows: its nodes, and the cuts of the partitioner.

In: a joint graph, the user's names of its inputs.  Out: JSON for `static/save.js` (its header has
the schema).
Invariant: each cut is what the partitioner answered; the view chooses among answers and makes none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from labcore.autodiff import Cut, Joint, default_partition
from labcore.autodiff.mincut import network_of
from labcore.autodiff.rules import FORCED, INPUT, RANDOM, price
from labcore.graph import Node
from labcore.shapes import hint

from ._graphs import spelled_out

Json = dict[str, Any]
HARD = frozenset(rule.name for rule in (INPUT, RANDOM, FORCED))  # no budget flips these
MOST = 24  # values each of which is forced both ways beforehand; of more, when they are asked for


class CutSurvey:
    """`names` are the user's for the graph's inputs, in their order."""

    def __init__(self, joint: Joint, names: Sequence[str]) -> None:
        self.joint, self.parts = joint, joint.parts()
        self.nodes = {node.name: node for node in joint.graph.nodes if node.meta is not None}
        inputs = dict(zip((node.name for node in joint.primals), names))
        count = len(joint.tangents)
        tangents = {
            node.name: "gradient" if count == 1 else f"gradient {n}"
            for n, node in enumerate(joint.tangents, 1)
        }
        self.labels = inputs | tangents

    def trace(self, function: str) -> Json:
        """All that can be chosen without asking again."""
        network = network_of(self.joint)
        free = [node.name for node in network.values if network.may_be_saved(node)]
        answers = {"": self.answer({})}
        if len(free) <= MOST:
            for name in free:
                for way in ("save", "again"):
                    answers[key({name: way})] = self.answer({name: way})
        return {
            "version": 1,
            "function": function,
            "nodes": [self._node(node, node.name in free) for node in self.nodes.values()],
            "default": self._cut(default_partition(self.joint)),
            "answers": answers,
        }

    def answer(self, forced: dict[str, str]) -> Json:
        """The cuts for all budgets, from 1 to 0, or why the values cannot be forced so."""
        save = [name for name, way in forced.items() if way == "save"]
        again = [name for name, way in forced.items() if way == "again"]
        try:
            network = network_of(self.joint, save, again)
        except ValueError as refused:
            return {"refused": self._told(str(refused))}
        return {"cuts": [self._cut(network.cut(choice)) for choice in network.frontier()]}

    def _cut(self, cut: Cut) -> Json:
        again = cut.recomputed
        return {
            "saved": [value.name for value in cut.saved],
            "again": again,
            "first": [node.name for node in cut.forward.calls],
            "second": [node.name for node in cut.backward.calls],
            "bytes": cut.saved_bytes,
            "cost": sum(price(self.nodes[name]) for name in again),
            "why": {
                d.value: [d.rule, *map(self._told, (d.detail, "" if d.rule in HARD else d.flip))]
                for d in cut.decisions
            },
        }

    def _node(self, node: Node, free: bool) -> Json:
        meta = node.meta
        assert meta is not None
        outputs = self.joint.graph.outputs
        gradients = outputs[self.joint.outputs :]
        made: Json = {
            "name": node.name,
            "text": spelled_out(node, self._name),
            "args": [source.name for source in node.all_input_nodes],
            "side": self._side(node),
            "meta": str(meta),
            "bytes": hint(meta.nbytes),
            "view": node.op == "call_function" and bool(node.target.alias),
            "free": free,
        }
        if node.origin is not None:
            made["line"] = node.origin.line
        if node in outputs[: self.joint.outputs]:
            made["returned"] = True
        wanted = [self._name(p) for p, g in zip(self.joint.primals, gradients) if g is node]
        return made | ({"gradient_of": wanted} if wanted else {})

    def _told(self, said: str) -> str:
        """The partitioner's sentence, in the user's names."""
        return re.sub(r"\b(primals|tangents)_\d+\b", lambda m: self.labels.get(m[0], m[0]), said)

    def _side(self, node: Node) -> str:
        if node.op == "placeholder":
            return "tangent" if node in self.joint.tangents else "input"
        if node.op == "get_attr":
            return "input"
        if node in self.parts.backward:
            return "backward"
        return "forward" if node in self.parts.forward else "either"

    def _name(self, node: Node) -> str:
        return self.labels.get(node.name, node.name)


def key(forced: dict[str, str]) -> str:
    """How an answer is found again: "mul:again,sin:save"."""
    return ",".join(f"{name}:{way}" for name, way in sorted(forced.items()))


def text_of(labels: dict[str, str], names: Collection[str]) -> str:
    """The user's names, or "nothing"."""
    return ", ".join(labels.get(name, name) for name in names) or "nothing"
