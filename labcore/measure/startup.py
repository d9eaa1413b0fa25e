"""What a fresh process pays before it computes: imports, the first compiled call, the first call
with a warm disk.

In: nothing.  Out: seconds, medians over fresh processes, candidates in turn.
"""
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

FIRST_CALL = """
import {framework} as torch
def block(x, bias):
    return (x + bias).relu() * 2
compiled = torch.compile(block, fullgraph=True)
with torch.inference_mode():
    y = compiled(torch.tensor([-2., -1., 1., 2.]), torch.ones(4))
assert y.tolist() == [0., 0., 4., 6.]
"""


def run(code: str, cache_dir: str, python: str | Path = sys.executable) -> float:
    """Wall seconds of a fresh interpreter that runs `code`, with this folder as a disk cache."""
    environment = {
        **_environment(), "LAB_CACHE_DIR": cache_dir, "TORCHINDUCTOR_CACHE_DIR": cache_dir}
    begin = perf_counter()
    subprocess.run([python, "-c", code], check=True, env=environment)
    return perf_counter() - begin


def _environment() -> dict[str, str]:
    """Processes find their bytecode, as any but the first after an installation does."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def import_times(repeats: int = 9) -> dict[str, float]:
    """Seconds inside `import`, for numpy and for labcore (which imports numpy), in fresh processes.
    """
    code = "from time import perf_counter as t; b = t(); import {}; print(t() - b)"
    times: dict[str, list[float]] = {"numpy": [], "labcore": []}
    for turn in range(repeats + 1):
        for name, seconds in times.items():
            command = [sys.executable, "-c", code.format(name)]
            output = subprocess.check_output(command, text=True, env=_environment())
            if turn:
                seconds.append(float(output))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def first_calls(repeats: int = 5) -> dict[str, float]:
    """Wall seconds of whole processes: an empty one, a cold first call, a first call from disk."""
    code = FIRST_CALL.format(framework="labcore")
    times: dict[str, list[float]] = {"python": [], "cold": [], "from disk": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache_dir:
            times["python"].append(run("pass", cache_dir))
            times["cold"].append(run(code, cache_dir))
            times["from disk"].append(run(code, cache_dir))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def peers_first_calls(python: Path) -> dict[str, float]:
    """PyTorch's, once, as a cold one takes long; nothing where it is not installed."""
    code = FIRST_CALL.format(framework="torch")
    if not python.exists() or subprocess.run([python, "-c", "import torch"]).returncode:
        return {}
    with tempfile.TemporaryDirectory() as cache_dir:
        return {kind: run(code, cache_dir, python) for kind in ("cold", "from disk")}
