"""Rows whose length a kernel does not know, beside those whose length it does.

    python -m labcore.measure.any_length

In: nothing.  Out: for each kernel and length of a row the seconds of a call with `dynamic=True`,
compiled for another shape, and with `dynamic=False`. One thread, float32, as many rows as make
262,144 elements. Method: both in turn, several rounds, after a call in which the dynamic one may
compile its kernel for such rows (`codegen/lengths.py`); of each the first decile counts, for the
machine is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import labcore as torch

ELEMENTS = 262_144
LENGTHS = (2, 3, 5, 8, 9, 12, 16, 17, 24, 31, 32, 63, 64, 100, 256, 1024)
ELSEWHERE = (100, 97)  # the shape that dynamic kernels are compiled for
AT_MOST = 1.1  # of the static kernel's time
BLOCK = 0.002  # seconds of calls between two looks at the clock

KERNELS: dict[str, Callable[[Any], Any]] = {
    "x.sum(-1)": lambda x: x.sum(-1),
    "x.var(-1)": lambda x: x.var(-1),
    "x.argmax(-1)": lambda x: x.argmax(-1),
    "x.exp().sum(-1)": lambda x: x.exp().sum(-1),
    "x - x.amax(-1)": lambda x: x - x.amax(-1, keepdim=True),
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer norm": lambda x: torch.nn.functional.layer_norm(x, (x.shape[-1],)),
    "x.T + 1": lambda x: (x.T + 1).contiguous(),
    "x * x[0] + x.mean(0)": lambda x: x * x[0] + x.mean(0),
}
Times = dict[int, tuple[float, float]]


def any_length(lengths: Iterable[int] = LENGTHS, rounds: int = 15) -> dict[str, Times]:
    """{kernel: {length: (seconds of the dynamic, of the static one)}}."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {name: _times(function, lengths, rounds) for name, function in KERNELS.items()}
    finally:
        torch.set_num_threads(before)


def _times(function: Callable[[Any], Any], lengths: Iterable[int], rounds: int) -> Times:
    dynamic = torch.compile(function, dynamic=True, fullgraph=True)
    dynamic(torch.randn(*ELSEWHERE))
    found = {}
    for length in lengths:
        x = torch.randn(ELEMENTS // length, length)
        static = torch.compile(lambda x: function(x), dynamic=False, fullgraph=True)
        found[length] = _in_turn(dynamic, static, x, rounds)
    return found


def _in_turn(one: Any, other: Any, x: Any, rounds: int) -> tuple[float, float]:
    for call in (one, other):
        call(x)
    calls = max(1, int(BLOCK / _seconds(one, x, 3)))
    pairs = [(_seconds(one, x, calls), _seconds(other, x, calls)) for _ in range(rounds)]
    first, second = (sorted(times)[rounds // 10] for times in zip(*pairs))
    return first, second


def _seconds(call: Any, x: Any, calls: int) -> float:
    begin = perf_counter()
    for _ in range(calls):
        call(x)
    return (perf_counter() - begin) / calls


if __name__ == "__main__":
    for name, times in any_length().items():
        ratios = (f"{length}: {one / other:.2f}" for length, (one, other) in times.items())
        print(f"{name:<16}{'  '.join(ratios)}")
