"""Backends that count: how many graphs were captured, with how many operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph import GraphModule
from ...tensor import Tensor


class CompileCounter:
    """A backend that runs graphs as they are. `frame_count` is graphs captured, `op_count` their
    operators."""

    def __init__(self) -> None:
        self.frame_count = 0
        self.op_count = 0
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: list[Tensor]) -> Callable[..., Any]:
        self.frame_count += 1
        self.op_count += len(gm.graph.calls)
        self.graphs.append(gm)
        return gm.forward

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]


class EagerAndRecordGraphs(CompileCounter):
    """A CompileCounter under the name PyTorch uses where `graphs` is what is looked at."""
