"""Functions about compiling that user code calls: `disable`, `is_compiling`, `graph_break`.

Invariant: each says to capture what it means there; run by CPython they do nothing special.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..capture import Break, means, means_constant


def is_compiling() -> bool:
    """True while capture looks at the call, False when CPython runs it."""
    return False


def graph_break(msg: str = "") -> None:
    """Make capture stop here; eagerly it does nothing."""


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Any:
    """Have `fn` always run by CPython: a call of it in compiled code is a graph break.

    Usable as a call, a decorator, and with arguments. `recursive=False`, which in PyTorch lets
    functions that `fn` calls be compiled, is the behaviour here in any case: they run eagerly
    unless they are compiled themselves.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not callable(fn):
        raise TypeError(f"disable() expects a function, got {type(fn).__name__}")

    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    name = getattr(fn, "__qualname__", type(fn).__name__)

    def stop(*call: Any) -> Any:
        raise Break(
            "disabled-call", name=name, reason=reason or "Its author wants CPython to run it."
        )

    means(disabled, stop)
    return disabled


def _stop_here(vm: Any, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from ..capture.interpreter.fold import python_value

    given = [*args, *kwargs.values()]
    text = python_value(vm, given[0]) if given else ""
    raise Break("graph-break-call", reason=text or "The program asks for a break here.")


means_constant(is_compiling, lambda: True)
means(graph_break, _stop_here)
