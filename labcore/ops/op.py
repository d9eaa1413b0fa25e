"""What an operator is, and the table of all of them.

In: registrations, one place per family (`pointwise.py`, `reductions.py`, `views.py` ...).  Out: `OPS[name]`, an `Op`.
An operator is one name under several interpretations: `kernel` computes on numpy arrays, `meta` tells shape, strides and
dtype without data, `derivatives` give gradients in terms of other operators; `fusion` keeps a table that lowers it to loops.
Invariant: `kernel` and `meta` agree on shape, dtype and strides for every input; tests compare them.
PyTorch: native_functions.yaml (over 2,000 entries), derivatives.yaml, and a meta registration each.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

from . import dispatch

OPS: dict[str, Op] = {}


class Op:
    """One operator. Calling it runs it under the current interpreter: eagerly, or into a graph.

    kind: "pointwise", "reduction", "view", "matmul", "factory", "random", "inplace" or "other".
    `derivatives` maps a parameter's name to its rule; see `derivatives.py`.
    `alias`: the result shares its input's storage.  `mutates`: the first argument is written.
    """

    def __init__(self, name: str, kind: str, kernel: Callable, meta: Callable, *, functional: Op | None = None) -> None:
        self.name = self.__name__ = name
        self.kind, self.kernel, self.meta, self.functional = kind, kernel, meta, functional
        self.alias = kind == "view"
        self.mutates = kind == "inplace"
        self.derivatives: dict[str, Callable] = {}

    @cached_property
    def signature(self) -> inspect.Signature:
        """The call's parameters, taken from the meta rule."""
        return inspect.signature(self.meta)

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """All parameters by name, defaults filled in. Raises TypeError naming the operator."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return dispatch.call(self, args, kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> str:
        return f"OPS[{self.name!r}]"
