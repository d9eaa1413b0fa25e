"""One framework in one process, timed a block at a time on request.

    python -m labcore.measure.worker labcore|torch|jax|numexpr THREADS wall|cpu

In, a line each on standard input: `{"workload": name, "small": false}`.  Out: a JSON object with
`seconds` a call by candidate, none where the framework has no words for it, and the lab's `facts`.
Invariants: a peer's environment can run it, for `import labcore` needs numpy alone; frameworks with
their own OpenMP never share a process, for their threads would wait for each other. One workload at
a time is in memory.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

import numpy as np

from .words import NUMBERS, NUMEXPR, jax_words, numpy_words
from .workloads import Backward, Function, workloads

Call = Callable[[], Any]
Calls = dict[str, Call]
BLOCK = 0.01  # seconds that a block takes at least, unless one call takes longer


@dataclass
class Candidates:
    """What a framework has for a workload. `facts`: `kernels`, and the bytes they have to move."""

    calls: Calls
    facts: dict[str, int] = field(default_factory=dict)


def labcore_calls(name: str, work: Any) -> Candidates:
    torch = import_module("labcore")
    trace = import_module("labcore.trace")
    with trace.record() as story:
        calls = _torch_like("labcore", torch, work)
        calls["labcore compiled"]()
    phase = "backward" if isinstance(work, Backward) else "inference"
    plans = [plan for plan in story.of(trace.Scheduled) if plan.phase == phase]
    if not isinstance(work, Function):
        return Candidates(calls)
    steps = [step for plan in plans for step in plan.steps if step.kind == "kernel"]
    moved = sum(step.moved for step in steps)
    calls = {**calls, **numpy_calls(name, work), "stream": stream(moved)}
    return Candidates(calls, {"kernels": len(steps), "bytes": moved})


def stream(moved: int) -> Call:
    """What moving so many bytes takes: two arrays are read, one is written."""
    a, b, out = (np.ones(max(1, moved // 12), np.float32) for _ in range(3))
    return lambda: np.add(a, b, out=out)


def torch_calls(name: str, work: Any) -> Candidates:
    return Candidates(_torch_like("torch", import_module("torch"), work))


def _torch_like(framework: str, torch: Any, work: Any) -> Calls:
    torch.compiler.reset()
    return {
        f"{framework} eager": work.call(torch, lambda function: function),
        f"{framework} compiled": work.call(torch, torch.compile),
    }


def numpy_calls(name: str, work: Any) -> Calls:
    if type(work) is not Function or name.startswith("gelu erf"):
        return {}
    words, inputs = numpy_words(), work.inputs()
    return {"numpy": lambda: work.function(words, *inputs)}


def jax_calls(name: str, work: Any) -> Candidates:
    if not isinstance(work, Function):
        return Candidates({})
    jax = import_module("jax")
    words = jax_words(jax)
    inputs = [jax.numpy.asarray(array) for array in work.inputs()]
    function: Any = lambda *args: work.function(words, *args)
    if isinstance(work, Backward):  # what the forward saves is computed again
        result = function(*inputs)
        inputs.append(jax.numpy.asarray(work.given(result.shape)))
        forward = function
        function = lambda *args: jax.vjp(forward, *args[:-1])[1](args[-1])
    compiled = jax.jit(function)
    return Candidates({"jax": lambda: jax.block_until_ready(compiled(*inputs))})


def numexpr_calls(name: str, work: Any) -> Candidates:
    text = NUMEXPR.get(name.rpartition(", ")[0])
    if text is None or type(work) is not Function:
        return Candidates({})
    numexpr = import_module("numexpr")
    names, expression = text
    values = {**NUMBERS, **dict(zip(names, work.inputs()))}
    return Candidates({"numexpr": lambda: numexpr.evaluate(expression, local_dict=values)})


FRAMEWORKS = {
    "labcore": labcore_calls,
    "torch": torch_calls,
    "jax": jax_calls,
    "numexpr": numexpr_calls,
}


def set_threads(framework: str, threads: int) -> None:
    """JAX is told by its environment, before it is imported."""
    if framework in ("labcore", "torch", "numexpr"):
        import_module(framework).set_num_threads(threads)


# On a machine that does other things as well, a process that uses one thread is timed by its own.
CLOCKS = {"wall": perf_counter, "cpu": process_time}


class Timed:
    """A call, and how many of them make a block. It runs a few times before it is timed: optimizers
    compile again at their second step."""

    def __init__(self, call: Call, clock: Callable[[], float]) -> None:
        self.call, self.clock, self.runs = call, clock, 1
        for _ in range(4):
            call()
        self.runs = max(1, round(BLOCK / max(self.block(), 1e-9)))

    def block(self) -> float:
        """Seconds a call."""
        call, clock, turns = self.call, self.clock, range(self.runs)
        begin = clock()
        for _ in turns:
            call()
        return (clock() - begin) / self.runs


def plain(value: Any) -> list[np.ndarray]:
    """A result as numpy's arrays."""
    if isinstance(value, (tuple, list)):
        return [array for each in value for array in plain(each)]
    return [np.asarray(value.detach() if hasattr(value, "detach") else value)]


def main(framework: str, threads: int, clock: str) -> None:
    set_threads(framework, threads)
    asked: Any = None
    timed: dict[str, Timed] = {}
    facts: dict[str, int] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request != asked:
            timed.clear()  # its arrays make room
            work = workloads(request["small"])[request["workload"]].work
            found = FRAMEWORKS[framework](request["workload"], work)
            timed = {label: Timed(call, CLOCKS[clock]) for label, call in found.calls.items()}
            asked, facts = request, found.facts
        seconds = {label: each.block() for label, each in timed.items()}
        print(json.dumps({"seconds": seconds, "facts": facts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
