"""The access ledger of a user's function, counted in the three ways that must agree.

In: a function and example inputs.  Out: a `Count` each for the separate passes and for the fused
plan.
Invariant: the three ways share nothing but the schedule: a counting handler over the loop IR, a run
of the loops over counting lists, and the text of the printed kernels.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..codegen import print_kernel
from ..fusion import Schedule, count_by_running, count_in_source, fuse_graph, ledger, separate
from ..graph import GraphModule
from ..tensor import Tensor, no_grad


@dataclass(frozen=True)
class Count:
    """Logical array accesses of one run, three times over."""

    loops: int
    running: int
    text: int

    @property
    def agree(self) -> bool:
        return self.loops == self.running == self.text

    def __str__(self) -> str:
        return f"loops {self.loops}, running them {self.running}, kernel text {self.text}"


@dataclass(frozen=True)
class Counts:
    """Both plans of one function."""

    separate: Count
    fused: Count

    def __repr__(self) -> str:
        return f"separate passes: {self.separate}\nfused:           {self.fused}"


def count_accesses(fn: Callable[..., Any], *inputs: Tensor) -> Counts:
    """Count the accesses of `fn(*inputs)` without gradients.

    inputs: tensors, with the shapes to count for.  Raises Unsupported when `fn` is no single graph,
    and ValueError when it does no tensor arithmetic. Operators that call a library count nothing:
    their accesses are the library's.
    """
    from ..compiler import compile as compile_function
    kept: list[tuple[GraphModule, list[Tensor]]] = []

    def keep(gm: GraphModule, example_inputs: list[Tensor]) -> Callable[..., tuple]:
        kept.append((gm, example_inputs))
        return gm.forward

    with no_grad():
        compile_function(fn, backend=keep, fullgraph=True)(*inputs)
    if not kept:
        raise ValueError(
            f"{getattr(fn, '__name__', fn)} does no tensor arithmetic: there is nothing to count"
        )
    (gm, tensors), = kept
    plans = separate(gm.graph), fuse_graph(gm.graph)
    return Counts(*(three_ways(plan, gm, tensors) for plan in plans))


def three_ways(schedule: Schedule, gm: GraphModule, inputs: list[Tensor]) -> Count:
    """One schedule, counted over the loops, by running, and in its kernels' text."""
    running, _ = count_by_running(schedule, inputs, gm.attrs)
    text = "\n".join(print_kernel(nest, k).source for k, nest in enumerate(schedule.nests))
    return Count(
        int(ledger(schedule).executed), int(running.executed), count_in_source(text).executed
    )
