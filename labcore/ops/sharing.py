"""Which nodes are views, and of what.

In: a node.  Out: the node whose memory it shows.
Invariant: asked only after `decompose`: a composite such as reshape may be a view or a copy, a
primitive is one of them for good. AOTAutograd compares the storages of fake tensors instead.
"""
from __future__ import annotations

from typing import Any

from ..graph import Node, TensorMeta, map_nodes
from ..shapes import surely_equal


def meta_of(node: Node) -> TensorMeta:
    """The meta of a node that is known to be a tensor."""
    assert node.meta is not None, f"{node} is no tensor"
    return node.meta


def view_source(node: Any) -> Node | None:
    """The node whose memory this view shows; None for what is no view (or no node)."""
    if isinstance(node, Node) and node.op == "call_function" and node.target.alias:
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
        if surely_equal((offset, *_layout(source)), (0, *_layout(node))):
            return source
        step, source = source, view_source(source)
    return None


def _layout(node: Node) -> tuple:
    meta = meta_of(node)
    return (*meta.shape, *meta.stride)


def _offset(view: Node) -> int:
    """By how many elements the view's first lies after its input's first."""
    offset = view.target.offset
    if offset is None:
        return 0
    return offset(*map_nodes(view.args, meta_of), **map_nodes(view.kwargs, meta_of))
