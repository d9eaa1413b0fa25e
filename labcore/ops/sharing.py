"""Which nodes are views, and of what.

In: a node.  Out: the node whose memory it shows.
Invariant: asked only after `decompose`: a composite such as reshape may be a view or a copy, a
primitive is one of them for good. AOTAutograd compares the storages of fake tensors instead.
"""
from __future__ import annotations

from typing import Any

import numpy as np

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
    while (source := view_source(node)) is not None:
        node = source
    return node


def base_of(node: Node) -> Node:
    """What the tape calls the base of a view: it goes no further than to a detached tensor."""
    while (source := view_source(node)) is not None and node.target.kind != "detach":
        node = source
    return node


def same_view(one: Node, two: Node) -> bool:
    """Do two nodes show the same part of one memory, as their views are the same?"""
    while one is not two:
        first, second = view_source(one), view_source(two)
        if first is None or second is None or one.target is not two.target:
            return False
        if repr((one.args[1:], one.kwargs)) != repr((two.args[1:], two.kwargs)):
            return False
        one, two = first, second
    return True


def through_data(node: Node) -> bool:
    """Is the tensor seen through `.data`, so that nobody counts what is written to it?"""
    while (source := view_source(node)) is not None:
        if node.target.name == "_data":
            return True
        node = source
    return False


def handed_on(node: Node) -> Node | None:
    """The node whose very numbers this one gives out, under another history."""
    if node.op != "call_function":
        return None
    place = {"_stop_gradient": 0, "_with_history": 1}.get(node.target.name)
    return None if place is None else node.args[place]


def shown_array(node: Node, arrays: dict[Node, np.ndarray]) -> np.ndarray:
    """An array that lies in the memory of a node as the tensor does, without contents. `arrays` has
    those of the first tensors of memories."""
    source = view_source(node)
    if source is not None:
        shown = shown_array(source, arrays)
        found: np.ndarray = node.target.kernel(shown, *node.args[1:], **node.kwargs)
        return found
    if node not in arrays:
        meta = meta_of(node)
        steps = [step * meta.dtype.itemsize for step in meta.stride]
        one = np.empty(1, meta.dtype.numpy)
        arrays[node] = np.lib.stride_tricks.as_strided(one, meta.shape, steps)
    return arrays[node]


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
