"""The cut through the joint graph that saves the fewest bytes, at a price for computing again.

In: a joint graph, and a memory budget.  Out: a `Cut`, with the reason for each value.
Invariant: no cut that computes nothing expensive again saves fewer bytes; so it never saves more
than the default partition does.

Each value is an edge with its bytes as capacity, and leads on without limit to what reads it, up to
the sink: what depends on a gradient. The source leads to the inputs, and to what a rule speaks
against computing again. The minimum cut takes the cheapest edges apart; they are the saved values.
Where a rule is soft the source's edge has a finite capacity, the price of computing again, and the
budget is kept by changing what a byte costs. PyTorch solves a knapsack over the forbidden values
instead, and bytes far from the backward are dearer there, so it may save more than the default.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..graph import Node
from ..ops.sharing import meta_of
from ..shapes import hint
from .joint import Joint, Parts, needed
from .partition import Cut, Decision, cut_at
from .rules import FORCED, INPUT, Rule, price, readers, rules

SOURCE, SINK = "forward", "backward"


@dataclass(frozen=True)
class Choice:
    """What is saved, how many bytes that is, and what computing the rest again costs."""

    saved: frozenset[Node]
    nbytes: int
    cost: int


def min_cut_partition(
    joint: Joint, budget: float = 1.0, save: Collection[str] = (), recompute: Collection[str] = ()
) -> Cut:
    """Cut where it saves the fewest bytes that the budget allows.

    budget: 1 computes nothing again that a rule speaks against; 0 saves as little as can be;
    between them it is the share of the difference that may be saved.
    save, recompute: names of forward values that are saved, or not, whatever it costs.
    Raises ValueError for a name that is no value of the forward, or that cannot be computed again.
    """
    network = network_of(joint, save, recompute)
    return network.cut(network.within(budget))


def network_of(
    joint: Joint, save: Collection[str] = (), recompute: Collection[str] = ()
) -> Network:
    """The network of a joint graph, with values that are forced. Raises ValueError as above."""
    return Network(joint, joint.parts(), frozenset(save), frozenset(recompute))


@dataclass(frozen=True)
class Network:
    """The joint graph as a flow network. `save` and `recompute` are names of forced values."""

    joint: Joint
    parts: Parts
    save: frozenset[str] = frozenset()
    recompute: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        known = {n.name: n for n in self.joint.graph.nodes if self.may_be_saved(n)}
        for name in (*self.save, *self.recompute):
            if name not in known:
                raise ValueError(
                    f"{name!r} is no value of the forward; there are {', '.join(known)}"
                )
        for name in self.recompute:
            rule = self.rules.get(known[name])
            if name in self.save or rule is not None and rule.hard:
                why = "it is to be saved" if name in self.save else rule.why  # type: ignore
                raise ValueError(f"{name!r} cannot be computed again: {why}")

    @cached_property
    def rules(self) -> dict[Node, Rule]:
        """What speaks against computing a node again, by what was asked for first."""
        found = rules(self.joint, self.parts)
        asked = {node: FORCED for node in self.joint.graph.nodes if node.name in self.save}
        return {n: r for n, r in found.items() if n.name not in self.recompute or r.hard} | asked

    @cached_property
    def values(self) -> list[Node]:
        """The tensors that the backward needs and that no gradient is needed for."""
        wanted = needed(self.joint.gradients) | set(self._forced())
        return [
            node for node in self.joint.graph.nodes
            if node in wanted and node not in self.parts.backward and node.op != "get_attr"
        ]

    @cached_property
    def prices(self) -> dict[Node, int]:
        """Of what may be computed again though a rule speaks against it."""
        return {n: price(n) for n in self.values if n in self.rules and not self.rules[n].hard}

    # ---- choosing -------------------------------------------------------------------------------

    def within(self, budget: float) -> Choice:
        """The cheapest choice on the frontier that keeps to the budget."""
        dear, small = self._ends()
        allowed = small.nbytes + budget * (dear.nbytes - small.nbytes)
        if dear.nbytes <= allowed:
            return dear
        while (between := self._between(dear, small)) is not None:
            if between.nbytes <= allowed:
                small = between
            else:
                dear = between
        return small

    def frontier(self) -> list[Choice]:
        """All choices that some budget makes, from that for 1 to that for 0."""
        dear, small = self._ends()
        return [dear] if dear.nbytes == small.nbytes else [dear, *self._after(dear, small)]

    def _after(self, dear: Choice, small: Choice) -> list[Choice]:
        between = self._between(dear, small)
        if between is None:
            return [small]
        return [*self._after(dear, between), *self._after(between, small)]

    def _ends(self) -> tuple[Choice, Choice]:
        """Nothing computed again that a rule speaks against; and as few bytes as can be."""
        dear = self.cheapest(1 + sum(map(nbytes, self.values)), 1)
        if not self.prices:
            return dear, dear
        return dear, self.cheapest(1, 1 + sum(self.prices.values()))

    def _between(self, dear: Choice, small: Choice) -> Choice | None:
        """A choice between two of the frontier, found by weighing bytes against cost as their
        differences do; where nothing is better than the two, there is none."""
        of_cost, of_bytes = dear.nbytes - small.nbytes, small.cost - dear.cost
        found = self.cheapest(of_cost, of_bytes)
        better = of_cost * (small.cost - found.cost) > of_bytes * (found.nbytes - small.nbytes)
        return found if better else None

    def cheapest(self, of_cost: int, of_bytes: int) -> Choice:
        """The minimum of `of_cost * cost + of_bytes * bytes`.

        Of equal ones, that which saves what is alive anyway, then what the forward computes anyway,
        then that which computes the least again.
        """
        import networkx

        edges = networkx.DiGraph()
        edges.add_nodes_from((SOURCE, SINK))
        finer = 1 + 2 * len(self.values)  # what decides between equal ones weighs less than a byte
        for node in self.values:
            self._connect(edges, node, of_cost * finer, of_bytes * finer, of_bytes)
        _, (before, _) = networkx.minimum_cut(edges, SOURCE, SINK)
        again = [node for node in self.values if (node, "in") not in before]
        saved = [n for n in self.values if n not in again and (n, "out") not in before]
        cost = sum(self.prices.get(node, 0) for node in again)
        return Choice(frozenset(saved), sum(map(nbytes, saved)), cost)

    def _connect(
        self, edges: Any, node: Node, of_cost: int, of_bytes: int, of_trouble: int
    ) -> None:
        """A node's edges; one without a capacity is never cut."""
        add = edges.add_edge
        if node in self.prices:
            add(SOURCE, (node, "in"), capacity=of_cost * self.prices[node])
        elif node in self.rules:
            add(SOURCE, (node, "in"))
        if node.name in self.recompute:
            add((node, "in"), SINK)
        if node.op == "call_function" and node.target.alias:
            add((node, "in"), (node, "out"))
        else:
            keeping = of_bytes * nbytes(node) + of_trouble * self._trouble(node)
            add((node, "in"), (node, "out"), capacity=keeping)
        read_late = node in self.joint.gradients or node.name in self.save
        for reader in node.users:
            if reader in self.parts.backward:
                read_late = True
            elif reader.op == "call_function":
                add((node, "out"), (reader, "in"))
        if read_late:
            add((node, "out"), SINK)

    def _trouble(self, node: Node) -> int:
        """0 for what is alive anyway: returned, or an input that the backward reads in any case; 1
        for what the forward computes anyway. 2 for what it does not, and for an input that eager
        mode would not save: somebody might write to it before the backward."""
        if node in self.joint.graph.outputs[: self.joint.outputs]:
            return 0
        if node.op == "placeholder":
            return 0 if any(r in self.parts.backward for r in readers(node)) else 2
        return 1 if node in self.parts.forward else 2

    def may_be_saved(self, node: Node) -> bool:
        """Is it a value that may be forced? A view is never saved: its base is."""
        placed = node.op == "placeholder" and not node.symbol
        computed = node.op == "call_function" and not node.target.alias
        return node in self.parts.forward and (placed or computed)

    def _forced(self) -> Iterable[Node]:
        return (n for n in self.joint.graph.nodes if n.name in self.save | self.recompute)

    def cut(self, choice: Choice) -> Cut:
        """The two graphs of a choice, with the reason for each value."""
        found = cut_at(self.joint, choice.saved)
        return replace(found, decisions=tuple(self.reasons(found)))

    # ---- reasons --------------------------------------------------------------------------------

    def reasons(self, cut: Cut) -> Iterable[Decision]:
        """Why each value that the backward needs is saved or computed again."""
        again = set(cut.recomputed)
        for node in self.values:
            if node in cut.kept:
                yield self._why_saved(node, cut)
            elif node.name in again:
                yield self._why_again(node)

    def _why_saved(self, node: Node, cut: Cut) -> Decision:
        rule = self.rules.get(node)
        if rule is not None:
            flip = _unread(node, cut) if rule is INPUT else rule.flip
            return Decision(node.name, True, rule.name, rule.why, nbytes(node), flip)
        sources = _named(node.all_input_nodes)
        return Decision(
            node.name, True, "cheapest to keep",
            f"to keep what it is computed from, {sources}, would take no fewer bytes",
            nbytes(node), f"{sources} were smaller, or saved anyway",
        )

    def _why_again(self, node: Node) -> Decision:
        sources = _named(node.all_input_nodes)
        if node.name in self.recompute:
            rule, detail, flip = "forced", FORCED.why, FORCED.flip
        elif node in self.rules:
            rule = "memory budget"
            detail = f"it costs {self.prices[node]} operations, and the budget asks for memory"
            flip = "the memory budget were larger"
        else:
            rule, detail = "cheap", f"{node.target.name} of {sources} joins the loop that reads it"
            flip = f"{sources} took more bytes than it does and were kept for it alone"
        return Decision(node.name, False, rule, detail, nbytes(node), flip)


def _unread(node: Node, cut: Cut) -> str:
    """What would let go of an input: that nothing in the backward read it."""
    kept = next(n for n in cut.backward.nodes if n.name == node.name)
    users = [user.name for user in kept.users if user.op == "call_function"]
    return f"{', '.join(users) or 'the caller'} did not read it in the backward"


def nbytes(node: Node) -> int:
    """Of a tensor, for the sizes that were seen."""
    return hint(meta_of(node).nbytes)


def _named(nodes: list[Node]) -> str:
    return ", ".join(node.name for node in nodes) or "nothing"
