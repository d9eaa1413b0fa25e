"""Where the joint graph is cut in two, and what crosses the cut.

In: a joint graph.  Out: `Cut`: the forward graph `primals -> (*outputs, *saved)`, the backward
graph `(*numbers, *saved, *tangents) -> gradients`, and the saved values by name with their bytes.
Invariant: both graphs together compute what the joint graph computes; the forward reads no tangent.
A partitioner is a function Joint -> Cut that decides what to save; `cut_at` does the rest.
AOTAutograd has this one, and `min_cut_rematerialization_partition`, which Inductor uses: it saves
less and computes some values again in the backward.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..graph import Graph, Node, TensorMeta, map_nodes, verify
from ..ops.sharing import memory_of, meta_of
from ..shapes import hint
from .joint import Joint


@dataclass(frozen=True)
class Saved:
    """A value that waits between forward and backward. `primal`: it is an input, alive anyway."""

    name: str
    meta: TensorMeta
    primal: bool

    @property
    def nbytes(self) -> int:
        """Its bytes, for the sizes that were seen."""
        return hint(self.meta.nbytes)

    def __str__(self) -> str:
        note = " (an input)" if self.primal else ""
        return f"{self.name}: {self.meta}, {self.nbytes} bytes{note}"


@dataclass(frozen=True)
class Cut:
    """The two halves; the forward's last `len(saved)` results are the backward's first inputs."""

    forward: Graph
    backward: Graph
    saved: tuple[Saved, ...]

    @property
    def saved_bytes(self) -> int:
        return sum(value.nbytes for value in self.saved)

    def __str__(self) -> str:
        crossing = "".join(f"# saved {value}\n" for value in self.saved)
        forward = self.forward.python_code("forward")
        return forward + crossing + self.backward.python_code("backward")


def default_partition(joint: Joint) -> Cut:
    """Save every value of the forward that the backward reads; nothing is computed twice.

    Of a view the base is saved, and the view is taken anew in the backward: a view keeps its base's
    memory alive anyway, and a base is a tensor whose version the runtime can watch.
    """
    forward = set(joint.primals)
    _need(joint.graph.outputs[: joint.outputs], forward)
    read = [g for g in joint.graph.outputs[joint.outputs:] if isinstance(g, Node)]
    for node in joint.graph.calls:
        if node not in forward:
            read.extend(node.all_input_nodes)
    return cut_at(joint, {memory_of(node) for node in read if node in forward})


def cut_at(joint: Joint, saved: Iterable[Node]) -> Cut:
    """Cut so that `saved` crosses; the backward computes whatever else it reads again from that."""
    chosen = set(saved)
    keep = [n for n in joint.graph.nodes if n in chosen and n.op != "get_attr"]
    outputs, gradients = joint.graph.outputs[: joint.outputs], joint.graph.outputs[joint.outputs:]
    forward = _extract(joint.primals, (*outputs, *keep), joint.graph)
    backward = _extract([*keep, *joint.tangents], tuple(gradients), joint.graph)
    primals = set(joint.primals)
    crossing = tuple(Saved(node.name, meta_of(node), node in primals) for node in keep)
    return Cut(forward, backward, crossing)


def _need(values: Iterable[object], found: set[Node]) -> None:
    """Add to `found` all that `values` are computed from, stopping at what is there already."""
    waiting = [v for v in values if isinstance(v, Node)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.all_input_nodes)


def _extract(inputs: list[Node], outputs: tuple, graph: Graph) -> Graph:
    """The part of `graph` that computes `outputs` from `inputs`, which become its placeholders,
    after those for numbers."""
    needed = set(inputs)
    _need(outputs, needed)
    part = Graph()
    env = {node: part.number(node.name, node.symbol, node.origin) for node in graph.numbers}
    for node in inputs:
        if node not in env:
            env[node] = part.placeholder(node.name, node.meta, node.origin)
    for node in graph.nodes:
        if node in needed and node not in env:
            assert node.op != "placeholder", f"the cut does not hold: {node} is needed beyond it"
            env[node] = part.node_copy(node, env.__getitem__)
    part.output(map_nodes(outputs, env.__getitem__), graph.output_node.origin)
    return verify(part, functional=True)
