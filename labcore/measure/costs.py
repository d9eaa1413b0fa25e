"""What a function of yours costs, eager and compiled: latencies, memory, bandwidth, break-even.

    from labcore.measure import cost
    print(cost(block, x, bias))

In: a function and the arguments of one call.  Out: a `Cost`, whose text is a table.
Method: the first compiled call meets an empty disk cache, the one from disk finds that call's
program there; eager and warm calls take turns, block by block, and the median counts.
Left out: waiting for a device, which the CPU does not need.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from .. import trace
from ..codegen import numba_ir
from ..tensor import pool
from .amortize import break_even
from .limits import stream
from .roof import operations_in

ROUNDS = 7


@dataclass(frozen=True)
class Cost:
    """Times in seconds, memory in bytes. `first`: with nothing on disk; `from_disk`: a first call
    that finds its program there; `warm`: any later one. `peak`: the most memory that a call takes
    beside its arguments, as Python's allocator counts it. `operators` were captured, which eager
    mode runs one by one. `moved`: the bytes that the kernels have to read and write; `operations`:
    what they compute, scalar by scalar; `stream`: bytes a second that the machine moves at that
    size.
    """

    function: str
    eager: float
    first: float
    from_disk: float
    warm: float
    peak_eager: int
    peak: int
    operators: int
    kernels: int
    library: int
    graphs: int
    moved: int
    operations: int
    stream: float

    @property
    def bandwidth(self) -> float:
        """Bytes a second of warm calls."""
        return self.moved / self.warm

    @property
    def intensity(self) -> float:
        """Operations for each byte moved."""
        return self.operations / self.moved

    @property
    def compiling(self) -> float:
        """What the first call takes beyond a warm one."""
        return max(0.0, self.first - self.warm)

    @property
    def break_even(self) -> float:
        """After how many calls compiling has paid, `inf` where it never does."""
        return break_even(self.compiling, self.eager, self.warm)

    def __str__(self) -> str:
        steps = self.break_even
        pays = "never" if steps == float("inf") else f"after {steps:,.0f} calls"
        share = self.bandwidth / self.stream
        rows = (
            ("eager", spoken(self.eager)),
            ("first compiled call", spoken(self.first)),
            ("first call, from disk", spoken(self.from_disk)),
            ("warm compiled call", f"{spoken(self.warm)}, {self.eager / self.warm:.2f} x"),
            ("compiling pays", pays),
            ("peak memory, eager", f"{self.peak_eager:,} bytes"),
            ("peak memory, compiled", f"{self.peak:,} bytes"),
            ("kernels", f"{self.kernels}, of {self.operators} operators"),
            ("library calls", str(self.library)),
            ("bytes moved", f"{self.moved:,}"),
            ("operations", f"{self.operations:,}, {self.intensity:.2f} for each byte"),
            ("bandwidth", f"{self.bandwidth / 1e9:.1f} GB/s, {share:.0%} of stream"),
        )
        return "\n".join([self.function, *(f"  {name:<24}{said}" for name, said in rows)])


def spoken(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def cost(fn: Callable[..., Any], *args: Any, seconds: float = 0.02) -> Cost:
    """Measure one call of `fn`, eager and compiled; `seconds` is the length of a block.

    fn: is called many times, so it should leave its arguments as they are. Raises what the call
    raises; ValueError where nothing of it is compiled into kernels.
    """
    from ..compiler import compile as compile_function

    call: Callable[..., Any] = lambda: fn(*args)
    call()
    with fresh_cache():
        first, _ = first_call(compile_function(fn), args)
        from_disk, compiled = first_call(compile_function(fn), args)
        with trace.record() as story:
            compile_function(fn)(*args)
    steps = [step for plan in story.of(trace.Scheduled) for step in plan.steps]
    captured = story.of(trace.GraphCaptured)
    kernels = [step for step in steps if step.kind == "kernel"]
    if not kernels:
        raise ValueError(f"{_name(fn)} compiles to no kernel: there is nothing to measure")
    moved = sum(step.moved for step in kernels)
    eager, warm = take_turns([call, lambda: compiled(*args)], seconds)
    return Cost(
        _name(fn), eager, first, from_disk, warm,
        peak(call), peak(lambda: compiled(*args)),
        sum(row[1] == "call_function" for graph in captured for row in graph.nodes),
        len(kernels), len(steps) - len(kernels), len(captured), moved,
        sum(operations_in(kernel.source) for kernel in story.of(trace.KernelReady)), stream(moved),
    )


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


@contextmanager
def fresh_cache() -> Iterator[None]:
    """Nothing on disk, and no kernel remembered; for a while."""
    before = os.environ.get("LAB_CACHE_DIR")
    with numba_ir.nothing_remembered(), tempfile.TemporaryDirectory() as folder:
        os.environ["LAB_CACHE_DIR"] = os.path.join(folder, "cache")
        try:
            yield
        finally:
            del os.environ["LAB_CACHE_DIR"]
            if before is not None:
                os.environ["LAB_CACHE_DIR"] = before


def first_call(compiled: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, Any]:
    """Seconds of a compiled function's first call, and the function."""
    begin = perf_counter()
    compiled(*args)
    return perf_counter() - begin, compiled


def take_turns(calls: list[Callable[[], Any]], seconds: float, rounds: int = ROUNDS) -> list[float]:
    """Median seconds a call, for each: blocks of about so many seconds, in turn."""
    runs = []
    for call in calls:
        begin = perf_counter()
        call()
        runs.append(max(1, round(seconds / max(perf_counter() - begin, 1e-9))))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, count, taken in zip(calls, runs, times):
            begin = perf_counter()
            for _ in range(count):
                call()
            taken.append((perf_counter() - begin) / count)
    return [statistics.median(taken) for taken in times]


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that Python's allocator, numpy's arrays included, has in use during a call
    beyond what it had before. Blocks that the lab keeps for large tensors are let go of first."""
    gc.collect()
    pool.empty()
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    call()
    _, most = tracemalloc.get_traced_memory()
    if not was_tracing:
        tracemalloc.stop()
    return most - before
