"""The lab against its peers: all of them on one workload, in turn.

In: a workload's name and the processes of the frameworks.  Out: for each candidate the median
seconds a call, and the median ratio of the lab's time to its time; below 1 the lab is faster.
Method: in each round every process times one block of each of its candidates, the processes in
rotating order; a ratio is the median over rounds, so a machine that slows down for a moment slows
both. Only one process computes at a time.
"""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

PEERS = Path(os.environ.get("LAB_PEERS", ".peers/bin/python"))
LAB = "labcore compiled"


class Worker:
    """A framework's process; `ask(workload)` asks it for one block of each of its candidates."""

    def __init__(
        self, python: str | Path, framework: str, threads: int, clock: str = "wall"
    ) -> None:
        self.framework = framework
        self.process = subprocess.Popen(
            [str(python), "-m", "labcore.measure.worker", framework, str(threads), clock],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(threads),
        )

    def ask(self, workload: str, small: bool = False) -> dict[str, Any]:
        """`seconds` by candidate, and `facts`. Raises RuntimeError when the process ended instead.
        """
        to, back = _pipes(self.process)
        with suppress(BrokenPipeError):
            to.write(json.dumps({"workload": workload, "small": small}) + "\n")
            to.flush()
        answer = back.readline()
        if not answer:
            raise RuntimeError(f"the worker of {self.framework} ended at {workload!r}")
        return json.loads(answer)

    def close(self) -> None:
        to, back = _pipes(self.process)
        with suppress(BrokenPipeError):
            to.close()
        self.process.wait()
        back.close()


def environment(threads: int) -> dict[str, str]:
    """The variables by which each framework is told how many threads to use. What some machines set
    for old builds of OpenBLAS slows the current one down."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    eigen = "true" if threads > 1 else "false"
    return {
        **kept,
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={eigen} intra_op_parallelism_threads={threads}",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }


def _pipes(process: subprocess.Popen) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def start_workers(threads: int, clock: str = "wall", peers: bool = True) -> list[Worker]:
    """The lab's process first, then one for each peer that is installed."""
    workers = [Worker(sys.executable, "labcore", threads, clock)]
    if peers and PEERS.exists():
        for framework in ("torch", "jax", "numexpr"):
            tried = subprocess.run([PEERS, "-c", f"import {framework}"], capture_output=True)
            if tried.returncode == 0:
                workers.append(Worker(PEERS, framework, threads, clock))
    return workers


@dataclass
class Raced:
    """By candidate: median seconds a call; the lab's time over its time, the median of rounds."""

    seconds: dict[str, float]
    ratios: dict[str, float]
    facts: dict[str, int]


def race(workers: list[Worker], workload: str, rounds: int, small: bool = False) -> Raced:
    """All candidates of all workers on one workload; a first round, which compiles, is left out."""
    times: dict[str, list[float]] = {}
    facts: dict[str, int] = {}
    for turn in range(rounds + 1):
        first = turn % len(workers)
        for worker in workers[first:] + workers[:first]:
            answer = worker.ask(workload, small)
            facts |= answer["facts"]
            for name, seconds in answer["seconds"].items():
                if turn:
                    times.setdefault(name, []).append(seconds)
    lab = times[LAB]
    return Raced(
        {name: statistics.median(taken) for name, taken in times.items()},
        {name: statistics.median(a / b for a, b in zip(lab, taken))
         for name, taken in times.items()},
        facts,
    )


def versions(python: str | Path = PEERS) -> dict[str, str]:
    """The peers that are installed, and which version of each."""
    names = "torch", "jax", "numexpr", "numpy"
    code = f"from importlib.metadata import version as v; print(*[v(n) for n in {names}])"
    if not Path(python).exists():
        return {}
    told: Any = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return dict(zip(names, told.stdout.split()))
