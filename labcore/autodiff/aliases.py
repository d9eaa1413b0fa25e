"""Outputs that share memory with an input or with each other, taken out of the compiled graph.

In: a graph.  Out: `Split`: a core graph that returns each computed tensor once, and an epilogue
graph that makes the outputs of the caller's own tensors and those results, by eager views.
Invariant: no output of the core is an input, a view, or another output. So after `y = compiled(x)`,
`y is x` or `y._base is x` or `y._base is z` holds where it does in eager mode, and later in-place
writes go where they would have gone.
AOTAutograd does so for views of inputs (`OutputType.alias_of_input`, `gen_alias_from_base`); a lone
view of a computed value it returns as a plain tensor: here `_base` stays what eager mode makes it.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..graph import Graph, GraphModule, Node, map_nodes, verify
from ..ops import OPS
from ..ops.sharing import base_of, memory_of, view_source
from .passes import remove_dead_code


@dataclass(frozen=True)
class Split:
    """`core` computes; `epilogue` takes the inputs at `arguments`, then the core's results.

    The epilogue is None when the core's results are the outputs as they stand. `results` are the
    nodes of the given graph that the core returns.
    """

    core: Graph
    epilogue: Graph | None
    arguments: tuple[int, ...]
    results: tuple[Node, ...]


def split_aliases(graph: Graph) -> Split:
    """Cut `graph` where computing ends and only views of what exists remain."""
    roots = list(dict.fromkeys(memory_of(v) for v in graph.outputs if isinstance(v, Node)))
    computed = [node for node in roots if node.op == "call_function"]
    core, env = graph.copy()
    attached = {base_of(value) for value in graph.outputs if isinstance(value, Node)}
    with core.inserting_before(core.output_node):
        results = [env[n] if n in attached else _cut_off(core, env[n]) for n in computed]
    core.output_node.set_args((tuple(results),))
    core = verify(remove_dead_code(core))
    if graph.outputs == computed:
        return Split(core, None, (), tuple(computed))
    epilogue = _epilogue(graph, roots, computed)
    taken = {node.name for node in epilogue.placeholders}
    arguments = tuple(i for i, node in enumerate(graph.placeholders) if node.name in taken)
    return Split(core, epilogue, arguments, tuple(computed))


def given_back(gm: GraphModule, results: Sequence[Node]) -> dict[str, int]:
    """Placeholder -> which of `results` is its new contents, and is returned for that alone."""
    outputs = gm.graph.outputs
    memories = [memory_of(value) for value in outputs if isinstance(value, Node)]
    return {
        name: results.index(outputs[place])
        for name, place in gm.overwritten.items()
        if place is not None and outputs[place] in results and memories.count(outputs[place]) == 1
    }


def _epilogue(graph: Graph, roots: list[Node], computed: list[Node]) -> Graph:
    """The views between the roots and the outputs, each once, as a graph of its own."""
    part = Graph()
    env: dict[Node, Any] = {}
    for node in [*(n for n in graph.placeholders if n in roots), *computed]:
        env[node] = part.placeholder(node.name, node.meta, node.origin)
    views = _views_below(graph)
    spoken = {symbol for node in (*roots, *views) for symbol in node.symbols}
    for node in graph.numbers:
        if node.name in spoken:
            part.number(node.name, node.symbol, node.origin)
    for node in graph.nodes:
        if node in views or (node.op == "get_attr" and node in roots):
            env[node] = part.node_copy(node, env.__getitem__)
    outputs = tuple(map_nodes(value, env.__getitem__) for value in graph.outputs)
    part.output(outputs, graph.output_node.origin)
    return verify(part)


def _cut_off(core: Graph, node: Node) -> Node:
    """A result that is only seen detached: no backward is made for it."""
    if node.meta is None or not node.meta.dtype.is_floating_point:
        return node
    op, meta = OPS["_stop_gradient"], node.meta.with_grad(False)
    return core.call_function(op, (node,), meta=meta, origin=node.origin)


def _views_below(graph: Graph) -> set[Node]:
    """View nodes on the way from an output to its root."""
    found: set[Node] = set()
    for value in graph.outputs:
        while (source := view_source(value)) is not None:
            found.add(value)
            value = source
    return found
