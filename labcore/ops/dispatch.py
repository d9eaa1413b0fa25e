"""Who carries out an operator: the interpreter on top of this thread's stack.

At the bottom is eager mode, installed by `tensor/`.  A tracer pushed on top writes graph nodes
instead; the same derivative rule therefore serves the eager tape and the joint graph.
PyTorch has a dispatcher with some twenty keys; the idea kept here is that one call has several
meanings.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol


class Interpreter(Protocol):
    """Gives calls of operators a meaning."""

    def call(self, op: Any, args: tuple, kwargs: dict[str, Any]) -> Any: ...


class _Stack(threading.local):
    top: Interpreter | None = None


_stack = _Stack()
_eager: Interpreter | None = None


def install_eager(interpreter: Interpreter) -> None:
    """Set what an operator means when nothing is being traced."""
    global _eager
    _eager = interpreter


def current() -> Interpreter | None:
    """Who carries out operators in this thread."""
    return _stack.top or _eager


def call(op: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    __tracebackhide__ = True
    return (_stack.top or _eager).call(op, args, kwargs)  # type: ignore[union-attr]


class interpreting:
    """Operators called in this thread inside the block mean what `interpreter` says; None: they
    are eager again."""

    def __init__(self, interpreter: Interpreter | None) -> None:
        self.interpreter, self.before = interpreter, _stack.top

    def __enter__(self) -> Interpreter | None:
        self.before, _stack.top = _stack.top, self.interpreter
        return self.interpreter

    def __exit__(self, *error: object) -> None:
        _stack.top = self.before
