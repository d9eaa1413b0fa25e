"""What a region computes and nobody reads: dropped, if eager mode could not have raised there.

In: the graph's nodes, and those that leave the region.  Out: nothing, or a Break.
Invariant: dropping a node is nothing that a program could tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..graph import Node
from .breaks import Break
from .operators import CaptureTracer

# Operators that find places along a dimension, with the argument that says which.
FIND_PLACES = {"argmax": 1, "argmin": 1, "argsort": 1, "_argtopk": 2}
SAME_PLACES = ("clone", "slice")  # what is still made of places that exist


def check_unused(tracer: CaptureTracer, outputs: Iterable[Node], unfinished: int | None) -> None:
    """What nobody reads is dropped, unless it draws numbers, or only its own numbers tell whether
    eager would raise.

    What the instruction at step `unfinished` began is CPython's to do.
    """
    live, todo = set(), list(outputs)
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo += node.all_input_nodes
    for node in tracer.graph.calls:
        step = tracer.steps.get(node)
        if node in live or step == unfinished:
            continue
        stop = None
        if node.target.kind == "random":
            stop = Break("random-operator", name=f"torch.{node.target_name}, unused")
        elif _may_miss(node) or _may_divide_by_zero(node):
            stop = Break("unused-check", name=node.target_name)
        if stop is not None:
            stop.origin, stop.step = node.origin, step
            raise stop


def _may_divide_by_zero(node: Node) -> bool:
    """An integer division whose divisor is data, or zero."""
    if node.target_name not in ("floor_divide", "remainder", "fmod") or node.meta is None:
        return False
    divisor = node.args[1] if len(node.args) > 1 else node.kwargs.get("other")
    return not node.meta.dtype.is_floating_point and (isinstance(divisor, Node) or divisor == 0)


def _may_miss(node: Node) -> bool:
    """An operator with an index, unless another one found that index in the same tensor."""
    if node.target.kind != "indexed":
        return False
    if node.target_name != "gather":
        return True
    input, dim, places = node.args
    while isinstance(places, Node) and places.target_name in SAME_PLACES:
        places = places.args[0]
    if not isinstance(places, Node) or places.target_name not in FIND_PLACES:
        return True
    where = FIND_PLACES[places.target_name]
    found = places.args[where] if len(places.args) > where else places.kwargs.get("dim", -1)
    return places.args[0] is not input or found != dim
