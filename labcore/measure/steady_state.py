"""First call and steady state of `block`, as one JSON object.

    python -m labcore.measure.steady_state

In: nothing.  Out: the first compiled call apart, then block averages of eager and compiled on one
thread. A block average is the mean over `runs_per_block` calls; it is no percentile of single
calls.
"""
from __future__ import annotations

import json
import platform
from time import perf_counter
from typing import Any

import labcore as torch
from labcore.utils.benchmark import Timer


def block(x: Any, bias: Any) -> Any:
    return torch.relu(x + bias) * 2


def steady_state(elements: int = 262144, min_run_time: float = 0.2) -> dict[str, Any]:
    """Measure `block` on `elements` float32 numbers; all times are in seconds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(elements)
    bias = torch.randn_like(x)
    compiled = torch.compile(block, fullgraph=True)
    with torch.inference_mode():
        begin = perf_counter()
        first = compiled(x, bias)
        first_call = perf_counter() - begin
        torch.testing.assert_close(first, block(x, bias))
        samples = {name: sample(fn, x, bias, min_run_time) for name, fn in
                   (("eager", block), ("compiled", compiled))}
    return {
        "torch": torch.__version__,
        "machine": platform.machine(),
        "device": "cpu",
        "dtype": str(x.dtype),
        "shape": list(x.shape),
        "threads": 1,
        "inference_mode": True,
        "cache_policy": "existing disk caches may be reused",
        "first_compiled_call_seconds": first_call,
        "steady_state": samples,
    }


def sample(fn: Any, x: torch.Tensor, bias: torch.Tensor, min_run_time: float) -> dict[str, Any]:
    """Median seconds a call, and the blocks it comes from."""
    timer = Timer(stmt="fn(x, bias)", globals={"fn": fn, "x": x, "bias": bias}, num_threads=1)
    measured = timer.blocked_autorange(min_run_time=min_run_time)
    runs = measured.number_per_run
    return {
        "median_seconds": measured.median,
        "runs_per_block": runs,
        "seconds_per_call_by_block": [t / runs for t in measured.raw_times],
    }


if __name__ == "__main__":
    print(json.dumps(steady_state(), indent=2))
