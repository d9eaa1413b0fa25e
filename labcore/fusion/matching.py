"""What nodes of a graph say, for those who look for patterns in it.

In: nodes.  Out: which operator they call on what, and which values they fold over which axes.
"""
from __future__ import annotations

from typing import Any

from .. import dtypes
from ..graph import Node as GraphNode
from ..ops.reductions import reduced_axes
from ..ops.sharing import meta_of

Of = tuple[GraphNode, tuple[int, ...]]  # values, and the axes that they are folded over
FLOATS = {dtypes.float32, dtypes.float64}


def calls(node: Any, name: str) -> bool:
    return (isinstance(node, GraphNode) and node.op == "call_function"
            and node.target.name == name)


def bound(node: GraphNode) -> dict[str, Any]:
    """The arguments by name."""
    return node.target.bind(node.args, node.kwargs)


def folded(node: GraphNode) -> Of:
    """Of a reduction."""
    given = bound(node)
    return given["input"], reduced_axes(given["dim"], meta_of(given["input"]).ndim)


def folded_alike(first: GraphNode, values: Any, last: GraphNode) -> bool:
    """Does `first` fold the values over the axes that `last` folds what is computed of both over,
    and lie so that each value meets the result of its own axes?"""
    of, axes = folded(first)
    whole = len(axes) == meta_of(of).ndim
    return of is values and axes == folded(last)[1] and (bound(first)["keepdim"] or whole)
