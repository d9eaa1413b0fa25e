"""Compiled graphs of one function, found again by what they compute.

In: a captured graph.  Out: what the backend made of it, or of an equal one before it.
Invariant: two graphs are one if a backend cannot tell them apart but for names and source lines:
the same operators on the same arguments, tensors of the same shapes, strides, types and history.
Python turns a loop's test round and writes it twice, so the regions around it often have equal
graphs. PyTorch compiles each graph anew; its cache on disk makes the second time cheaper.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..devices import device
from ..graph import GraphModule, Node, TensorMeta
from ..tensor.modes import mode

PLAIN = (int, bool, str, bytes, type(None), dtypes.dtype, device)


@dataclass(frozen=True)
class CompiledGraph:
    """`run` is what the backend returned for `module`, which variant `compile_id` brought.

    It holds on to the graph: a key has ids of the objects in it.
    """

    run: Callable[..., Any]
    module: GraphModule
    compile_id: str


class CompiledGraphs:
    """The graphs that one function's backend has compiled."""

    def __init__(self) -> None:
        self._known: dict[Any, CompiledGraph] = {}
        self._lock = threading.Lock()

    def find(self, key: Any) -> CompiledGraph | None:
        return self._known.get(key)

    def add(self, key: Any, compiled: CompiledGraph) -> None:
        with self._lock:
            self._known.setdefault(key, compiled)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


def structure(module: GraphModule) -> Any:
    """What a backend can see of a graph, without names, as a dictionary's key."""
    places = {node: place for place, node in enumerate(module.graph.nodes)}
    rows = [_row(node, module, places) for node in module.graph.nodes]
    written = tuple([module.overwritten.get(n.name, "") for n in module.graph.placeholders])
    return (mode.grad, mode.inference, dtypes.default, written, *rows)


def _row(node: Node, module: GraphModule, places: dict[Node, int]) -> Any:
    if node.op == "placeholder":
        target: Any = None
    elif node.op == "get_attr":
        target = id(module.attrs[node.target])
    else:
        target = id(node.target) if node.op == "call_function" else node.target
    args = _value((node.args, node.kwargs), places)
    return node.op, target, args, None if node.meta is None else _meta(node.meta)


def _meta(meta: TensorMeta) -> Any:
    sizes = tuple([_value(size, {}) for size in (*meta.shape, *meta.stride)])
    return len(meta.shape), sizes, meta.dtype, meta.device, meta.requires_grad


def _value(value: Any, places: dict[Node, int]) -> Any:
    """A value by its type and bits: 1, True and 1.0 are equal, and not the same, as 0.0 and -0.0.
    What is no plain value is only itself."""
    kind = type(value)
    if kind is Node:
        return Node, places[value]
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return float, value.hex()
    if kind is tuple or kind is list:
        return (kind, *[_value(item, places) for item in value])
    if kind is dict:
        return (dict, *[(name, _value(item, places)) for name, item in value.items()])
    return kind, id(value)
