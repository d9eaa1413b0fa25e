"""Hand-made graphs, written as calls of operators on named inputs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from labcore import dtypes
from labcore.graph import Graph, GraphModule, TensorMeta, verify
from labcore.ops.dispatch import interpreting
from labcore.ops.tracer import Tracer
from labcore.trace import Origin

F32 = dtypes.float32


def floats(*shape: int) -> TensorMeta:
    return TensorMeta.contiguous(shape, F32)


def graph_of(function: Callable[..., Any], *metas: TensorMeta,
             names: Sequence[str] = ("x", "y", "z", "w")) -> Graph:
    """What `function` calls on placeholders of these metas; each call is on a line of its own."""
    graph = Graph()
    first = Origin("model.py", 1)
    placeholders = [graph.placeholder(name, meta, first) for name, meta in zip(names, metas)]
    tracer = _Numbered(graph)
    with interpreting(tracer):
        result = function(*placeholders)
    graph.output(tuple(result) if isinstance(result, (tuple, list)) else (result,))
    return verify(graph)


def module_of(function: Callable[..., Any], *metas: TensorMeta, **more: Any) -> GraphModule:
    return GraphModule(graph_of(function, *metas, **more))


def lines(graph: Graph) -> list[str]:
    """The graph's statements without comments."""
    return [node.format() for node in graph.nodes if node.op != "placeholder"]


class _Numbered(Tracer):
    """A tracer whose calls are on lines 2, 3, 4 ... of model.py."""

    def call(self, op: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        self.origin = Origin("model.py", self.origin.line + 1 if self.origin else 2)
        return super().call(op, args, kwargs)
