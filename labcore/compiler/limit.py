"""What is said when a place has as many variants as it may have.

In: the point, and the values that fit none of its variants.  Out: a text: where, why, what to do.
Invariant: old variants are still served; what fits none of them runs in CPython.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..guards.replay import failure
from ..trace import Origin

if TYPE_CHECKING:
    from .points import Point

# By the kind of the guard that failed.
ADVICE = {
    "SIZE_MATCH": "Ask for symbolic sizes, compile(..., dynamic=True), or pad to a few sizes.",
    "STRIDE_MATCH": "Call x.contiguous() first, so that one variant serves all layouts.",
    "EQUALS_MATCH": "Pass a number that differs from call to call as a tensor; leave a text "
    "outside of the function.",
    "SEQUENCE_LENGTH": "Keep the number of items the same, or stack them into one tensor.",
    "TYPE_MATCH": "Pass values of one type; a class that is made for each call is another one.",
    "ID_MATCH": "Make the object once and use it again, rather than anew for each call.",
    "CLOSURE_MATCH": "Make the function once and use it again, rather than anew for each call.",
    "GRAD_MODE": "Make all calls under the same grad mode.",
}
LOOK = "LAB_LOGS=recompiles shows for each call why no variant fitted."


def limit_text(point: Point, slots: tuple[Any, ...]) -> str:
    """Where the limit was reached, the last reason, and what to do about such reasons."""
    function = point.state.function
    code = function.__code__
    place = "" if not point.key else f", in the region {point.title},"
    what = "calls that fit none of them run" if not point.key else "what fits none of them runs"
    then = f"{what} eagerly from now on"
    if point.state.options.fullgraph:
        then = "this call fits none of them, and under fullgraph=True none runs eagerly"
    count = f"{point.cache.limit} variant{'s' if point.cache.limit > 1 else ''}"
    first = Origin(code.co_filename, code.co_firstlineno)
    file = first.file_name if first.file_name == "cell" else first.file
    text = (
        f"{function.__qualname__} ({file}:{first.line}) has{place} "
        f"{count}, the recompile limit; {then}.\n"
    )
    answer = failure(point.cache.variants[0], slots)
    guard, mismatch = (None, None) if answer is None else (answer.guard, answer.mismatch)
    if mismatch is not None:
        text += f"  Last reason: {mismatch.reason}\n"
    if answer is not None and answer.origin is not None:
        text += f"{answer.origin.excerpt()}\n"
    advice = ADVICE.get(guard.type, "") if guard is not None else ""
    return f"{text}  What to do: {advice} {LOOK}".replace(":  ", ": ")
