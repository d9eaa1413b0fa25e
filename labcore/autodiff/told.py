"""What a pass replaced, told to whoever listens."""
from __future__ import annotations

from typing import Any

from .. import trace
from ..graph import Node
from ..graph.node import show


def told(name: str, node: Node, by: Any, why: str) -> None:
    """The pass `name` put `by` (a node, a constant, or nothing: None) in the place of `node`."""
    if trace.listening():
        after = by.format() if isinstance(by, Node) and by.op == "call_function" else show(by)
        trace.emit(trace.Rewrite(name, node.name, node.format(), "" if by is None else after, why,
                                 node.origin))
