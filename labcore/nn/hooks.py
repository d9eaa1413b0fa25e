"""Hooks of a module: functions that are called before and after its `forward`.

In: functions, in the order in which they were registered.  Out: what the call returns.
Invariant: a module without hooks is not slowed down, and capture reads hooks as it reads any code.
PyTorch also has hooks for gradients, for all modules at once, and with keyword arguments.
"""

from __future__ import annotations

from typing import Any

from ..tensor.hooks import Hook


class Hooks:
    """The hooks of one module."""

    def __init__(self) -> None:
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}

    def call(self, module: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The module's `forward` with its hooks; what a hook returns, unless None, takes the place
        of the arguments, or of the result."""
        for hook in tuple(self.before.values()):
            given = hook(module, args)
            if given is not None:
                args = given if isinstance(given, tuple) else (given,)
        result = module.forward(*args, **kwargs)
        for hook in tuple(self.after.values()):
            found = hook(module, args, result)
            if found is not None:
                result = found
        return result
