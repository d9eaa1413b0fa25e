"""`make bench`: every figure as a ratio within one run.

In: nothing (`--json FILE` keeps the figures).  Out: tables of medians and ratios.
Method: candidates are timed in turn, block by block, over several rounds in a rotating order; a
ratio is the median over rounds of candidate / reference, so a machine that slows down for a moment
slows both. Peers run in processes of their own and only where `make peers` has installed them.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.table import Table

from .capture_speed import Times, capture_times
from .guard_cost import SUBJECTS, guard_costs, peers_costs
from .loop_speed import compile_times
from .overfusion import overfused
from .overhead import overheads
from .startup import first_calls, import_times
from .training import Run, faster, step_time, trainings

WORKER = Path(__file__).with_name("worker.py")
PEERS = Path(".peers/bin/python")
SIZES = (4, 1024, 262144, 1 << 22)
REFERENCE = "labcore compiled"


class Worker:
    """A framework's process; `times(elements)` asks it for one block of each of its candidates."""

    def __init__(self, python: str | Path, framework: str) -> None:
        self.framework = framework
        environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        environment["OMP_NUM_THREADS"] = "1"
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        self.process = subprocess.Popen(
            [str(python), str(WORKER), framework], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment)

    def times(self, elements: int) -> dict[str, float]:
        to, back = _pipes(self.process)
        to.write(f"{elements}\n")
        to.flush()
        answer = back.readline()
        if not answer:
            raise RuntimeError(f"the worker of {self.framework} ended before it answered")
        return json.loads(answer)

    def close(self) -> None:
        to, _ = _pipes(self.process)
        to.close()
        self.process.wait()


def _pipes(process: subprocess.Popen) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def start_workers(console: Console) -> list[Worker]:
    workers = [Worker(sys.executable, "labcore")]
    if not PEERS.exists():
        console.print(
            "No peers here: `make peers` installs torch, jax and numexpr to compare with.\n"
        )
        return workers
    for framework in ("torch", "jax", "numexpr"):
        if (
            subprocess.run([PEERS, "-c", f"import {framework}"], capture_output=True).returncode
            == 0
        ):
            workers.append(Worker(PEERS, framework))
    return workers


def race(workers: list[Worker], elements: int, rounds: int) -> dict[str, tuple[float, float]]:
    """{candidate: (median seconds, median ratio to the compiled block)}; one round warms up."""
    times: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        order = workers[turn % len(workers):] + workers[:turn % len(workers)]
        for worker in order:
            for name, seconds in worker.times(elements).items():
                if turn:
                    times.setdefault(name, []).append(seconds)
    reference = times[REFERENCE]
    return {
        name: (
            statistics.median(seconds),
            statistics.median(a / b for a, b in zip(seconds, reference)),
        )
        for name, seconds in times.items()
    }


def speed_table(elements: int, results: dict[str, tuple[float, float]]) -> Table:
    table = Table(
        "candidate",
        "median",
        f"x {REFERENCE}",
        title=f"relu(x + bias) * 2, {elements:,} float32, 1 thread",
    )
    for name, (seconds, ratio) in results.items():
        table.add_row(name, show_time(seconds), f"{ratio:.2f}")
    return table


def show_time(seconds: float) -> str:
    unit, scale = next(
        (u, s) for u, s in (("s", 1), ("ms", 1e3), ("us", 1e6)) if seconds * s >= 1 or u == "us"
    )
    return f"{seconds * scale:.2f} {unit}"


def startup_table(imports: dict[str, float], calls: dict[str, float]) -> Table:
    table = Table("start-up", "median", "ratio", title="fresh processes")
    for name, seconds in imports.items():
        table.add_row(
            f"import {name}", show_time(seconds), f"{seconds / imports['numpy']:.2f} x numpy"
        )
    for name, seconds in calls.items():
        table.add_row(
            f"process: {name}",
            show_time(seconds),
            f"{seconds / calls['python']:.1f} x an empty one",
        )
    return table


def overhead_table(seconds: dict[str, float]) -> Table:
    table = Table("call", "fastest block", title="what compiling adds, graphs left out")
    for name, time in seconds.items():
        table.add_row(name, show_time(time))
    return table


def guards_table(costs: dict[str, float], peers: dict[str, float]) -> Table:
    heads = "guards and dispatch", "x numpy.add of 4", "at most", "torch", "labcore / torch"
    table = Table(*heads, title="warm calls, graphs left out")
    for name, cost in costs.items():
        peer = peers.get(name)
        beside = (f"{peer:.1f}", f"{cost / peer:.3f}") if peer else ("is not installed", "")
        table.add_row(name, f"{cost:.2f}", f"{SUBJECTS[name][1]:.0f}", *beside)
    return table


def capture_table(times: Times) -> Table:
    table = Table("operations", *times, "labcore / torch", title="capture, backend eager")
    for count, seconds in times["labcore"].items():
        peer = times.get("torch")
        ratio = f"{seconds / peer[count]:.2f}" if peer else "torch is not installed"
        table.add_row(f"{count:,}", *(show_time(t[count]) for t in times.values()), ratio)
    return table


def loops_table(times: dict[str, dict[int, float]]) -> Table:
    table = Table("graph", "operators", "an operator", title="loop compiler, numba left out")
    for name, by_size in times.items():
        for count, seconds in by_size.items():
            table.add_row(name, f"{count:,}", show_time(seconds))
    return table


def training_table(runs: dict[str, tuple[Run, Run]]) -> Table:
    heads = "AdamW, a step", "eager", "compiled", "eager / compiled", "first step, compiling"
    table = Table(*heads, title="training, float32, in turn")
    for name, (eager, compiled) in runs.items():
        times = step_time(eager), step_time(compiled)
        first = show_time(compiled.seconds[0])
        table.add_row(name, *map(show_time, times), f"{faster(eager, compiled):.2f}", first)
    return table


def overfusion_table(found: dict[str, dict[str, tuple[int, float]]]) -> Table:
    heads = "graph", "kernels", "by the rules", "kernels", "without", "without / by the rules"
    table = Table(*heads, title="fusing more than the scheduler does")
    for name, ways in found.items():
        (kernels, own), (others, time) = ways["by the rules"], ways["without"]
        table.add_row(name, str(kernels), show_time(own), str(others), show_time(time),
                      f"{time / own:.2f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    console = Console()
    figures: dict[str, Any] = {"imports": import_times(), "first_calls": first_calls(), "block": {}}
    console.print(startup_table(figures["imports"], figures["first_calls"]))
    figures["overheads"], figures["capture"] = overheads(), capture_times(PEERS)
    console.print(overhead_table(figures["overheads"]))
    figures["guards"], figures["torch_guards"] = guard_costs(), peers_costs(PEERS)
    console.print(guards_table(figures["guards"], figures["torch_guards"]))
    console.print(capture_table(figures["capture"]))
    figures["loops"] = compile_times()
    console.print(loops_table(figures["loops"]))
    runs = trainings()
    figures["training"] = {name: faster(*both) for name, both in runs.items()}
    console.print(training_table(runs))
    figures["overfusion"] = overfused()
    console.print(overfusion_table(figures["overfusion"]))
    workers = start_workers(console)
    for elements in SIZES:
        results = race(workers, elements, options.rounds)
        figures["block"][elements] = results
        console.print(speed_table(elements, results))
        if elements == SIZES[0]:
            extra = results[REFERENCE][0] - results["numpy"][0]
            console.print(f"4 elements, warm: numpy's three operations {extra * 1e6:+.2f} us\n")
    for worker in workers:
        worker.close()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
