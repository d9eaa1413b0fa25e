"""Small passes over graphs: each a named function Graph -> Graph that leaves its argument alone.

In: a graph.  Out: a new one that computes the same; inputs, outputs, names and origins stay.
Invariant: distinct outputs stay distinct values, for each is a tensor of its own in the user's
hands, and one the user may write to.
AOTAutograd decomposes some 500 ATen operators while it traces; its clean-ups are `fx_graph_cse` and
dead code elimination. Constant folding and the pattern matcher, files of their own here, are
Inductor's.
"""
from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..graph import Graph, Node, map_nodes, verify
from ..ops import OPS, Op
from ..ops.dispatch import interpreting
from ..ops.sharing import handed_on, same_view_above
from ..ops.tracer import Tracer
from .folding import fold_constants
from .simplify import simplify
from .told import told

Env = Callable[[Node], Any]
Rewrite = Callable[[Graph, Node, Env], Any]


def clean(graph: Graph) -> Graph:
    """All passes in their order, the graph checked after each."""
    for cleanup in (
        lower_operators,
        remove_identity_views,
        fold_constants,
        simplify,
        merge_common_subexpressions,
        remove_dead_code,
    ):
        draws, graph = _draws(graph), verify(cleanup(graph))
        assert _draws(graph) == draws, f"{cleanup.__name__} lost a draw of random numbers"
    return graph


def _draws(graph: Graph) -> int:
    return sum(node.target.kind == "random" for node in graph.calls)


def decompose(graph: Graph) -> Graph:
    """Replace composites (reshape, linear, cross_entropy ...) by the operators they are, as eager
    mode does before it records."""
    return _expanded(graph, lambda op: op.compose)


def lower_operators(graph: Graph) -> Graph:
    """Replace also what is differentiated whole (softmax, gelu ...) by simpler operators, so that
    equal parts of forward and backward are found, and loops fuse."""
    return _expanded(graph, lambda op: op.compose or op.decompose)


def _expanded(graph: Graph, parts: Callable[[Op], Callable[..., Any] | None]) -> Graph:
    def expand(new: Graph, node: Node, env: Env) -> Any:
        function = parts(node.target)
        if function is None:
            return None
        with interpreting(Tracer(new, node.origin)):
            return function(*map_nodes(node.args, env), **map_nodes(node.kwargs, env))

    while any(parts(node.target) for node in graph.calls):  # parts may have parts
        graph = _rewritten(graph, expand)
    return graph


def remove_dead_code(graph: Graph) -> Graph:
    """Drop calls whose result nobody reads; inputs stay, they are the signature."""
    new, _ = graph.copy()
    for node in reversed(list(new.nodes)):
        if node.op in ("call_function", "get_attr") and not node.users:
            told("remove_dead_code", node, None, "nobody reads it")
            new.erase_node(node)
    return new


def remove_identity_views(graph: Graph) -> Graph:
    """Where a view shows just what an earlier tensor of its chain is (`x.t().t()`), read that."""

    def skip(new: Graph, node: Node, env: Env) -> Node | None:
        same = same_view_above(node)
        if same is None:
            return None
        told("remove_identity_views", node, env(same), "it shows the same elements in one layout")
        return env(same)

    return remove_dead_code(_rewritten(graph, skip))


def merge_common_subexpressions(graph: Graph) -> Graph:
    """Compute once what several nodes compute alike; outputs and random results stay apart."""
    returned: set[Node] = set()
    for value in graph.outputs:
        while isinstance(value, Node):
            returned.add(value)
            value = handed_on(value)
    seen: dict[Any, Node] = {}

    def merge(new: Graph, node: Node, env: Env) -> Node | None:
        if node in returned or node.target.kind == "random":
            return None
        given = _key(map_nodes(node.args, env)), _key(map_nodes(node.kwargs, env))
        key = (node.target.name, given)
        if key not in seen:
            seen[key] = new.node_copy(node, env)
        else:
            told("merge_common_subexpressions", node, seen[key], "both compute the same")
        return seen[key]

    return _rewritten(graph, merge)


def without_gradients(graph: Graph, missing: Collection[str]) -> Graph:
    """A backward graph in which no gradient comes in at the placeholders `missing`.

    What would have come of them alone is nothing, and None where it is an output; where it would
    have been added to something, that remains. The other calls are traced anew, as a layout may be
    another one.
    """
    new, env = Graph(), dict[Node, Any]()
    nothing: set[Node] = set()
    tracer = Tracer(new, decompose=True)
    for node in graph.nodes:
        sources = node.all_input_nodes
        if node.name in missing and node.op == "placeholder":
            nothing.add(node)
        elif node.op == "output":
            new.output(map_nodes(node.args[0], env.get), node.origin)
        elif node.op != "call_function":
            env[node] = new.node_copy(node, env.__getitem__)
        elif nothing.isdisjoint(sources):
            tracer.origin = node.origin
            env[node] = _called(tracer, node, env)
        elif node.target.name in ("add", "sub") and not nothing.issuperset(sources):
            (left,) = (source for source in sources if source not in nothing)
            env[node] = env[left]
            if node.target.name == "sub" and node.args[1] is left:
                tracer.origin = node.origin
                with interpreting(tracer):
                    env[node] = OPS["neg"](env[left])
        else:  # an operator's gradients are linear in the one gradient that they are made of
            nothing.add(node)
    return verify(new)


def _called(tracer: Tracer, node: Node, env: dict[Node, Any]) -> Node:
    """The node's operator once more; what was a view may have to be a copy of its new operand."""
    op = OPS["reshape"] if node.target.name == "view" else node.target
    with interpreting(tracer):
        return op(*map_nodes(node.args, env.__getitem__), **map_nodes(node.kwargs, env.__getitem__))


def _rewritten(graph: Graph, rewrite: Rewrite) -> Graph:
    """A copy in which each call is `rewrite(new graph, node, env)`; None keeps the call."""
    new = Graph()
    env: dict[Node, Any] = {}
    for node in graph.nodes:
        result = rewrite(new, node, env.__getitem__) if node.op == "call_function" else None
        env[node] = new.node_copy(node, env.__getitem__) if result is None else result
    return new


def _key(value: Any) -> Any:
    """Equal for arguments that mean the same: 1, 1.0 and True do not, nor do 0.0 and -0.0."""
    if isinstance(value, Node):
        return value
    if isinstance(value, (tuple, list)):
        return type(value), tuple([_key(v) for v in value])
    if isinstance(value, dict):
        return tuple(sorted((k, _key(v)) for k, v in value.items()))
    return type(value), repr(value)
