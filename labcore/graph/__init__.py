"""Graphs: what capture writes and every later stage reads."""
from .graph import Graph as Graph
from .meta import (
    TensorMeta as TensorMeta,
    contiguous_strides as contiguous_strides,
    same_shape as same_shape,
)
from .module import GraphModule as GraphModule
from .names import Names as Names, signature as signature
from .node import Node as Node, map_nodes as map_nodes
from .printed import define as define
from .verify import GraphError as GraphError, verify as verify


def __getattr__(name: str) -> object:
    """`Origin`, without loading the trace, which `import labcore` does not need."""
    if name == "Origin":
        from ..trace import Origin
        return Origin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
