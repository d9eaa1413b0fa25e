"""Grad mode and inference mode: should operators be recorded for a backward?

In: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`, as context managers and
decorators.
Out: `mode.grad` and `mode.inference`, one pair of flags for each thread; `usual.left`, whether
anything global is not what it is at first.
Invariant: leaving a block, however it is left, restores what was before it.
The hooks of saved tensors are a flag of the same kind; saved.py says what they do.
PyTorch also has forward-mode levels and a multithreaded backward.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class _Usual:
    """Guards ask this first: a thread's own flags take as long to read as everything else that is
    asked about two tensors. `left` counts the threads whose flags are not those that a thread
    begins with, and one for another default dtype."""

    def __init__(self) -> None:
        self.left = 0
        self._lock = threading.Lock()

    def note(self, was: bool, now: bool) -> None:
        """Something was as usual before, and is so now."""
        if was is not now:
            with self._lock:
                self.left += 1 if was else -1


usual = _Usual()


class _Mode(threading.local):
    """Threads that end elsewhere than they began are counted for good, which costs only time."""

    grad = True
    inference = False
    hooks: tuple[tuple[Callable, Callable], ...] = ()  # of saved tensors: the last is in force

    def __setattr__(self, name: str, value: bool) -> None:
        flags = self.__dict__  # this thread's; an attribute would look it up each time
        was = flags.get("grad", True) and not flags.get("inference", False)
        flags[name] = value
        now = flags.get("grad", True) and not flags.get("inference", False)
        if was is not now:
            usual.note(was, now)


mode = _Mode()


def is_grad_enabled() -> bool:
    """Are operators on tensors that require grad recorded, in this thread, now?"""
    return mode.grad


def is_inference_mode_enabled() -> bool:
    return mode.inference


class _Block:
    """A context manager that can decorate a function too: each call opens a block of its own."""

    _before: tuple[bool, bool]

    def _enter(self) -> None:
        raise NotImplementedError

    def _again(self) -> _Block:
        """A block like this one, not entered."""
        return type(self)()

    def __enter__(self) -> _Block:
        self._before = mode.grad, mode.inference
        self._enter()
        return self

    def __exit__(self, *error: object) -> None:
        mode.grad, mode.inference = self._before

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            raise TypeError(
                f"{type(self).__name__} cannot decorate the generator {function.__qualname__}: "
                "it would hold between the items too; open a block inside it"
            )

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


class _Switch(_Block):
    """A block without parameters: `@no_grad` works like `@no_grad()`."""

    def __new__(cls, function: Callable | None = None) -> Any:
        block = super().__new__(cls)
        return block if function is None else block(function)


class no_grad(_Switch):
    """Inside, nothing is recorded for a backward."""

    def _enter(self) -> None:
        mode.grad = False


class enable_grad(_Switch):
    """Inside, operators are recorded again."""

    def _enter(self) -> None:
        mode.grad = True


class set_grad_enabled(_Block):
    """Switch recording on or off: at once, and back when used as a block that ends."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = bool(enabled)
        self._before = mode.grad, mode.inference
        mode.grad = self.enabled

    def _enter(self) -> None:
        mode.grad = self.enabled

    def __enter__(self) -> set_grad_enabled:
        mode.grad = self.enabled
        return self

    def _again(self) -> _Block:
        return set_grad_enabled(self.enabled)

    def __call__(self, function: F) -> F:
        mode.grad = self._before[0]  # a decorator switches nothing yet
        return super().__call__(function)


class inference_mode(_Block):
    """Inside, nothing is recorded, and new tensors keep no version.

    They can never take part in a backward.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled

    def __new__(cls, enabled: bool | Callable = True) -> Any:
        block = super().__new__(cls)
        if not callable(enabled):
            return block
        block.__init__()  # type: ignore[misc]
        return block(enabled)

    def _enter(self) -> None:
        mode.inference = self.enabled
        mode.grad = not self.enabled

    def _again(self) -> _Block:
        return inference_mode(self.enabled)
