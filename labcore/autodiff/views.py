"""Which nodes are views, and of what.

In: a node.  Out: the node whose memory it shows.
Invariant: only after `decompose`: a composite such as reshape may be a view or a copy, a primitive is one of them for good.
"""
from __future__ import annotations

from ..graph import Node, map_nodes


def view_source(node: Node) -> Node | None:
    """The node whose memory this view shows, or None when `node` is no view."""
    if node.op == "call_function" and node.target.alias:
        return node.all_input_nodes[0]
    return None


def memory_of(node: Node) -> Node:
    """The first tensor of a chain of views; the node itself when it is no view."""
    source = view_source(node)
    return node if source is None else memory_of(source)


def same_view_above(node: Node) -> Node | None:
    """An earlier tensor of the chain with this view's very shape, strides and first element."""
    offset, step, source = 0, node, view_source(node)
    while source is not None:
        offset += _offset(step)
        assert source.meta is not None and node.meta is not None
        if offset == 0 and (source.meta.shape, source.meta.stride) == (node.meta.shape, node.meta.stride):
            return source
        step, source = source, view_source(source)
    return None


def _offset(view: Node) -> int:
    """By how many elements the view's first lies after its input's first."""
    offset = view.target.offset
    if offset is None:
        return 0
    return offset(*map_nodes(view.args, lambda n: n.meta), **map_nodes(view.kwargs, lambda n: n.meta))
