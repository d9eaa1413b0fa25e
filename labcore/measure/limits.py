"""What this machine can do at most: how fast it moves bytes, how fast it computes.

In: how many bytes a call moves.  Out: bytes, or operations, a second.
Method: the fastest of some blocks. Bytes: numpy's `add` of two arrays into a third, as in the
triad of STREAM, two reads for one write; so many bytes altogether, for caches are faster than
memory. Operations: a kernel that multiplies and adds values it has already loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

STEPS = 64  # multiplications and additions for each element loaded
ELEMENTS = 4096  # 16 KB, which any first-level cache holds


def stream(nbytes: int, seconds: float = 0.02) -> float:
    """Bytes a second, for calls that move so many."""
    elements = max(1, nbytes // 12)
    a, b, out = (np.ones(elements, np.float32) for _ in range(3))
    return 12 * elements / fastest(lambda: np.add(a, b, out=out), seconds)


@cache
def operations(seconds: float = 0.05) -> float:
    """float32 operations a second, on one thread."""
    import labcore as torch

    def polynomial(x: Any, y: Any) -> Any:
        for _ in range(STEPS):
            x = x * y + y
        return x

    x, y = torch.full((ELEMENTS,), 0.5), torch.full((ELEMENTS,), 0.25)
    compiled = torch.compile(polynomial, fullgraph=True)
    with torch.inference_mode():
        compiled(x, y)
        time = fastest(lambda: compiled(x, y), seconds)
    return 2 * STEPS * ELEMENTS / time


def fastest(call: Callable[[], Any], seconds: float, blocks: int = 5) -> float:
    """Seconds a call in the fastest of some blocks."""
    begin = perf_counter()
    call()
    runs = max(1, round(seconds / max(perf_counter() - begin, 1e-9)))
    found = []
    for _ in range(blocks):
        begin = perf_counter()
        for _ in range(runs):
            call()
        found.append((perf_counter() - begin) / runs)
    return min(found)
