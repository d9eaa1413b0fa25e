"""Capture against PyTorch's: functions of 100, 1,000 and 4,000 tensor operations.

In: nothing.  Out: {framework: {operations: seconds}}, medians over rounds in which all take turns,
each framework in a process of its own.
What is timed is a first call on backend "eager": PyTorch's Dynamo and the lab's capture.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import IO

WORKER = Path(__file__).with_name("capture_worker.py")
OPERATIONS = (100, 1000, 4000)
Times = dict[str, dict[int, float]]


def capture_times(peers: Path, rounds: int = 3) -> Times:
    """Seconds; PyTorch only where `peers` is an interpreter that has it."""
    interpreters = {"labcore": sys.executable}
    if peers.exists() and subprocess.run([peers, "-c", "import torch"]).returncode == 0:
        interpreters["torch"] = str(peers)
    workers = {name: _start(python, name) for name, python in interpreters.items()}
    found: dict[str, dict[int, list[float]]] = {name: {} for name in workers}
    for _ in range(rounds):
        for count in OPERATIONS:
            for name, worker in workers.items():
                found[name].setdefault(count, []).append(_ask(worker, count))
    for worker in workers.values():
        worker.communicate()
    return {
        name: {count: statistics.median(seconds) for count, seconds in times.items()}
        for name, times in found.items()
    }


def _start(python: str, framework: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, str(WORKER), framework],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def _ask(worker: subprocess.Popen[str], operations: int) -> float:
    to, back = _pipes(worker)
    to.write(f"{operations}\n")
    to.flush()
    answer = back.readline()
    if not answer:
        raise RuntimeError("a capture worker ended before it answered")
    return float(answer)


def _pipes(worker: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert worker.stdin is not None and worker.stdout is not None
    return worker.stdin, worker.stdout
