"""One captured call: from a function and its arguments to a graph and the text of a variant.

In: a Python function, the values of one call.  Out: a `Region`: graph, example inputs, guards,
source, or where it stopped.
Invariant: guards come first in the source, then the graph, then the making of the result; nothing
else runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from .. import dtypes
from ..graph import Graph, GraphModule, Node, verify
from ..guards import EAGER, MISS, RETURN, Guard, GuardBuilder, Mismatch
from ..guards.builder import variant_source
from ..tensor import Tensor
from ..tensor.modes import mode
from .breaks import Break
from .exit import Exit
from .interpreter import Interpreter

RESERVED = {
    "MISS": MISS,
    "RETURN": RETURN,
    "EAGER": EAGER,
    "mode": mode,
    "dtypes": dtypes,
    "graph": None,
    "variant": None,
}


@dataclass
class Region:
    """What was captured. `graph_module` is None when no tensor operator is needed; `stop` says
    why it is eager."""

    builder: GuardBuilder
    parameters: tuple[str, ...]
    graph_module: GraphModule | None
    inputs: list[Tensor]
    stop: Break | None
    body: list[str]

    @property
    def result(self) -> str:
        return "eager" if self.stop else "graph"

    @property
    def source(self) -> str:
        """The variant as Python. `graph` in its scope is what the backend returned."""
        title = "result" if self.graph_module is None else "graph and result"
        return variant_source(self.parameters, self.builder.steps, self.body, title)

    @property
    def summary(self) -> str:
        """What capture did, in a line."""
        if self.stop is not None:
            return f"stopped: {self.stop.what}; {len(self.builder.guards)} guards"
        calls = self.graph_module.graph.calls if self.graph_module else []
        names = ", ".join(node.target_name for node in calls) or "no tensor operator"
        return f"bytecode to a graph: {names}, and {len(self.builder.guards)} guards"


def capture(function: FunctionType, values: tuple[Any, ...]) -> Region:
    """Capture one call. Raises WouldRaise where CPython would raise."""
    builder = GuardBuilder(RESERVED)
    _global_state(builder)
    vm = Interpreter(function, values, builder)
    captured = vm.run()
    way_out = Exit(builder, vm.looker)
    stop, text = captured.stop, ""
    try:
        if captured.result is not None:
            text = way_out.finish(captured.result)
            _check_unused(vm.operators.tracer.graph, way_out.outputs)
        vm.looker.finish()
    except Break as late:
        late.origin = late.origin or vm.origin()
        stop = stop or late
    parameters = vm.parameters
    if stop is not None:
        return Region(builder, parameters, None, [], stop, ["return EAGER"])
    module, inputs, call = _graph(vm, way_out)
    return Region(
        builder, parameters, module, inputs, None, [*call, *way_out.lines, f"return RETURN, {text}"]
    )


def _graph(vm: Interpreter, way_out: Exit) -> tuple[GraphModule | None, list[Tensor], list[str]]:
    """Close the graph: its outputs are what the result needs, its inputs what those need."""
    graph = vm.operators.tracer.graph
    nodes = list(way_out.outputs)
    if not nodes:
        return None, [], []
    graph.output(tuple(nodes))
    graph.eliminate_dead_code()
    used = [
        tensor
        for tensor in vm.operators.placeholders
        if tensor.node is not None and tensor.node.users
    ]
    for tensor in vm.operators.placeholders:
        if tensor not in used:
            assert tensor.node is not None
            graph.erase_node(tensor.node)
    verify(graph)
    results = ", ".join(way_out.outputs.values()) + ("," if len(nodes) == 1 else "")
    call = f"{results} = graph({', '.join(tensor.home for tensor in used)})"
    return GraphModule(graph, name=vm.function.__name__), [tensor.value for tensor in used], [call]


def _check_unused(graph: Graph, outputs: Iterable[Node]) -> None:
    """What nobody reads is dropped, unless only its numbers tell whether eager would raise."""
    live, todo = set(), list(outputs)
    while todo:
        node = todo.pop()
        if node not in live:
            live.add(node)
            todo += node.all_input_nodes
    for node in graph.calls:
        if node not in live and _may_divide_by_zero(node):
            stop = Break("unused-division")
            stop.origin = node.origin
            raise stop


def _may_divide_by_zero(node: Node) -> bool:
    """An integer division whose divisor is data, or zero."""
    if node.target_name not in ("floor_divide", "remainder") or node.meta is None:
        return False
    divisor = node.args[1] if len(node.args) > 1 else node.kwargs.get("other")
    return not node.meta.dtype.is_floating_point and (isinstance(divisor, Node) or divisor == 0)


def _global_state(builder: GuardBuilder) -> None:
    """Whether operators are recorded, and what a Python float becomes: every operator looks at
    these."""
    grad, inference = mode.grad, mode.inference
    default = builder.constant(dtypes.default, dtypes.default.name)
    code = f"mode.grad is {grad} and mode.inference is {inference} and dtypes.default is {default}"
    expected = f"grad={grad}, inference={inference}, default dtype {dtypes.default.name}"

    def mismatch(value: Any) -> Mismatch:
        actual = (
            f"grad={mode.grad}, inference={mode.inference}, default dtype {dtypes.default.name}"
        )
        return Mismatch(
            expected, actual, f"global state changed. expected {expected}, actual {actual}"
        )

    builder.add(Guard("GRAD_MODE", "global state", code, "mode", expected, mismatch))
