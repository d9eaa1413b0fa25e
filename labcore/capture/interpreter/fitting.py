"""Calls that do not fit what they call: CPython says what is wrong with them.

In: a builtin, or a rule or polyfill of it, and the arguments of a call.  Out: nothing, or a Break.
Invariant: rules take their arguments as CPython would hand them over, so none of them counts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, ModuleType
from typing import Any

from ..breaks import Break
from .rules import RULES


def fit(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> None:
    """Raises Break for a call that the function's parameters do not fit."""
    signature = _signature(function)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        raise Break("unknown-call", name=f"{name}() with such arguments") from None


def fit_builtin(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """The same for a builtin: one that has a rule, or a function of a module in C."""
    of_module = type(function) is BuiltinFunctionType and type(function.__self__) is ModuleType
    if of_module or id(function) in RULES:
        fit(function.__name__, function, args, kwargs)


def _least(first: Any, /, *others: Any, key: Any = None, default: Any = None) -> None: ...


def _attribute(owner: Any, name: Any, default: Any = None, /) -> None: ...


# Builtins that do not tell their parameters.
UNTOLD = {min: _least, max: _least, getattr: _attribute}


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(UNTOLD.get(function, function))
    except ValueError:
        return None
