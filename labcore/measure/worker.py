"""One framework in one process, timed a block at a time on request.

    python worker.py labcore|torch|jax|numexpr

In, a line each on standard input: a number of elements.  Out: a JSON object {candidate: seconds a
call}.
Invariant: this file imports only the standard library, numpy and its own framework, so that a
peer's environment can run it; frameworks with their own OpenMP never share a process.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

Call = Callable[[], Any]


def labcore_calls(elements: int) -> dict[str, Call]:
    torch: Any = import_module("labcore")
    torch.set_num_threads(1)
    x, bias, compiled = torch_like(torch, elements)
    a, b = x.numpy(), bias.numpy()
    out, two = np.empty_like(a), np.float32(2)

    def numpy_out() -> np.ndarray:
        np.add(a, b, out=out)
        np.maximum(out, 0, out=out)
        return np.multiply(out, two, out=out)

    return {
        "numpy": lambda: np.maximum(a + b, 0) * two,
        "numpy out=": numpy_out,
        "labcore eager": lambda: (x + bias).relu() * 2,
        "labcore compiled": lambda: compiled(x, bias),
    }


def torch_calls(elements: int) -> dict[str, Call]:
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    x, bias, compiled = torch_like(torch, elements)
    return {
        "torch eager": lambda: (x + bias).relu() * 2,
        "torch compiled": lambda: compiled(x, bias),
    }


def torch_like(torch: Any, elements: int) -> tuple[Any, Any, Any]:
    """Inputs and the compiled block, in torch's words; inference mode stays on for this process."""
    torch.inference_mode().__enter__()
    x = torch.from_numpy(np.random.default_rng(0).standard_normal(elements).astype(np.float32))
    bias = torch.ones(elements)
    torch.compiler.reset()
    compiled = torch.compile(lambda x, bias: (x + bias).relu() * 2, fullgraph=True)
    compiled(x, bias)
    return x, bias, compiled


def jax_calls(elements: int) -> dict[str, Call]:
    jax, jnp = import_module("jax"), import_module("jax.numpy")
    x = jnp.asarray(np.random.default_rng(0).standard_normal(elements).astype(np.float32))
    bias = jnp.ones(elements)
    compiled = jax.jit(lambda x, bias: jnp.maximum(x + bias, 0) * 2)
    return {"jax jit": lambda: compiled(x, bias).block_until_ready()}


def numexpr_calls(elements: int) -> dict[str, Call]:
    numexpr = import_module("numexpr")
    numexpr.set_num_threads(1)
    x = np.random.default_rng(0).standard_normal(elements).astype(np.float32)
    bias, zero, two = np.ones(elements, np.float32), np.float32(0), np.float32(2)
    values = {"x": x, "bias": bias, "zero": zero, "two": two}
    text = "where(x + bias > zero, x + bias, zero) * two"
    return {"numexpr": lambda: numexpr.evaluate(text, local_dict=values)}


FRAMEWORKS = {
    "labcore": labcore_calls,
    "torch": torch_calls,
    "jax": jax_calls,
    "numexpr": numexpr_calls,
}


def block_time(call: Call, seconds: float = 0.02) -> float:
    """Seconds a call over one block of about `seconds`."""
    begin, runs = perf_counter(), 0
    while True:
        for _ in range(10):
            call()
        runs += 10
        elapsed = perf_counter() - begin
        if elapsed > seconds:
            return elapsed / runs


def main(framework: str) -> None:
    calls: dict[int, dict[str, Call]] = {}
    for line in sys.stdin:
        elements = int(json.loads(line))
        if elements not in calls:
            calls[elements] = FRAMEWORKS[framework](elements)
        times = {name: block_time(call) for name, call in calls[elements].items()}
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
