"""What a warm call on a card costs the host: the lab and PyTorch, each in a process of its own.

In: nothing.  Out: microseconds of a call, by what is called, by whom, in which mode.
A process of its own, because threads and heap of the other one are in the way: once torch.compile
has been at work, the lab's warm call takes 11.5 us in that process instead of 8.7 us (H200).
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

CALLS, ROUNDS = 2000, 9  # of which the host's time is taken, in so many rounds
MODES = ("default", "reduce-overhead")
PAIRS = 5  # times a softmax of rows and one of columns: ten kernels that do not fuse


def chain(torch: Any, x: Any, b: Any) -> Any:
    return torch.relu(x + b) * 2


def region(torch: Any, x: Any) -> Any:
    for _ in range(PAIRS):
        x = torch.softmax(torch.softmax(x, -1), 0)
    return x


WORK = {"one fused kernel": (chain, ((1024,), (1024,))), "ten kernels": (region, ((32, 32),))}


def host_us(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The median time that the host takes to make a call, in us; the card is not waited for."""
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS // ROUNDS):
            call()
        found.append((time.perf_counter() - start) / (CALLS // ROUNDS) * 1e6)
        wait()
    return sorted(found)[ROUNDS // 2]


def warm_calls(torch: Any) -> dict[str, float]:
    """By "what, mode", in us; `torch` is the framework."""
    found: dict[str, float] = {}
    for name, (function, shapes) in WORK.items():
        given = [torch.ones(*shape).cuda() for shape in shapes]
        for mode in MODES:
            compiled = torch.compile(lambda *t, f=function: f(torch, *t), mode=mode)
            call = partial(compiled, *given)
            for _ in range(5):  # it is recorded where it is to be replayed
                call()
            found[f"{name}, {mode}"] = host_us(call, torch.cuda.synchronize)
    return found


def host_times() -> dict[str, float]:
    """By "what, framework, mode", in us."""
    found: dict[str, float] = {}
    for name in ("labcore", "torch"):
        command = [sys.executable, "-m", "labcore.measure.gpu_host", name]
        for key, us in json.loads(subprocess.check_output(command, text=True)).items():
            what, mode = key.split(", ")
            found[f"{what}, {name}, {mode}"] = us
    return dict(sorted(found.items()))


if __name__ == "__main__":
    framework = importlib.import_module(sys.argv[1])
    print(json.dumps(warm_calls(framework)))
