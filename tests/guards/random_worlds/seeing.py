"""What a call gave, as plain data: types, values, layouts, and which objects of the world they are.

Invariant: nothing of the world's is run, however its classes were changed.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import labcore as torch
from labcore.tensor import Tensor

PLAIN = (int, bool, str, bytes, range, complex, type(None), type(...))


class Seen:
    """`homes` are the objects that the world has."""

    def __init__(self, world: dict[str, Any]) -> None:
        self.homes = {id(torch): "the lab"}  # which nobody is to walk through
        self.kept: list[Any] = []
        for name, value in world.items():
            if not name.startswith("__"):
                self._walk(name, value, 0)

    def _walk(self, path: str, value: Any, depth: int) -> None:
        kind = type(value)
        if kind in PLAIN or kind is float or id(value) in self.homes or depth > 5:
            return
        self.homes[id(value)] = path
        self.kept.append(value)
        parts: list[Any] = []
        if issubclass(kind, (list, tuple)):
            parts = list(kind.__iter__(value)) if kind in (list, tuple) else []
        elif kind is dict:
            parts = list(dict.values(value))
        elif kind is not Tensor and not issubclass(kind, type):
            parts = list(_attributes(value).values())
        for part in parts:
            self._walk(f"{path}.", part, depth + 1)

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return kind.__name__, repr(value)
        if kind is float:
            return "float", value.hex()
        if kind is Tensor:
            facts = value.dtype.name, tuple(value.shape), value.stride(), value.requires_grad
            home = self.homes.get(id(value)) if value.grad_fn is None else None
            return "Tensor", home, facts, repr(value.tolist()), value.is_inference()
        if isinstance(value, BaseException):
            return kind.__name__, str(value)
        if id(value) in self.homes and kind is not tuple:
            return "the", self.homes[id(value)]
        if kind is list or issubclass(kind, tuple):
            items = list.__iter__(value) if kind is list else tuple.__iter__(value)
            return kind.__name__, [self(item) for item in items]
        if kind is dict:
            return "dict", [(self(k), self(v)) for k, v in value.items()]
        if kind in (set, frozenset):
            return kind.__name__, sorted(map(str, map(self, value)))
        if kind is FunctionType:
            return "function", value.__code__.co_name, self(value.__defaults__)
        if kind is MethodType:
            return "method", self(value.__func__), self(value.__self__)
        if kind is BuiltinFunctionType:
            return "builtin", value.__name__
        return kind.__name__, value.__name__ if isinstance(value, type) else ""


def _attributes(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
