"""The interpreter that writes a graph instead of computing.

In: operator calls on nodes and Python constants.  Out: call_function nodes with their meta.
Invariant: no data is touched, so a shape error shows up here, while tracing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import devices
from ..graph import Graph, Node, TensorMeta, map_nodes
from .op import Op

if TYPE_CHECKING:
    from ..trace import Origin


class Tracer:
    """Appends every operator call to `graph`; `origin` is stamped on new nodes (set it before each
    call).

    decompose: write what a composite (`reshape`, `to` ...) consists of, instead of the composite.
    """

    def __init__(self, graph: Graph, origin: Origin | None = None, decompose: bool = False) -> None:
        self.graph, self.origin, self.decompose = graph, origin, decompose

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Node:
        if self.decompose and op.compose is not None:
            return op.compose(*args, **kwargs)
        if devices.device.in_use and "device" in op.parameters and "device" not in kwargs:
            kwargs = kwargs | self._place()
        meta = op.meta(*map_nodes(args, _meta), **map_nodes(kwargs, _meta))
        return self.graph.call_function(op, args, kwargs, meta=meta, origin=self.origin)

    def _place(self) -> dict[str, str]:
        """Where an operator that makes a tensor from nothing puts it, if nobody says: on the card,
        in a graph that works there. A derivative's zeros are such, and parts of a composite."""
        metas = [node.meta for node in self.graph.nodes]
        on_card = any(m.device is devices.cuda for m in metas if isinstance(m, TensorMeta))
        return devices.placing(devices.cuda) if on_card else {}


def _meta(node: Node) -> TensorMeta:
    assert node.meta is not None, f"{node} is no tensor"
    return node.meta
