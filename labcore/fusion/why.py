"""The verdict on any two nodes, on demand: also on pairs that the scheduler had no reason to try.

In: a `Schedule` and the names of two nodes.  Out: a `Verdict` as the scheduler would have given it.
Invariant: what it answers is true of the schedule as it is: nodes of one nest are fused, others are
not.
"""
from __future__ import annotations

from dataclasses import replace

from .deps import Group, Node, dependencies, nodes_of, users_of
from .nest import Nest
from .order import Order
from .pair import Verdict
from .peak import Holding
from .program import Extern
from .scheduler import Schedule
from .verdicts import judge, node_between


def why_not(schedule: Schedule, first: str, second: str) -> Verdict:
    """Why two nodes of the graph share a nest, or why they do not and what would flip that.

    A node that has no loops of its own is answered for by a node that computes it. Raises KeyError
    for a name that no step of the schedule has.
    """
    return Court(schedule).verdict(first, second)


class Court:
    """The schedule's groups as the scheduler left them, to be asked about many pairs."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.nodes = nodes_of(schedule.program)
        self.users = users_of(self.nodes)
        self.by_step = {node.step: node for node in self.nodes}
        groups = [self._group(step) for step in schedule.steps]
        self.home = {node: group for group in groups for node in group.nodes}
        self.order = Order(groups, dependencies(self.nodes))
        self.holding = Holding(self.nodes, self.users, self.order, schedule.options)

    def _group(self, step: Nest | Extern) -> Group:
        if isinstance(step, Extern):
            return Group([self.by_step[step]])
        nodes = [self.by_step[node.step] for node in step.nodes]
        return Group(nodes, step.group.outer, step.group.inner)

    def verdict(self, first: str, second: str) -> Verdict:
        inlined = next((v for v in self.schedule.program.decisions
                        if {v.first, v.second} == {first, second}), None)
        if inlined is not None:
            return inlined
        a, b = sorted((self._node(first), self._node(second)), key=lambda node: node.order)
        if a is b:
            return Verdict(first, second, True, "one loop", f"{a} computes both.")
        alone = judge(Group.of(a), Group.of(b), self.users, self.schedule.options)
        if self.home[a] is self.home[b]:
            return alone if alone.ok else self._by_way_of_others(a, b, alone)
        return self._apart(a, b, alone)

    def _node(self, name: str) -> Node:
        """The node of that name, or the first that computes the graph node of that name."""
        for node in self.nodes:
            if name in (node.title, node.name):
                return node
        for node in self.nodes:
            origins = () if isinstance(node.step, Extern) else node.step.origin
            if name in [origin.name for origin in origins]:
                return node
        raise KeyError(f"{name}: the steps are {', '.join(node.title for node in self.nodes)}")

    def _by_way_of_others(self, a: Node, b: Node, alone: Verdict) -> Verdict:
        others = [node.title for node in self.home[a].nodes if node is not a and node is not b]
        return Verdict(
            a.title, b.title, True, "same nest by way of others",
            f"alone they would stay apart ({alone.rule}); each fits {', '.join(others)}.",
        )

    def _apart(self, a: Node, b: Node, alone: Verdict) -> Verdict:
        """What keeps two nodes in two nests: their own loops, or the company they are in."""
        if not alone.ok:
            return alone
        left, right = sorted({self.home[a], self.home[b]}, key=lambda group: group.nodes[0].order)
        together = node_between(left, right, self.order) or judge(
            left, right, self.users, self.schedule.options)
        if together.ok:
            together = self.holding.more(left, right) or together
        if together.ok:
            return replace(together, ok=False, rule="not tried",
                           detail="too many others use the same buffers between them.",
                           flip="they were nearer to each other in the program")
        return replace(together, first=a.title, second=b.title)
