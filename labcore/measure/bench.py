"""`make bench`: the lab beside its peers, workload by workload, and what is asked of it.

    make bench BENCH_ARGS="--only softmax --threads 2"

In: nothing (`make peers` has installed whom to compare with).  Out: one table of ratios within one
run, and all figures in `bench.json`. `--compiler` adds tables about the compiler itself.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console

from .any_length import any_length
from .capture_speed import capture_times
from .comparison import first_call_rows, markdown, row, table
from .guard_cost import guard_costs, peers_costs
from .loop_speed import compile_times
from .overfusion import overfused
from .overhead import overheads
from .race import PEERS, race, start_workers, versions
from .startup import first_calls, import_times, peers_first_calls
from .tables import (
    capture_table,
    guards_table,
    lengths_table,
    loops_table,
    overfusion_table,
    overhead_table,
    startup_table,
    training_table,
)
from .training import faster, trainings
from .workloads import workloads

FIRST_CALL = "first call"


def compare(options: argparse.Namespace, console: Console, threads: int) -> dict[str, Any]:
    """The table with so many threads; the figures, by workload."""
    figures: dict[str, Any] = {}
    rows: list[list[str]] = []
    workers = start_workers(threads, options.clock, peers=not options.alone)
    if len(workers) == 1:
        console.print("Nobody to compare with: `make peers` installs torch, jax and numexpr.\n")
    for name, workload in workloads(options.small).items():
        if re.search(options.only, name):
            with console.status(name):
                raced = race(workers, name, options.rounds, options.small)
            figures[name] = {**asdict(raced), "bars": workload.bars}
            rows.append(row(name, workload, raced))
    for worker in workers:
        worker.close()
    if threads == 1 and re.search(options.only, FIRST_CALL) and not options.small:
        with console.status(FIRST_CALL):
            lab, torch = first_calls(), {} if options.alone else peers_first_calls(PEERS)
        figures[FIRST_CALL] = {"labcore": lab, "torch": torch}
        rows += first_call_rows(lab, torch)
    noun = "thread" if threads == 1 else "threads"
    said = f"the lab's time / its peers', float32, {threads} {noun}, {options.clock} time"
    console.print(table(rows, said))
    if options.markdown:
        console.print(markdown(rows), soft_wrap=True)
    return figures


def compiler_tables(console: Console) -> dict[str, Any]:
    """What guards and breaks add to a call, how long compiling takes, what fusing too much costs.
    """
    figures: dict[str, Any] = {"imports": import_times(), "first_calls": first_calls()}
    console.print(startup_table(figures["imports"], figures["first_calls"]))
    figures["overheads"], figures["capture"] = overheads(), capture_times(PEERS)
    console.print(overhead_table(figures["overheads"]))
    figures["guards"], figures["torch_guards"] = guard_costs(), peers_costs(PEERS)
    console.print(guards_table(figures["guards"], figures["torch_guards"]))
    console.print(capture_table(figures["capture"]))
    figures["loops"] = compile_times()
    console.print(loops_table(figures["loops"]))
    figures["any_length"] = any_length()
    console.print(lengths_table(figures["any_length"]))
    runs = trainings()
    figures["training"] = {name: faster(*both) for name, both in runs.items()}
    console.print(training_table(runs))
    figures["overfusion"] = overfused()
    console.print(overfusion_table(figures["overfusion"]))
    return figures


def machine() -> str:
    """The processor's own name, where the system tells."""
    try:
        told = subprocess.check_output(["lscpu"], text=True, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.CalledProcessError):
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in told.splitlines() if ":" in line)
    return f"{fields.get('CPU(s)', '?').strip()} x {fields.get('Model name', '?').strip()}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default="", help="workloads whose name has this expression")
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="a table for each")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall",
        help="cpu: each process's own time, for one thread on a machine that is busy",
    )
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--small", action="store_true", help="few numbers: tries the harness only")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--compiler", action="store_true", help="tables about the compiler, too")
    parser.add_argument("--markdown", action="store_true", help="print the table for a README, too")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where figures go")
    options = parser.parse_args(arguments)
    console = Console()
    console.width = max(console.width, 128)  # a table that is cut says nothing
    figures: dict[str, Any] = {
        "date": date.today().isoformat(), "machine": machine(), "clock": options.clock,
        "peers": versions(),
        "threads": {n: compare(options, console, n) for n in options.threads},
    }
    if options.compiler:
        figures["compiler"] = compiler_tables(console)
    options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
