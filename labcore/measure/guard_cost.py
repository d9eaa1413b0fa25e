"""What guards and dispatch cost a warm call, in units of one `numpy.add` of four elements.

    python -m labcore.measure.guard_cost [torch]

In: nothing, or the name of a peer.  Out: for each subject, the median over rounds of what its call
takes longer than its graph alone, beside numpy.add in the same round.  Graphs are replaced by
constants.  A peer runs in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

Call = tuple[Callable[..., Any], tuple[Any, ...]]  # a function, and what to call it with
BLOCK = 8  # calls that are timed as one


class Constant:
    """A backend whose graph computes nothing; `alone` calls just the graph."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def __call__(self, gm: Any, example_inputs: list[Any]) -> Callable[..., Any]:
        outputs = (self.torch.zeros(4),)
        graph = lambda *inputs: outputs
        self.alone: Call = graph, tuple(example_inputs)
        return graph


def two_tensors(torch: Any, backend: Constant) -> list[Call]:
    def block(x: Any, bias: Any) -> Any:
        return torch.relu(x + bias) * 2

    return [(torch.compile(block, backend=backend), (torch.ones(4), torch.ones(4)))]


def eight_variants(torch: Any, backend: Constant) -> list[Call]:
    """Each call hits the variant that was hit longest ago, and so is asked last."""

    def scaled(x: Any, bias: Any, factor: int) -> Any:
        return torch.relu(x + bias) * factor

    compiled = torch.compile(scaled, backend=backend, dynamic=False)
    x, bias = torch.ones(4), torch.ones(4)
    return [(compiled, (x, bias, factor)) for factor in range(8)]


class Layer:
    def __init__(self, torch: Any) -> None:
        self.weight, self.bias = torch.ones(4), torch.ones(4)

    def __call__(self, x: Any) -> Any:
        return x * self.weight + self.bias


class Model:
    def __init__(self, torch: Any) -> None:
        self.layers = [Layer(torch) for _ in range(100)]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def a_model(torch: Any, backend: Constant) -> list[Call]:
    return [(torch.compile(Model.__call__, backend=backend), (Model(torch), torch.ones(4)))]


# What is timed, and what it is asked to stay below.
SUBJECTS: dict[str, tuple[Callable[[Any, Constant], list[Call]], float]] = {
    "two tensors": (two_tensors, 1),
    "8 variants, the last is hit": (eight_variants, 6),
    "a model of 200 parameters": (a_model, 60),
}


def guard_costs(framework: str = "labcore", rounds: int = 40) -> dict[str, float]:
    """{subject: numpy.adds}."""
    torch = import_module(framework)
    unit = timer([(np.add, (np.ones(4, np.float32), np.ones(4, np.float32)))])
    timers = {name: _timers(torch, make) for name, (make, _) in SUBJECTS.items()}
    found: dict[str, list[float]] = {name: [] for name in SUBJECTS}
    for _ in range(rounds):
        one = fastest(unit)
        for name, (whole, graph) in timers.items():
            found[name].append((fastest(whole) - fastest(graph)) / one)
    return {name: statistics.median(ratios) for name, ratios in found.items()}


def peers_costs(python: Path) -> dict[str, float]:
    """The same of PyTorch, or nothing where it is not installed."""
    if not python.exists():
        return {}
    command = [str(python), "-m", __spec__.name, "torch"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else {}


def _timers(
    torch: Any, make: Callable[[Any, Constant], list[Call]]
) -> tuple[Timer, Timer]:
    """Of the calls, and of their graph alone."""
    backend = Constant(torch)
    calls = make(torch, backend)
    for function, args in calls:
        function(*args)
    return timer(calls), timer([backend.alone])


def timer(calls: list[Call]) -> Timer:
    """Times BLOCK calls, one after the other, with nothing between them."""
    names: dict[str, Any] = {}
    lines = []
    for n, (function, args) in enumerate(calls):
        names |= {f"f{n}": function, **{f"f{n}_{k}": arg for k, arg in enumerate(args)}}
        lines.append(f"f{n}({', '.join(f'f{n}_{k}' for k in range(len(args)))})")
    return Timer("\n".join(lines * (BLOCK // len(calls))), globals=names)


def fastest(block: Timer, seconds: float = 0.001) -> float:
    """Seconds a call in the fastest of a few runs of about so long."""
    once = block.timeit(1)
    number = max(1, int(seconds / once))
    return min(block.repeat(3, number)) / number / BLOCK


if __name__ == "__main__":
    print(json.dumps(guard_costs(sys.argv[1] if sys.argv[1:] else "labcore")))
