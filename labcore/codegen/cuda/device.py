"""What a kernel's threads do together: reductions over a warp and over a block, as text.

In: the name of a device function that a kernel calls, such as "take_sum".  Out: its text and that
of what it calls in turn.
A warp reduces by shuffles: in five steps each thread adds what the thread 16, 8, 4, 2, 1 away has,
after which all 32 have the whole. A block reduces by warps, each of which leaves its result in a
slot of shared memory; then every warp reduces the slots, so again all threads have the whole.
Invariant: all threads of the block call it together, and wait between leaving and taking, once for
all reductions of a pass that need no other one's result; a block that reduces twice uses other
slots, or waits in between.
The scheme is the one of every CUDA textbook (shuffle, slots, shuffle); Triton compiles `tl.sum` to
the same.
"""

from __future__ import annotations

import re

ALL = "0xFFFFFFFF"
WARP = 32
COMBINE = {
    "sum": "radd(v, {})",
    "prod": "rmul(v, {})",
    "amax": "rmax(v, {})",
    "amin": "rmin(v, {})",
}


def _warp(kind: str) -> str:
    steps = [
        f"    v = {COMBINE[kind].format(f'cuda.shfl_xor_sync({ALL}, v, {distance})')}\n"
        for distance in (16, 8, 4, 2, 1)
    ]
    return f"def warp_{kind}(v):\n{''.join(steps)}    return v\n"


def _leave(kind: str) -> str:
    return (
        f"def leave_{kind}(v, slots):\n"
        f"    v = warp_{kind}(v)\n"
        "    if cuda.threadIdx.x & 31 == 0:\n"
        "        slots[cuda.threadIdx.x >> 5] = v\n"
    )


def _take(kind: str) -> str:
    return (
        f"def take_{kind}(slots, warps, start):\n"
        "    lane = cuda.threadIdx.x & 31\n"
        f"    return warp_{kind}(slots[lane] if lane < warps else start)\n"
    )


FUNCTIONS = {
    **{f"warp_{kind}": _warp(kind) for kind in COMBINE},
    **{f"leave_{kind}": _leave(kind) for kind in COMBINE},
    **{f"take_{kind}": _take(kind) for kind in COMBINE},
}


def called(text: str) -> list[str]:
    """The device functions that a text calls, directly or not, callees first."""
    found: list[str] = []
    for word in dict.fromkeys(re.findall(r"\w+", text)):
        if word in FUNCTIONS:
            body = FUNCTIONS[word].partition("\n")[2]
            found += [name for name in [*called(body), word] if name not in found]
    return found
