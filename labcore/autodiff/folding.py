"""Constant folding: what is the same number everywhere is computed now, and becomes a number.

In: a graph.  Out: one in which operators on tensors full of one number are done, and where such a
tensor is only an operand beside a larger one, the number itself.
Invariant: the eager kernel computes it, on one element, so the result is rounded as it would be.
Inductor folds all constants this way (`constant_fold_uniform_value`), frozen weights included; a
graph here has no tensors of its own, weights are inputs.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..devices import placing
from ..graph import Graph, Node, map_nodes
from ..ops import OPS
from ..ops.dispatch import interpreting
from ..ops.parts import OnMetas
from ..ops.promote import result_type
from ..ops.sharing import meta_of
from ..ops.tracer import Tracer
from ..shapes import SymNumber
from .patterns import returned, same_layout
from .told import told

FILLED = {"zeros": 0, "zeros_like": 0, "ones": 1, "ones_like": 1}
# Operators that take a number in the place of their second or third operand.
TAKES_NUMBER = ("add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "where")


def fold_constants(graph: Graph) -> Graph:
    """Compute what depends on constants alone, and put numbers where constants are operands."""
    new, env, kept = Graph(), dict[Node, Any](), returned(graph)
    random = set[Node]()  # what numbers are drawn for stays, also where only its shape counts
    uniform: dict[Node, Any] = {}  # nodes of the new graph that are full of one number
    for node in graph.nodes:
        env[node] = copy = new.node_copy(node, env.__getitem__)
        if node.op != "call_function":
            continue
        if node.target.kind == "random" or not random.isdisjoint(copy.all_input_nodes):
            random.add(copy)
            continue
        value = _number(copy, uniform)
        if value is None:
            env[node] = _with_numbers(copy, uniform)
        else:
            if not _is_factory(copy) and not (copy.target.alias and node in kept):
                env[node] = _filled(copy, value)
            uniform[env[node]] = value
    new.eliminate_dead_code()
    return new


def _is_factory(node: Node) -> bool:
    return node.target.name in FILLED or node.target.name in ("full", "full_like")


def _number(node: Node, uniform: dict[Node, Any]) -> Any:
    """The number that the node is full of, if that is known."""
    op = node.target
    if _is_factory(node):
        value = op.bind(node.args, node.kwargs).get("fill_value", FILLED.get(op.name))
        with np.errstate(all="ignore"):
            number = meta_of(node).dtype.numpy.type
            return None if isinstance(value, SymNumber) else number(value).item()
    inputs = node.all_input_nodes
    if not inputs or not all(source in uniform for source in inputs):
        return None
    if op.alias:
        return uniform[inputs[0]]
    return _computed(node, uniform) if op.kind == "pointwise" and not node.symbolic else None


def _computed(node: Node, uniform: dict[Node, Any]) -> Any:
    """One element of the node, by the eager kernel."""

    def one(source: Node) -> np.ndarray:
        meta = meta_of(source)
        return np.full((1,) * meta.ndim, uniform[source], meta.dtype.numpy)

    args, kwargs = map_nodes((node.args, node.kwargs), one)
    with np.errstate(all="ignore"):
        result = np.asarray(node.target.kernel(*args, **kwargs))
    return result.item() if result.dtype == meta_of(node).dtype.numpy else None


def _filled(node: Node, value: Any) -> Node:
    """A tensor full of the number instead of a call, where it has the call's layout."""
    meta, full = meta_of(node), OPS["full"]
    args = (tuple(meta.shape), value, meta.dtype)
    if not same_layout(full.meta(*args), meta):
        return node
    with interpreting(Tracer(node.graph, node.origin)):
        found: Node = full(*args, **placing(meta.device))
    told("fold_constants", node, found, f"every element is {value!r}, whatever the inputs are")
    return found


def _with_numbers(node: Node, uniform: dict[Node, Any]) -> Node:
    """The call with numbers instead of constant tensors, where that changes nothing else."""
    op, args = node.target, list(node.args)
    known = [isinstance(a, Node) and a in uniform for a in args]  # a symbol has no hash but a guard
    if op.name == "mul" and known[0] and isinstance(node.args[1], Node):
        args.reverse()
        known.reverse()
    places = [k for k in range(1, len(args)) if known[k]]
    if op.name not in TAKES_NUMBER or not places:
        return node
    for place in places:
        given = [uniform[a] if k == place else a for k, a in enumerate(args)]
        if _is_same(node, given):
            args = given
    if args == list(node.args):
        return node
    with interpreting(Tracer(node.graph, node.origin)):
        found: Node = op(*args, **node.kwargs)
    told("fold_constants", node, found, "a tensor full of one number is as good as the number")
    return found


def _is_same(node: Node, args: list[Any]) -> bool:
    """Would the call on these arguments have the same layout and type, and compute in that type? A
    comparison gives bools, whatever type it compares in."""
    given, before = map_nodes((args, list(node.args)), meta_of)
    try:
        with interpreting(OnMetas()):
            meta = node.target.meta(*given, **map_nodes(node.kwargs, meta_of))
    except (RuntimeError, TypeError, ValueError):
        return False
    first = 1 if node.target.name == "where" else 0  # behind the condition
    one_type = result_type(*given[first:first + 2]) is result_type(*before[first:first + 2])
    return one_type and same_layout(meta, node.meta)
