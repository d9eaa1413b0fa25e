"""What a program replaces of `Tensor`: monkeypatching, which is rare, and means everything to code
that is compiled already.

In: an assignment `Tensor.relu = function`, or a deletion.  Out: whoever asked with `on_replacing`
is told; `is_replaced` tells later.
Invariant: nobody pays for it but who does it.
PyTorch guards the methods that a graph used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .missing import is_missing

_sealed: list[type] = []  # Tensor, once it is complete
_own: dict[str, Any] = {}  # what it has from the lab
_replaced: set[str] = set()
_told: list[Callable[[], None]] = []


class Watched(type):
    """The metaclass of `Tensor`."""

    def __dir__(cls) -> list[str]:
        """What is there."""
        return [name for name in super().__dir__() if not is_missing(cls, name)]

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _note(cls, name)

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        _note(cls, name)


def seal(cls: type) -> None:
    """The class has all that the lab gives it: what comes now is a program's."""
    _sealed.append(cls)
    for place in reversed(cls.__mro__):
        _own.update(vars(place))


def on_replacing(tell: Callable[[], None]) -> None:
    """Call `tell` whenever a program replaces something."""
    _told.append(tell)


def is_replaced(*names: str) -> bool:
    """Has a program given `Tensor` another one of these?"""
    return not _replaced.isdisjoint(names)


def _note(cls: type, name: str) -> None:
    if cls not in _sealed:
        return
    found = next((vars(place)[name] for place in cls.__mro__ if name in vars(place)), None)
    own = name in _own and found is _own[name]
    (_replaced.discard if own else _replaced.add)(name)
    for tell in _told:
        tell()
