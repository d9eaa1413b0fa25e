"""The checks of lesson 10c: which element a thread takes, and where threads must wait.

A student's text is run by the grid simulator; facts are what it counted and what it found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .result import Fact, Result, Unusable, begun, checked, kind_of

COPY = """def copy(x, out, n):
    for k in range(4):
        i = {place}
        if i < n:
            out[i] = x[i]
"""
SIZE, BLOCKS, THREADS = 3000, 3, 256
SECTORS = SIZE * 4 // 32
# What a text raises that is no kernel's, besides what the simulator finds: k // 0, n[0], "a" + k
WRONG = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, SyntaxError,
         TypeError, ValueError)


@checked
def coalesced(place: Any) -> Result:
    """`place` is the text of an index: which element a thread of 3 blocks of 256 copies in its
    turn k of 4, so that all of 3000 are copied and a warp's 32 threads are neighbours."""
    source = COPY.format(place=_text(place))
    x, out = np.arange(1, SIZE + 1, dtype=np.float32), np.zeros(SIZE, np.float32)
    launch, error = _launched(source, "copy", BLOCKS, [x, out, SIZE])
    traffic = launch.traffic["x"] if launch else None
    facts = (
        Fact("nothing wrong found", "nothing", error or "nothing"),
        Fact("elements copied", SIZE, int((out == x).sum())),
        Fact("sectors read", SECTORS, traffic.sectors if traffic else "none"),
    )
    belief = ""
    if error.startswith("Race"):
        belief = "Left: two threads have the same element."
    elif not error and not (out == x).all():
        belief = "Left: elements that nobody copies. A block has 1024 of them, its own."
    elif traffic and traffic.sectors > SECTORS:
        belief = (
            "Left: neighbouring threads are not at neighbouring addresses. Four neighbours to a "
            "thread is how a core would do it; a warp asks for 32 addresses at once."
        )
    return Result(facts, belief)


@checked
def waits(source: Any) -> Result:
    """`source` is the text of `def total(x, out)`, for one block of 256 threads: it adds up 256
    numbers into out[0], through shared memory."""
    x, out = np.arange(THREADS, dtype=np.float32), np.zeros(1, np.float32)
    launch, error = _launched(_text(source), "total", 1, [x, out])
    shared = launch.shared_bytes if launch else 0
    facts = (
        Fact("nothing wrong found", "nothing", error or "nothing"),
        Fact("the sum", float(x.sum()), float(out[0])),
        Fact("shared memory used", True, shared > 0),
    )
    beliefs = {
        "Race": "Left: a thread reads what another one writes, and nobody waited in between.",
        "Uninitialised": "Left: a cell is read before anybody has written it.",
        "DivergentBarrier": "Left: a barrier inside of an if, which some threads never meet.",
        "OutOfBounds": "Left: an index beyond the end.",
    }
    kind = error.partition(":")[0]
    return Result(facts, beliefs.get(kind, ""))


def _text(value: Any) -> str:
    text = begun(value)
    if not isinstance(text, str):
        raise Unusable("a text", kind_of(text))
    return text


def _launched(source: str, kernel: str, blocks: int, arguments: list[Any]) -> tuple[Any, str]:
    """The launch, or nothing and what was found wrong, in one line."""
    from ...simulator import launch

    try:
        return launch(source, kernel, (blocks,), (THREADS,), arguments), ""
    except WRONG as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0]}"
