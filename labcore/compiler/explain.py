"""`explain(fn)(*args)`: what the compiler did with one call, told in the fields torch's explain
has.

In: a function and arguments.  Out: an `ExplainOutput`, read off the trace of that very call.
PyTorch's explain captures again with a backend of its own and may disagree with the log; here both
read the same events.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..graph import GraphModule
from ..tensor import Tensor
from ..trace import GraphBreak, GraphCaptured, GuardRecord, GuardsInstalled, Recorder, Stage, record
from ..trace.text import graph_breaks


@dataclass
class ExplainOutput:
    """What one call made the compiler do. `trace` holds all its events."""

    graphs: list[GraphModule]
    break_reasons: list[GraphBreak]
    out_guards: list[GuardRecord]
    trace: Recorder
    compile_times: dict[str, float] = field(default_factory=dict)

    @property
    def graph_count(self) -> int:
        return len(self.graphs)

    @property
    def graph_break_count(self) -> int:
        return len(self.break_reasons)

    @property
    def ops_per_graph(self) -> list[list[Any]]:
        return [[node.target for node in gm.graph.calls] for gm in self.graphs]

    @property
    def op_count(self) -> int:
        return sum(map(len, self.ops_per_graph))

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:" if self.break_reasons else "Break Reasons: none",
        ]
        for n, reason in enumerate(self.break_reasons, 1):
            lines.append(f"  Break Reason {n}:")
            lines += [f"    {line}" for line in graph_breaks(reason).split("\n")]
        lines.append("Ops per Graph:")
        for n, targets in enumerate(self.ops_per_graph, 1):
            lines.append(f"  Ops {n}: {', '.join(t.__name__ for t in targets)}")
        for event in self.trace.of(GraphCaptured):
            if event.reused:
                lines.append(f"  [{event.compile_id}] reuses the graph of [{event.reused}]")
        lines.append("Out Guards:")
        for installed in self.trace.of(GuardsInstalled):
            lines.append(f"  [{installed.compile_id}]")
            lines += [f"    {guard.text}" for guard in installed.guards]
        return "\n".join(lines)


def explain(fn: Callable[..., Any]) -> Callable[..., ExplainOutput]:
    """Compile `fn` afresh with backend "eager", call it once, and report.

    The call really runs: effects happen once. Raises whatever the function raises.
    """
    from .compile import compile as compile_function

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[GraphModule] = []

        def keep(gm: GraphModule, example_inputs: list[Tensor]) -> Callable[..., tuple]:
            graphs.append(gm)
            return gm.forward

        with record() as trace:
            compile_function(fn, backend=keep)(*args, **kwargs)
        times: dict[str, float] = {}
        for stage in trace.of(Stage):
            times[stage.name] = times.get(stage.name, 0.0) + stage.seconds
        guards = [g for installed in trace.of(GuardsInstalled) for g in installed.guards]
        return ExplainOutput(graphs, trace.of(GraphBreak), guards, trace, times)

    return explained
