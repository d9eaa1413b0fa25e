"""What user code says about where CPython is to run: `disable`, `graph_break`, `skip_frame`,
`is_compiling`.

Invariant: each says to capture what it means there; run by CPython they do nothing special.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from ..capture import Break, means, means_constant
from ..capture.interpreter.fold import python_value
from ..capture.skipping import CaptureAgain, disable_code, is_skipped, skip_code
from ..capture.variables import Constant, Variable


def is_compiling() -> bool:
    """True while capture looks at the call, False when CPython runs it."""
    return False


def is_dynamo_compiling() -> bool:
    """The same question under another name."""
    return False


def graph_break(msg: str = "") -> None:
    """Make capture stop here, for the reason `msg`; eagerly it does nothing."""


def skip_frame(msg: str = "") -> None:
    """Have CPython run the operators of the function that calls this, from its first line on;
    the functions it calls are compiled. Eagerly it does nothing."""


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Any:
    """Have `fn` always run by CPython: a call of it in compiled code is a graph break.

    Usable as a call, a decorator, and with arguments; of a class it disables `__init__` and
    `__call__`. `recursive=False`: operators in `fn` itself run eagerly, functions that it calls
    are compiled; gives `fn` itself. Raises TypeError for what cannot be called.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if not callable(fn):
        raise TypeError(f"disable() expects a function, got {type(fn).__name__}")
    if isinstance(fn, type):
        for name in {"__init__", "__call__"} & {*vars(fn)}:
            setattr(fn, name, disable(vars(fn)[name], recursive, reason=reason))
        return fn
    if not recursive:
        disable_code(_code_of(fn))
        return fn
    return _disabled(fn, reason or "Its author wants CPython to run it.")


def _disabled(fn: Callable[..., Any], reason: str) -> Callable[..., Any]:
    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    name = getattr(fn, "__qualname__", type(fn).__name__)

    def stop(*call: Any) -> Variable:
        raise Break("disabled-call", name=name, reason=reason)

    means(disabled, stop)
    return disabled


def _code_of(fn: Callable[..., Any]) -> Any:
    """The code whose frames `fn` makes."""
    function = fn if isinstance(fn, (FunctionType, MethodType)) else type(fn).__call__
    code = getattr(function, "__code__", None)
    if code is None:
        raise TypeError(f"disable(recursive=False) expects a Python function, got {fn!r}")
    return code


def _stop_here(vm: Any, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Variable:
    raise Break("graph-break-call", reason=_text(vm, args, kwargs) or "The program asks for it.")


def _skip_here(vm: Any, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Variable:
    code = vm.frames[-1].code
    if not is_skipped(code):
        skip_code(code)
        raise CaptureAgain
    return Constant(None)


def _text(vm: Any, args: list[Any], kwargs: dict[str, Any]) -> str:
    given = [*args, *kwargs.values()]
    return str(python_value(vm, given[0])) if given else ""


means_constant(is_compiling, lambda: True)
means_constant(is_dynamo_compiling, lambda: True)
means(graph_break, _stop_here)
means(skip_frame, _skip_here)
