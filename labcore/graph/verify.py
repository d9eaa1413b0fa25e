"""Is this graph well formed? Run between all passes in tests, and after capture always.

Raises GraphError, which names the node and the rule: a malformed graph is a bug of the lab, never
of its user.
"""
from __future__ import annotations

from .graph import Graph
from .node import OPCODES


class GraphError(AssertionError):
    """A pass handed on a graph that breaks an invariant."""


def verify(graph: Graph, functional: bool = False) -> Graph:
    """Check order, uses, names, and the output; `functional` also refuses in-place operators."""
    seen: set = set()
    names: set[str] = set()
    numbers = {node.name for node in graph.numbers}
    inputs = {node: dict.fromkeys(node.all_input_nodes) for node in graph.nodes}
    body = False
    for node in graph.nodes:
        _require(node.op in OPCODES, node, f"unknown opcode {node.op!r}")
        _require(node.graph is graph, node, "belongs to another graph")
        _require(node.name not in names, node, "its name is taken")
        _require(
            not (body and node.op == "placeholder"), node, "a placeholder after the first call"
        )
        body |= node.op != "placeholder"
        for used in inputs[node]:
            _require(used in seen, node, f"reads {used.name}, which does not stand before it")
            _require(node in used.users, node, f"is no registered user of {used.name}")
        for user in node.users:
            _require(
                node in inputs.get(user, ()), node, f"{user.name} is a user that does not read it"
            )
        if node.op == "call_function":
            whole = getattr(node.target, "opaque", False)  # it may give several tensors
            told = node.meta is not None or whole
            _require(told, node, "has no meta: shape and dtype are unknown")
            mutates = getattr(node.target, "mutates", False)
            _require(
                not (functional and mutates), node, "mutates its input after functionalization"
            )
        unknown = node.symbols - numbers
        _require(not unknown, node, f"speaks of {unknown}, which no placeholder gives")
        seen.add(node)
        names.add(node.name)
    last = graph.nodes[-1] if graph.nodes else None
    if last is None or last.op != "output" or sum(n.op == "output" for n in graph.nodes) != 1:
        raise GraphError("a graph ends with its one output node")
    return graph


def _require(ok: bool, node: object, rule: str) -> None:
    if not ok:
        raise GraphError(f"node {node}: {rule}")
