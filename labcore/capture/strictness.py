"""Is a graph break an error here? The flag that `error_on_graph_break` sets for a block.

In: `set_strict(wanted)`.  Out: `strict()`, for this thread.
Invariant: CPython runs these; what they mean while capturing is said by `compiler/on_break.py`.
"""

from __future__ import annotations

import threading


class _Strict(threading.local):
    flag = False


_strict = _Strict()


def strict() -> bool:
    return _strict.flag


def set_strict(wanted: bool) -> bool:
    """Gives what it was."""
    before, _strict.flag = _strict.flag, wanted
    return before
