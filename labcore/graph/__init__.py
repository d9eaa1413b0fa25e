"""Graphs: what capture writes and every later stage reads."""
from ..trace import Origin as Origin
from .graph import Graph as Graph, short_file as short_file
from .meta import TensorMeta as TensorMeta, contiguous_strides as contiguous_strides
from .module import GraphModule as GraphModule
from .node import Node as Node, map_nodes as map_nodes
from .verify import GraphError as GraphError, verify as verify
