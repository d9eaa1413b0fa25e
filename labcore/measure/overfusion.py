"""Fusing more than the scheduler does: what it would cost on this machine.

In: nothing.  Out: for each case the kernels and the seconds, by the scheduler's own rules and
without one of them.
Method: both are timed in turn, several rounds; the fastest counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .. import ops
from ..codegen import compile_graph
from ..dtypes import float32
from ..fusion import FusionOptions
from ..graph import Graph, GraphModule, Node, TensorMeta
from ..ops.dispatch import interpreting
from ..ops.tracer import Tracer
from ..tensor import Tensor, from_numpy

SIDE, SUMS, LONG = 1024, 48, 1 << 20


@dataclass(frozen=True)
class Case:
    """A function of tensors of these shapes, and the options under which too much is fused."""

    function: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    without: FusionOptions


def gate(u: Node, v: Node) -> Any:
    """One loop has fewer accesses, and takes tanh of each element of `v` in every row anew."""
    return ops.mul(ops.unsqueeze(u, 1), ops.unsqueeze(ops.tanh(v), 0))


def sums(x: Node, *others: Node) -> Any:
    """One loop reads `x` once, and follows twice as many arrays as there are sums."""
    return tuple(ops.mul(ops.add(other, 1.0), x) for other in others)


CASES = {
    f"a gate, {SIDE} x {SIDE}: tanh in every row": Case(
        gate, [(SIDE,), (SIDE,)], FusionOptions(materialize=False)
    ),
    f"{SUMS} results of one input: all arrays at once": Case(
        sums, [(LONG,)] * (SUMS + 1), FusionOptions(max_arrays=4 * SUMS)
    ),
}


def overfused(rounds: int = 7) -> dict[str, dict[str, tuple[int, float]]]:
    """{case: {"by the rules" | "without": (kernels, seconds)}}."""
    found: dict[str, dict[str, tuple[int, float]]] = {}
    for name, case in CASES.items():
        graph, inputs = _graph(case), _inputs(case)
        ways: dict[str, Any] = {
            "by the rules": compile_graph(graph, "inference"),
            "without": compile_graph(graph, "inference", case.without),
        }
        best = {way: _seconds(call, inputs) for way, call in ways.items()}  # the first one warms up
        for _ in range(rounds):
            for way, call in ways.items():
                best[way] = min(best[way], _seconds(call, inputs))
        found[name] = {way: (len(call.kernels), best[way]) for way, call in ways.items()}
    return found


def _graph(case: Case) -> GraphModule:
    graph = Graph()
    metas = [TensorMeta.contiguous(shape, float32) for shape in case.shapes]
    given = [graph.placeholder(f"x{k}", meta) for k, meta in enumerate(metas)]
    with interpreting(Tracer(graph)):
        made = case.function(*given)
    graph.output(made if isinstance(made, tuple) else (made,))
    return GraphModule(graph)


def _inputs(case: Case) -> list[Tensor]:
    import numpy as np

    rng = np.random.default_rng(0)
    return [from_numpy(rng.standard_normal(shape).astype(np.float32)) for shape in case.shapes]


def _seconds(call: Callable[[list[Any]], tuple], inputs: list[Tensor]) -> float:
    args = list(inputs)
    begin = perf_counter()
    outputs = call(args)
    seconds = perf_counter() - begin
    del outputs  # freeing them is nobody's time
    return seconds
