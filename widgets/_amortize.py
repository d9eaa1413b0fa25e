"""The figures that Amortizer starts from: those of a textbook, and those of the reader's function.

In: nothing, or a function and the arguments of one call.  Out: {mode: {field: number}}, times in
seconds (`static/amortize.js` has the fields).
Invariant: measured totals are measured; how a call's time splits into launches and computing is a
model: a launch is taken to cost what an eager operator on one element does, or less where the whole
call took less.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import labcore as torch
from labcore import trace
from labcore.measure.costs import Cost, cost, first_call, fresh_cache, take_turns
from labcore.measure.overhead import constant_graph, one_break, without_break

Figures = dict[str, dict[str, float]]

TEXTBOOK: Figures = {
    "launches": {
        "kernels": 10, "compute": 80e-6, "fused_kernels": 2, "fused_compute": 70e-6,
        "launch": 5e-6,
    },
    "break_even": {"compiling": 12, "eager": 0.1, "compiled": 0.07, "steps": 100},
    "variants": {
        "variants": 3, "each": 4, "static_step": 0.07, "dynamic": 6, "dynamic_step": 0.072,
        "steps": 1000,
    },
    "breaks": {"breaks": 4, "crossing": 20e-6, "iterations": 1_000_000},
}


def measured(fn: Callable[..., Any], *args: Any) -> Figures:
    """What the four sums are for this function. It is called many times, so it should leave its
    arguments as they are. Raises what the call raises, and ValueError as `cost` does."""
    found = cost(fn, *args)
    compiling, step = _for_all_sizes(fn, args)
    return {
        "launches": _launches(found),
        "break_even": {
            "compiling": found.compiling, "eager": found.eager, "compiled": found.warm,
            "steps": 100,
        },
        "variants": {
            "variants": 3, "each": found.compiling, "static_step": found.warm,
            "dynamic": compiling, "dynamic_step": step, "steps": 1000,
        },
        "breaks": {
            "breaks": _breaks(fn, args), "crossing": _crossing(), "iterations": 1_000_000},
    }


def _launches(found: Cost) -> dict[str, float]:
    before, after = found.operators, found.kernels + found.library
    one: Any = torch.ones(1)
    (eager,) = take_turns([lambda: one + one], 0.005)
    launch = min(eager, found.eager / before, found.warm / after)
    return {
        "kernels": before, "compute": found.eager - before * launch,
        "fused_kernels": after, "fused_compute": found.warm - after * launch, "launch": launch,
    }


def _for_all_sizes(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float]:
    """Seconds to compile with symbolic sizes, and seconds of a call after that."""
    with fresh_cache():
        first, compiled = first_call(torch.compile(fn, dynamic=True), args)
    (warm,) = take_turns([lambda: compiled(*args)], 0.01)
    return max(0.0, first - warm), warm


def _breaks(fn: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """How often a call leaves compiled code."""
    with trace.record() as story:
        torch.compile(fn)(*args)
    return len(story.of(trace.GraphBreak))


def _crossing(calls: int = 200, blocks: int = 9) -> float:
    """What one break adds to a call, everything else being the same: the fastest of blocks that
    take turns, with graphs that compute nothing. What operators take would drown it."""
    x, y = torch.ones(4), torch.ones(4)
    times: list[list[float]] = [[], []]
    made = [torch.compile(fn, backend=constant_graph) for fn in (without_break, one_break)]
    for call in made:
        call(x, y)
    for _ in range(blocks):
        for call, taken in zip(made, times):
            begin = perf_counter()
            for _ in range(calls):
                call(x, y)
            taken.append((perf_counter() - begin) / calls)
    return max(1e-9, min(times[1]) - min(times[0]))
