"""What builtins do with the methods of the user's classes: call them, and insist on a type."""

from __future__ import annotations

from typing import Any


def refuse() -> None:
    """Capture stops at the call: CPython has something to say about the result."""


def text(method: Any, *args: Any) -> Any:
    result = method(*args)
    if type(result) is not str:
        refuse()
    return result


def integer(method: Any) -> Any:
    result = method()
    if type(result) is not int:
        refuse()
    return result


def hashed(method: Any) -> Any:
    result = method()
    if type(result) is not int or not -(2**63) <= result < 2**63:
        refuse()
    return -2 if result == -1 else result


def length(method: Any) -> Any:
    result = method()
    if type(result) is not int or not 0 <= result < 2**61 - 1:
        refuse()
    return result


def real(method: Any) -> Any:
    result = method()
    if type(result) is not float:
        refuse()
    return result


def is_as_it_says(value: Any, classes: Any) -> Any:
    return issubclass(value.__class__, classes)


def truth(value: Any) -> Any:
    return True if value else False


def fill_list(items: list, iterable: Any = (), /) -> None:
    """list.__init__."""
    items.clear()
    items.extend(iterable)


def fill_set(elements: set, iterable: Any = (), /) -> None:
    """set.__init__."""
    elements.clear()
    elements.update(iterable)


def fromkeys(cls: Any, iterable: Any, value: Any = None, /) -> Any:
    """dict.fromkeys of a class that is derived from dict."""
    made = cls()
    for key in iterable:
        made[key] = value
    return made
