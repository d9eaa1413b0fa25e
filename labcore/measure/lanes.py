"""Two lanes of one call: when the CPU launches, when the card computes.

In: how long each kernel runs, what a launch costs.  Out: `Lanes`, as intervals in seconds.
The model: a launch is over when the CPU goes on to the next one; a kernel starts when its launch is
over and the kernel before it has ended. So the card waits where launches take longer than kernels,
and the CPU runs ahead where they do not. Under a replay all kernels have one launch.
`H200` has figures that were measured; what a kernel takes is its bytes over the bandwidth, or a
product's work over the arithmetic if that is longer, and never less than `shortest`. Left out:
several streams, the way from a launch to the card, and the card's caches (what small tensors leave
there is read faster).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Interval = tuple[float, float]
PLANS = ("eager", "eager_replayed", "compiled", "compiled_replayed")


@dataclass(frozen=True)
class Figures:
    """What a machine takes, in seconds on the CPU: `operator`, for an operator of eager mode with
    its launch; `call`, for the guards and the program of a compiled call; `launch`, for each of its
    kernels; `replay`, for all launches of a recording. On the card: `shortest`, the time of a
    kernel that has next to nothing to do, `bandwidth`, in bytes a second, and `arithmetic`, in
    multiplications and additions a second of a product of float32 matrices."""

    of: str
    operator: float
    call: float
    launch: float
    replay: float
    shortest: float
    bandwidth: float
    arithmetic: float

    def kernel(self, nbytes: float, work: float = 0) -> float:
        """Seconds of a kernel that moves so many bytes, or of a product that has so much work."""
        return max(self.shortest, nbytes / self.bandwidth, work / self.arithmetic)


# `python -m labcore.measure.figures` measures a card. These are of one H200, on two days: three
# operators of PyTorch's eager mode took 22 to 39 us; a launch by cuda.core 4.4, one of a recording
# 2.0 to 3.8, its kernels 0.9 to 1.1 each; a copy moved 4.23 TB/s, a product of 4096 by 4096 took
# 2692 us. A compiled call of one kernel takes less than 12 us, launch included.
H200 = Figures("one NVIDIA H200, 2026-11-30", 10e-6, 6e-6, 4.4e-6, 3e-6, 1e-6, 4.2e12, 51e12)


@dataclass(frozen=True)
class Lanes:
    """`host`: one interval a launch; `device`: one a kernel. Both begin at 0."""

    host: tuple[Interval, ...]
    device: tuple[Interval, ...]

    @property
    def end(self) -> float:
        """When everything is done."""
        return max([to for _, to in (*self.host, *self.device)], default=0.0)

    @property
    def busy(self) -> float:
        """Which part of that time the card computes."""
        return sum(to - start for start, to in self.device) / self.end if self.end else 0.0


def launched(kernels: Sequence[float], launches: Sequence[float]) -> Lanes:
    """Each kernel has a launch of its own."""
    host, device = [], []
    now = free = 0.0
    for kernel, launch in zip(kernels, launches, strict=True):
        host.append((now, now + launch))
        now += launch
        start = max(now, free)
        free = start + kernel
        device.append((start, free))
    return Lanes(tuple(host), tuple(device))


def replayed(kernels: Sequence[float], launch: float) -> Lanes:
    """All kernels have one launch."""
    device, free = [], launch
    for kernel in kernels:
        device.append((free, free + kernel))
        free += kernel
    return Lanes(((0.0, launch),), tuple(device))


def modelled(plan: str, kernels: Sequence[tuple[float, bool]], figures: Figures = H200) -> Lanes:
    """The lanes of a plan, one of PLANS. `kernels`: how many seconds each runs, and whether it is
    its program's first, which in eager mode is an operator's."""
    times = [seconds for seconds, _ in kernels]
    if plan == "eager":
        return launched(times, [figures.operator if first else figures.launch
                                for _, first in kernels])
    if plan == "eager_replayed":
        return replayed(times, figures.replay)
    if plan == "compiled":
        before = [figures.call, *[0.0] * len(times)]
        return launched(times, [figures.launch + more for more, _ in zip(before, times)])
    return replayed(times, figures.call + figures.replay)
