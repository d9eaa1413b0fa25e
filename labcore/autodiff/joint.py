"""The joint graph: forward and backward in one, before anyone decides where to cut.

In: a functional graph, and which of its inputs want gradients.
Out: `Joint`, a graph `(primals_1.., tangents_1..) -> (*outputs, *gradients)`.
Invariant: a backward node has the origin of the forward node it differentiates; gradients arrive
and are added in the order of the eager tape (latest forward node first), so both round alike; a
primal that wants no gradient has None in its place.
AOTAutograd traces the real autograd engine over fake tensors; here the derivative rules of the
operator table run under a `Tracer`, which is the same walk without the engine.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import ops
from ..graph import Graph, Node, map_nodes, verify
from ..ops import derivatives
from ..ops.dispatch import interpreting
from ..ops.sharing import meta_of
from ..ops.tracer import Tracer


@dataclass(frozen=True)
class Parts:
    """`forward`: what the outputs are computed from.  `backward`: what depends on a tangent.

    A node in neither is read by the backward alone and could be computed on both sides.
    """

    forward: set[Node]
    backward: set[Node]


@dataclass(frozen=True)
class Joint:
    """`graph` returns `outputs` values of the forward, then a gradient or None for each primal.

    `tangent_of` has, for each tangent, the position of the output whose gradient it is.
    """

    graph: Graph
    outputs: int
    tangent_of: tuple[int, ...]

    @property
    def primals(self) -> list[Node]:
        return self.graph.placeholders[: len(self.graph.placeholders) - len(self.tangent_of)]

    @property
    def tangents(self) -> list[Node]:
        return self.graph.placeholders[len(self.primals):]

    @property
    def gradients(self) -> list[Node]:
        """The graph's gradients, without the None of primals that want none."""
        return [g for g in self.graph.outputs[self.outputs:] if isinstance(g, Node)]

    def parts(self) -> Parts:
        """Which nodes are the forward's, which the backward's."""
        backward = set(self.tangents)
        for node in self.graph.calls:
            if not backward.isdisjoint(node.all_input_nodes):
                backward.add(node)
        return Parts(needed(self.graph.outputs[: self.outputs]) | set(self.primals), backward)

    def after(self, cleanup: Callable[[Graph], Graph]) -> Joint:
        """The same joint graph after a pass, verified."""
        return replace(self, graph=verify(cleanup(self.graph), functional=True))

    def __str__(self) -> str:
        return self.graph.python_code("joint")


def needed(values: Iterable[object], given: Iterable[Node] = ()) -> set[Node]:
    """All nodes that `values` are computed from, themselves too; it stops at those `given`."""
    found = set(given)
    waiting = [v for v in values if isinstance(v, Node)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.all_input_nodes)
    return found


def trace_joint(graph: Graph, wanted: Sequence[bool], unused: Collection[int] = ()) -> Joint:
    """The forward graph followed by the gradients of those inputs that are `wanted`.

    From `unused` outputs nothing flows back: they have no tangent.
    """
    verify(graph, functional=True)
    differentiable = _differentiable_nodes(graph, wanted)
    outputs = enumerate(graph.outputs)
    tangents = dict(enumerate((i for i, value in outputs if value in differentiable), 1))
    joint = Graph()
    env: dict[Node, Node] = {}
    for i, (node, want) in enumerate(zip(graph.placeholders, wanted), 1):
        env[node] = (
            joint.node_copy(node, env.__getitem__)
            if node.symbol
            else joint.placeholder(f"primals_{i}", meta_of(node).with_grad(want), node.origin)
        )
    gradients = {}
    for k, i in tangents.items():
        if i not in unused:
            output = graph.outputs[i]
            gradients[output] = joint.placeholder(f"tangents_{k}", output.meta, output.origin)
    for node in graph.nodes:
        if node.op in ("get_attr", "call_function"):
            env[node] = joint.node_copy(node, env.__getitem__)
    _trace_backward(graph, joint, env, differentiable, gradients)
    results = [map_nodes(value, env.__getitem__) for value in graph.outputs]
    grads = [gradients.get(node) for node in graph.placeholders]
    joint.output((*results, *grads), graph.output_node.origin)
    tangent_of = tuple(i for i in tangents.values() if i not in unused)
    return Joint(verify(joint, functional=True), len(results), tangent_of)


def _differentiable_nodes(graph: Graph, wanted: Sequence[bool]) -> set[Node]:
    """Nodes that depend differentiably on a wanted input: which require grad in eager mode."""
    found = {node for node, want in zip(graph.placeholders, wanted) if want}
    for node in graph.calls:
        if meta_of(node).dtype.is_floating_point and any(True for _ in _paths(node, found)):
            found.add(node)
    return found


def _paths(node: Node, differentiable: set[Node]) -> Iterator[str]:
    """Parameters of the node's operator through which a gradient flows."""
    bound = node.target.bind(node.args, node.kwargs)
    for parameter in node.target.derivatives:
        value = bound[parameter]
        values = value if isinstance(value, (tuple, list)) else (value,)
        if any(v in differentiable for v in values if isinstance(v, Node)):
            yield parameter


def _trace_backward(graph: Graph, joint: Graph, env: dict[Node, Node], differentiable: set[Node],
                    gradients: dict[Node, Node]) -> None:
    """Walk back from the outputs; `gradients` holds the sum so far for each node of `graph`."""
    tracer = Tracer(joint)
    with interpreting(tracer):
        for node in reversed(graph.calls):
            if node not in differentiable or node not in gradients:
                continue
            tracer.origin = node.origin
            for source, grad in _pull_back(node, env, differentiable, gradients.pop(node)):
                before = gradients.get(source)
                gradients[source] = grad if before is None else ops.add(before, grad)


def _pull_back(node: Node, env: dict[Node, Node], differentiable: set[Node],
               grad: Node) -> list[tuple[Node, Node]]:
    """(input, its gradient) pairs of one node, for the inputs that want one."""
    bound = node.target.bind(node.args, node.kwargs)
    values = map_nodes(bound, env.__getitem__)
    wanted = list(_paths(node, differentiable))
    found = derivatives.gradients(node.target, values, env[node], grad, wanted)
    pairs: list[tuple[Node, Node]] = []
    for parameter in wanted:
        operand, gradient = bound[parameter], found[parameter]
        if isinstance(operand, Node):
            pairs.append((operand, gradient))
        else:
            pairs.extend((o, g) for o, g in zip(operand, gradient) if o in differentiable)
    return pairs
