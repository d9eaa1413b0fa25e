"""Compiled graphs of one function, found again by what they compute.

In: a captured graph.  Out: what the backend made of it, or of an equal one before it.
Invariant: two graphs are one if a backend cannot tell them apart but for names and source lines:
the same operators on the same arguments, tensors of the same shapes, strides, types and history.
Where sizes are symbols, as much has to be known of them; what the backend took for granted of them
must hold for the numbers at hand, and becomes a guard of whoever finds the graph.
Python turns a loop's test round and writes it twice, so the regions around it often have equal
graphs. PyTorch compiles each graph anew; its cache on disk makes the second time cheaper.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import dtypes
from ..devices import device
from ..graph import GraphModule, Node, TensorMeta
from ..shapes import SymNumber, condition, renamed
from ..tensor.modes import mode

Places = dict[Any, Any]  # of nodes, and what symbols are called in a key
PLAIN = (int, bool, str, bytes, type(None), dtypes.dtype, device)


@dataclass(frozen=True)
class CompiledGraph:
    """`run` is what the backend returned for `module`, which variant `compile_id` brought;
    `assumed` are conditions on the graph's symbols that it rests on.

    It holds on to the graph: a key has ids of the objects in it.
    """

    run: Callable[..., Any]
    module: GraphModule
    compile_id: str
    assumed: Sequence[str] = ()

    def serves(self, module: GraphModule) -> bool:
        """Does what was assumed hold for the numbers that an equal graph has seen?"""
        return condition(self.assumptions(module))(module.graph.values_seen)

    def assumptions(self, module: GraphModule) -> list[str]:
        """`assumed`, in the symbols of an equal graph."""
        pairs = zip(self.module.graph.numbers, module.graph.numbers)
        names = {own.name: other.name for own, other in pairs}
        return [renamed(text, names) for text in self.assumed]


class CompiledGraphs:
    """The graphs that one function's backend has compiled."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[CompiledGraph, ...]] = {}
        self._lock = threading.Lock()

    def find(self, key: Any, module: GraphModule) -> CompiledGraph | None:
        """What was compiled for an equal graph, if it serves the numbers that this one has seen."""
        known = self._known.get(key, ())
        return next((compiled for compiled in known if compiled.serves(module)), None)

    def add(self, key: Any, compiled: CompiledGraph) -> None:
        with self._lock:
            self._known[key] = (*self._known.get(key, ()), compiled)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()


def structure(module: GraphModule) -> Any:
    """What a backend can see of a graph, without names, as a dictionary's key."""
    graph = module.graph
    places: Places = {node: place for place, node in enumerate(graph.nodes)}
    places |= {node.name: f"number{place}" for place, node in enumerate(graph.numbers)}
    rows = [_row(node, module, places) for node in graph.nodes]
    written = tuple([module.overwritten.get(n.name, "") for n in graph.placeholders])
    said = [] if graph.env is None else graph.env.known_of(graph.symbols)
    known = tuple(sorted(renamed(text, places) for text in said))
    return (mode.grad, mode.inference, dtypes.default, written, known, *rows)


def _row(node: Node, module: GraphModule, places: Places) -> Any:
    if node.op == "placeholder":
        target: Any = None
    elif node.op == "get_attr":
        target = id(module.attrs[node.target])
    else:
        target = id(node.target) if node.op == "call_function" else node.target
    args = _value((node.args, node.kwargs), places)
    return node.op, target, args, None if node.meta is None else _meta(node.meta, places)


def _meta(meta: TensorMeta, places: Places) -> Any:
    sizes = tuple([_value(size, places) for size in (*meta.shape, *meta.stride)])
    return len(meta.shape), sizes, meta.dtype, meta.device, meta.requires_grad


def _value(value: Any, places: Places) -> Any:
    """A value by its type and bits: 1, True and 1.0 are equal, and not the same, as 0.0 and -0.0.
    What is no plain value is only itself."""
    kind = type(value)
    if kind is Node:
        return Node, places[value]
    if kind in PLAIN:
        return kind, value
    if isinstance(value, SymNumber):
        return kind, renamed(value.text, places)
    if kind is float:
        return float, value.hex()
    if kind is tuple or kind is list:
        return (kind, *[_value(item, places) for item in value])
    if kind is dict:
        return (dict, *[(name, _value(item, places)) for name, item in value.items()])
    return kind, id(value)
