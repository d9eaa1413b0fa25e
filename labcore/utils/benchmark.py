"""`Timer`: how long does a statement take?

In: a statement, what it needs, a number of threads.  Out: a `Measurement` with all times that were
taken.
Invariant: a block of runs is long enough that the clock and the loop do not count; the garbage
collector rests while the clock runs; the number of threads holds during the measurement only. One
thread is the default, as in PyTorch.
Left out: C++ statements, instruction counts by callgrind, comparison tables.
"""

from __future__ import annotations

import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import Any

from labcore.tensor import get_num_threads, set_num_threads

_UNITS = ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s"))


@dataclass(frozen=True)
class Measurement:
    """Seconds of each block in `raw_times`, of each single run in `times`."""

    number_per_run: int
    raw_times: list[float]
    stmt: str = ""
    setup: str = ""
    num_threads: int = 1
    label: str | None = None

    @property
    def times(self) -> list[float]:
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        return median(self.times)

    @property
    def mean(self) -> float:
        return fmean(self.times)

    @property
    def iqr(self) -> float:
        """The span of the middle half of the times: how steady they were."""
        if len(self.raw_times) < 2:
            return 0.0
        first, _, third = quantiles(self.times, n=4, method="inclusive")
        return third - first

    def __repr__(self) -> str:
        scale, unit = _unit(self.median)
        lines = [f"<{type(self).__name__}>", self.label or self.stmt]
        if self.setup != "pass":
            lines.append(f"setup: {self.setup}")
        blocks = len(self.raw_times)
        if blocks > 1:
            lines.append(f"  Median: {self.median / scale:.2f} {unit}")
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit}")
        else:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        plural = "s" if blocks != 1 else ""
        runs = "run" if self.number_per_run == 1 else "runs"
        threads = "thread" if self.num_threads == 1 else "threads"
        lines.append(
            f"  {blocks} measurement{plural}, {self.number_per_run} {runs} per measurement, "
            f"{self.num_threads} {threads}"
        )
        return "\n".join(lines)


def _unit(seconds: float) -> tuple[float, str]:
    return next(((s, u) for s, u in reversed(_UNITS) if seconds >= s), _UNITS[0])


class Timer:
    """Times `stmt` after one run of `setup`; both see `globals` and the lab as `torch`."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        *,
        globals: dict[str, Any] | None = None,
        num_threads: int = 1,
        label: str | None = None,
    ) -> None:
        import labcore

        self.stmt, self.setup, self.num_threads, self.label = stmt, setup, num_threads, label
        self._timer = timeit.Timer(stmt, setup, globals={"torch": labcore, **(globals or {})})

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One block of `number` runs, after a shorter one to warm up."""
        with _threads(self.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return self._measured(number, [self._timer.timeit(number)])

    def blocked_autorange(self, min_run_time: float = 0.2) -> Measurement:
        """Blocks of runs until `min_run_time` seconds have been spent."""
        with _threads(self.num_threads):
            number = self._block_size(min_run_time)
            times: list[float] = []
            while not times or sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
        return self._measured(number, times)

    def _block_size(self, min_run_time: float) -> int:
        """How many runs make the clock's own time less than a ten-thousandth."""
        overhead = median(self._timer.timeit(0) for _ in range(5))
        number = 1
        while True:
            taken = self._timer.timeit(number)
            steady = taken >= min_run_time / 1000 and overhead <= 1e-4 * taken
            if steady or taken > min_run_time:
                return number
            number *= 10

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self.stmt, self.setup, self.num_threads, self.label)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = get_num_threads()
    if count == before:
        yield
        return
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)
