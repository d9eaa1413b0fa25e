"""What compiled functions do about calls that no variant fits: compile, run eagerly, or refuse.

In: `set_stance(name)`, for good or for a `with` block.  Out: the same program, compiled less.
Invariant: a stance decides whether something is compiled, never what a call gives.
PyTorch's stances also choose a backend and skip guards; here these five names are all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..trace import attention

STANCES = {
    "default": "compile what no variant fits",
    "force_eager": "run every call eagerly, variants or not",
    "eager_on_recompile": "use the variants there are, run all else eagerly",
    "fail_on_recompile": "use the variants there are, raise RuntimeError for all else",
    "eager_then_compile": "run a function's first call eagerly, compile from the second on",
}

_current = "default"


def stance() -> str:
    """The name of the stance in force."""
    return _current


def _take(name: str) -> None:
    global _current
    _current = name
    attention.want("stance", name == "force_eager")


class set_stance:
    """Take a stance from here on, in all threads; as a context manager or decorator, for the
    block or the call only.

    default: compile what no variant fits.  force_eager: run every call eagerly.
    eager_on_recompile: use the variants there are, run all else eagerly.  fail_on_recompile: use
    the variants there are, and raise RuntimeError for all else, which tells each variant's failed
    guard.  eager_then_compile: run a function's first call eagerly, compile from the second on.
    Raises ValueError for another name.
    """

    def __init__(self, name: str = "default") -> None:
        if name not in STANCES:
            names = "\n".join(f"  {known:<19} {what}" for known, what in STANCES.items())
            raise ValueError(f"there is no stance {name!r}; there are:\n{names}")
        self.name, self.before = name, _current
        _take(name)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _take(self.before)  # as a decorator it means the calls, not what follows the definition
        name = self.name

        @functools.wraps(function)
        def in_stance(*args: Any, **kwargs: Any) -> Any:
            with set_stance(name):
                return function(*args, **kwargs)

        return in_stance

    def __enter__(self) -> None:
        _take(self.name)

    def __exit__(self, *error: object) -> None:
        _take(self.before)
