"""A graph on the simulated grid, beside eager mode on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from labcore import cuda, devices
from labcore.codegen.cuda.options import ON_CARD
from labcore.codegen.cuda.program import compile_schedule
from labcore.fusion import Schedule, lower, schedule
from labcore.fusion.options import FusionOptions
from labcore.fusion.verify import verify_program
from labcore.graph import Graph, TensorMeta
from labcore.tensor import Tensor
from labcore.tensor.cuda import to_card, to_host
from labcore.tensor.tensor import wrap
from tests.fusion.graphs import arrays_for, assert_same, eager, graph_of


def on_card(graph: Graph) -> Graph:
    """The graph, as if it had been captured with tensors of a card."""
    for node in graph.nodes:
        if isinstance(node.meta, TensorMeta):
            node.meta = replace(node.meta, device=devices.cuda)
    return graph


def fused(graph: Graph, options: FusionOptions = ON_CARD) -> Schedule:
    return schedule(verify_program(lower(on_card(graph), options=options)), options=options)


def on_grid(plan: Schedule, inputs: Sequence[np.ndarray]) -> tuple[list[Any], Any]:
    """Outputs as arrays of the host, and the program that made them."""
    call = compile_schedule(plan, {}, "inference", check_inputs=True)
    with cuda.record() as launches:
        found = call([wrap(to_card(a)) for a in inputs])
    call.launched = launches
    return [to_host(t.array) if isinstance(t, Tensor) else t for t in found], call


def check(
    function: Callable[..., Any], *metas: TensorMeta, seed: int = 0,
    options: FusionOptions = ON_CARD,
) -> Any:
    """Run a function of operators on the grid and eagerly; returns the program."""
    graph = graph_of(function, *metas)
    inputs = arrays_for(graph, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    found, call = on_grid(fused(graph, options), inputs)
    assert_same(found, want)
    return call


def forms(call: Any) -> list[str]:
    return [kernel.form for launches in call.launches for kernel in launches.kernels]
