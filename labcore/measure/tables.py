"""The tables of `make bench` that are about the compiler itself.

In: the figures of a measurement.  Out: a table for the terminal.
"""
from __future__ import annotations

from rich.table import Table

from .any_length import AT_MOST, Times as LengthTimes
from .capture_speed import Times
from .guard_cost import SUBJECTS
from .training import Run, faster, step_time


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


def lengths_table(found: dict[str, LengthTimes]) -> Table:
    lengths = [str(length) for length in next(iter(found.values()))]
    title = f"rows of unknown length / of known length, at most {AT_MOST}"
    table = Table("rows of", *lengths, title=title)
    for name, times in found.items():
        table.add_row(name, *(f"{dynamic / static:.2f}" for dynamic, static in times.values()))
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
