"""Where the joint graph is cut in two, and what crosses the cut.

In: a joint graph.  Out: `Cut`: the forward graph `primals -> (*outputs, *saved)`, the backward
graph `(*numbers, *saved, *tangents) -> gradients`, and the saved values by name with their bytes.
Invariant: both graphs together compute what the joint graph computes; the forward reads no tangent.
A partitioner is a function Joint -> Cut that decides what to save; `cut_at` does the rest. The one
here saves what the backward reads; the one in mincut.py computes some of it again.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..graph import Graph, Node, TensorMeta, map_nodes, verify
from ..ops.sharing import memory_of, meta_of
from ..shapes import hint
from .joint import Joint, needed


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
class Decision:
    """Whether a value is saved, by which rule, and what would flip that."""

    value: str
    saved: bool
    rule: str
    detail: str
    nbytes: int
    flip: str


@dataclass(frozen=True)
class Cut:
    """The two halves; the forward's last `len(saved)` results are the backward's first inputs.

    `kept` are the joint graph's nodes that are saved; `decisions` say why, and why others are not.
    """

    forward: Graph
    backward: Graph
    saved: tuple[Saved, ...]
    kept: tuple[Node, ...] = ()
    decisions: tuple[Decision, ...] = ()

    @property
    def saved_bytes(self) -> int:
        return sum(value.nbytes for value in self.saved)

    @property
    def recomputed(self) -> list[str]:
        """The operators, views apart, that run in the forward and again in the backward."""
        first = {node.name for node in self.forward.calls}
        return [n.name for n in self.backward.calls if n.name in first and not n.target.alias]

    def __str__(self) -> str:
        crossing = "".join(f"# saved {value}\n" for value in self.saved)
        forward = self.forward.python_code("forward")
        return forward + crossing + self.backward.python_code("backward")


def default_partition(joint: Joint) -> Cut:
    """Save every value of the forward that the backward reads; nothing is computed twice.

    Of a view the base is saved, and the view is taken anew in the backward: a view keeps its base's
    memory alive anyway, and a base is a tensor whose version the runtime can watch.
    """
    forward = joint.parts().forward
    readers: dict[Node, list[str]] = {}
    for node in joint.graph.calls:
        if node not in forward:
            for source in node.all_input_nodes:
                if source in forward:
                    readers.setdefault(memory_of(source), []).append(node.name)
    for gradient in joint.gradients:
        if gradient in forward:
            readers.setdefault(memory_of(gradient), []).append("the caller")
    cut = cut_at(joint, readers)
    return replace(cut, decisions=tuple(_saved_because(n, readers[n]) for n in cut.kept))


def _saved_because(node: Node, readers: list[str]) -> Decision:
    return Decision(
        node.name, True, "read", f"read in the backward by {', '.join(readers)}",
        hint(meta_of(node).nbytes),
        "partitioner='min_cut' found that cheaper",
    )


def cut_at(joint: Joint, saved: Iterable[Node]) -> Cut:
    """Cut so that `saved` crosses; the backward computes whatever else it reads again from that."""
    chosen = set(saved)
    keep = tuple(n for n in joint.graph.nodes if n in chosen and n.op != "get_attr")
    outputs, gradients = joint.graph.outputs[: joint.outputs], joint.graph.outputs[joint.outputs:]
    forward = _extract(joint.primals, (*outputs, *keep), joint.graph)
    backward = _extract([*keep, *joint.tangents], tuple(gradients), joint.graph)
    primals = set(joint.primals)
    crossing = tuple(Saved(node.name, meta_of(node), node in primals) for node in keep)
    return Cut(forward, backward, crossing, keep)


def _extract(inputs: Sequence[Node], outputs: tuple, graph: Graph) -> Graph:
    """The part of `graph` that computes `outputs` from `inputs`, which become its placeholders,
    after those for numbers."""
    wanted = needed(outputs, inputs)
    part = Graph()
    env = {node: part.number(node.name, node.symbol, node.origin) for node in graph.numbers}
    for node in inputs:
        if node not in env:
            env[node] = part.placeholder(node.name, node.meta, node.origin)
    for node in graph.nodes:
        if node in wanted and node not in env:
            assert node.op != "placeholder", f"the cut does not hold: {node} is needed beyond it"
            env[node] = part.node_copy(node, env.__getitem__)
    part.output(map_nodes(outputs, env.__getitem__), graph.output_node.origin)
    return verify(part, functional=True)
