"""One table: every workload, the lab beside its peers, and what was asked of it.

In: what `race.py` found.  Out: rows of text, and a table for the terminal.
Ratios are the lab's time over the other's; below 1 the lab is faster. A bar that was asked stands
beside the ratio; one that is missed is marked with "!".
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.table import Table

from .race import LAB, Raced
from .tables import show_time
from .workloads import Workload

COLUMNS = ("torch compiled", "torch eager", "jax", "numexpr", "numpy")
HEADS = ("workload", "labcore", "/ torch.compile", "/ torch eager", "/ jax", "/ numexpr", "/ numpy",
         "of stream")


@dataclass(frozen=True)
class Cell:
    """A ratio, and what it was to be at most, or at least."""

    ratio: float | None
    bar: float | None = None
    at_least: bool = False

    @property
    def missed(self) -> bool:
        if self.ratio is None or self.bar is None:
            return False
        return self.ratio < self.bar if self.at_least else self.ratio > self.bar

    def __str__(self) -> str:
        if self.ratio is None:
            return ""
        sign = ">" if self.at_least else "<"
        bar = "" if self.bar is None else f" ({sign} {self.bar:g})"
        return f"{self.ratio:.2f}{bar}{' !' if self.missed else ''}"


def cells(workload: Workload, raced: Raced) -> list[Cell]:
    """One for each of COLUMNS, then how much of the bandwidth is used."""
    found = [Cell(raced.ratios.get(name), workload.bars.get(name)) for name in COLUMNS]
    used = raced.ratios.get("stream")
    return [*found, Cell(1 / used if used else None, workload.stream or None, at_least=True)]


def row(name: str, workload: Workload, raced: Raced) -> list[str]:
    return [name, show_time(raced.seconds[LAB]), *map(str, cells(workload, raced))]


def first_call_rows(calls: dict[str, float], torch: dict[str, float]) -> list[list[str]]:
    """Whole processes: cold, with the time it may take, and from disk."""
    limits = {"cold": 1.5, "from disk": 0.5}
    rows = []
    for kind, limit in limits.items():
        seconds = calls[kind]
        time = f"{show_time(seconds)} (< {limit:g} s){' !' if seconds > limit else ''}"
        bar = 0.1 if kind == "cold" else None
        ratio = Cell(seconds / torch[kind] if kind in torch else None, bar)
        rows.append([f"process with a first call, {kind}", time, str(ratio), *[""] * 5])
    return rows


def table(rows: Iterable[list[str]], title: str) -> Table:
    made = Table(*HEADS, title=title)
    for each in rows:
        made.add_row(*each)
    return made


def markdown(rows: Iterable[list[str]]) -> str:
    """The same for a README."""
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    return "\n".join([*lines, *("| " + " | ".join(each) + " |" for each in rows)])
