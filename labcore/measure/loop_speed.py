"""Compile time of the loop compiler: from a graph to the text of its kernels, numba left out.

In: nothing.  Out: {subject: {operators: seconds an operator}}, the fastest of some rounds.
Subjects: graphs that only have one difficulty each, in several sizes, and those of real programs.
Time is this process's own (`process_time`), so what else the machine does counts little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from .. import ops
from ..autodiff import AutodiffOptions, aot_compile
from ..autodiff.backward import run_by_operators
from ..codegen import print_kernel, print_program
from ..dtypes import float32
from ..fusion import fuse_graph
from ..graph import Graph, GraphModule, Node, TensorMeta
from ..ops.dispatch import interpreting
from ..ops.tracer import Tracer

OPERATORS = (100, 1000, 4000)
PARAMETERS = 100
Graphs = dict[str, Graph]


def compile_times(rounds: int = 3) -> dict[str, dict[int, float]]:
    """Seconds an operator, for each subject and number of operators."""
    found: dict[str, dict[int, float]] = {}
    for name, make in SYNTHETIC.items():
        for count in OPERATORS:
            graph = make(count)
            found.setdefault(name, {})[len(graph.calls)] = seconds_an_operator(graph, rounds)
    for name, graph in programs().items():
        found[name] = {len(graph.calls): seconds_an_operator(graph, rounds)}
    return found


def seconds_an_operator(graph: Graph, rounds: int = 1) -> float:
    """Lowering, scheduling, and printing of one graph."""
    times = []
    for _ in range(rounds):
        begin = process_time()
        schedule = fuse_graph(graph)
        kernels = [print_kernel(nest, number) for number, nest in enumerate(schedule.nests)]
        print_program(schedule, kernels, "inference")
        times.append(process_time() - begin)
    return min(times) / len(graph.calls)


# ---- one difficulty each -------------------------------------------------------------------------


def _traced(inputs: int, shape: tuple[int, ...], body: Callable[..., list[Any]]) -> Graph:
    graph = Graph()
    meta = TensorMeta.contiguous(shape, float32)
    given = [graph.placeholder(f"x{k}", meta) for k in range(inputs)]
    with interpreting(Tracer(graph)):
        graph.output(tuple(body(*given)))
    return graph


def chain(count: int) -> Graph:
    """Pointwise operators in a row: what grows is the body of one loop."""

    def body(x: Node, y: Node) -> list[Any]:
        for k in range(count):
            x = ops.relu(x) if k % 3 == 0 else ops.mul(x, 0.5) if k % 3 == 1 else ops.add(x, y)
        return [x]

    return _traced(2, (64,), body)


def pairs(count: int) -> Graph:
    """Pairs of operators that have nothing in common: what grows is the number of kernels."""
    return _traced(count // 2, (64,), lambda *xs: [ops.mul(ops.exp(x), 2.0) for x in xs])


def readers(count: int) -> Graph:
    """Reductions and pointwise operators that all read one input: each could join each."""

    def body(x: Node) -> list[Any]:
        kinds = (lambda: ops.sum(x, 0), lambda: ops.sum(x, 1), lambda: ops.sum(x),
                 lambda: ops.mul(x, 0.5))
        return [kinds[k % 4]() for k in range(count)]

    return _traced(1, (16, 16), body)


def norms(count: int) -> Graph:
    """Layer norms in a row: rows in several passes."""

    def body(x: Node) -> list[Any]:
        for _ in range(count // 7):
            apart = ops.sub(x, ops.mean(x, -1, True))
            spread = ops.mean(ops.mul(apart, apart), -1, True)
            x = ops.mul(apart, ops.rsqrt(ops.add(spread, 1e-5)))
        return [x]

    return _traced(1, (16, 32), body)


SYNTHETIC = {"chain": chain, "pairs": pairs, "readers of one input": readers, "norms": norms}


# ---- real programs -------------------------------------------------------------------------------


def programs() -> Graphs:
    """The graphs of two transformer blocks' forward and backward, and of an optimizer's step."""
    return {**_transformer(), **_adamw()}


def _transformer() -> Graphs:
    from .. import nn, randn

    layers = [
        nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)
    ]
    model, x = nn.Sequential(*layers), randn(2, 8, 32)

    def step(compiled: Any) -> None:
        out = compiled(x)
        (out * out).sum().backward()

    found = dict(_captured(model, step))
    return {f"2 transformer blocks, {phase}": graph for phase, graph in found.items()}


def _adamw() -> Graphs:
    from .. import nn, optim, randn

    weights = [nn.Parameter(randn(16, 8)) for _ in range(PARAMETERS)]
    optimizer = optim.AdamW(weights)
    for weight in weights:
        weight.grad = randn(16, 8)
    optimizer.step()  # makes its state
    found = dict(_captured(optimizer.step, lambda compiled: compiled()))
    return {f"AdamW, {PARAMETERS} parameters": found["inference"]}


def _captured(function: Any, run: Callable[[Any], Any]) -> Iterator[tuple[str, Graph]]:
    """(phase, graph) of all that running the compiled function hands to the loop compiler."""
    from ..compiler import compile as compile_function

    kept: list[tuple[str, Graph]] = []

    def keep(gm: GraphModule, phase: str) -> Callable[..., tuple]:
        kept.append((phase, gm.graph))
        return run_by_operators(gm, phase)

    def backend(gm: GraphModule, inputs: list[Any]) -> Callable[..., tuple]:
        return aot_compile(gm, inputs, keep, options=AutodiffOptions("min_cut"))

    run(compile_function(function, backend=backend))
    yield from kept
