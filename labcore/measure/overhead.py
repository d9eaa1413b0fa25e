"""What compiling adds to a call: guards and dispatch when it is warm, everything at the first call.

    python -m labcore.measure.overhead

In: nothing.  Out: seconds a call, each graph replaced by a constant, so that nothing but the lab is
timed; arguments are two 1-d tensors. Best of several blocks, since the machine is shared: what is
looked for is what the code costs, not what else was running.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from time import perf_counter
from typing import Any

import labcore as torch

SCALE = 3


def no_break(x: Any, y: Any) -> Any:
    return (x + y * SCALE).relu()


def one_break(x: Any, y: Any) -> Any:
    a = x + y
    time.monotonic()
    return a * x


def without_break(x: Any, y: Any) -> Any:
    """The same operators as `one_break`."""
    a = x + y
    return a * x


def empty(x: Any, y: Any) -> Any:
    return x


def constant_graph(gm: Any, example_inputs: list[Any]) -> Callable[..., Any]:
    """A backend whose graphs compute nothing: they return zeros made once."""
    outputs = tuple([torch.zeros(node.meta.shape) for node in gm.graph.outputs])
    return lambda *inputs: outputs


def overheads(blocks: int = 70) -> dict[str, float]:
    """{what: seconds a call}."""
    x, y = torch.ones(4), torch.ones(4)
    calls: dict[str, Callable[..., Any]] = {"an empty Python function": empty}
    for function in (no_break, one_break):
        calls[f"warm call, {function.__name__.replace('_', ' ')}"] = torch.compile(
            function, backend=constant_graph
        )
    found = {name: best(call, x, y, blocks) for name, call in calls.items()}
    found["first call, one break"] = min(first_call(x, y) for _ in range(blocks))
    return found


def best(call: Callable[..., Any], x: Any, y: Any, blocks: int, runs: int = 500) -> float:
    """Seconds a call in the fastest block."""
    for _ in range(10):
        call(x, y)
    times = []
    for _ in range(blocks):
        begin = perf_counter()
        for _ in range(runs):
            call(x, y)
        times.append((perf_counter() - begin) / runs)
    return min(times)


def first_call(x: Any, y: Any) -> float:
    """Seconds of one first call, all capture in it and no backend."""
    torch.compiler.reset()
    compiled = torch.compile(one_break, backend=constant_graph)
    begin = perf_counter()
    compiled(x, y)
    return perf_counter() - begin


if __name__ == "__main__":
    for name, seconds in overheads().items():
        print(f"{name:<28}{1e6 * seconds:10.2f} us")
