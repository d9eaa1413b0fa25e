"""Python functions that capture reads in place of others, mostly of functions in C.

In: `substitute(original, replacement)`.  Out: `substitute_of(original)`, when a call is captured.
Invariant: a function is known by its identity and has one substitute.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

_substitutes: dict[int, tuple[Callable, FunctionType]] = {}


def substitute(original: Callable, replacement: FunctionType) -> None:
    """Raises ValueError when there is a substitute already."""
    if id(original) in _substitutes:
        raise ValueError(f"{original!r} has a substitute already: {substitute_of(original)!r}")
    _substitutes[id(original)] = original, replacement  # alive, so that its id stays its own


def substitute_of(original: Callable) -> FunctionType | None:
    found = _substitutes.get(id(original))
    return None if found is None else found[1]
