"""Hooks: functions that are called on something's way, and the handle that takes one away again.

In: functions, in the order in which they were registered.  Out: `RemovableHandle`, for modules and
tensors alike; and what hooks make of a gradient.
Invariant: a tensor's hooks belong to the step that made it (a leaf's to the leaf), so after a write
in place they still get the gradient of what the tensor was when they were registered.
PyTorch also has hooks of nodes, and of a gradient that several tensors have.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tensor import Tensor

Hook = Callable[..., Any]
_numbers = count()


class RemovableHandle:
    """What registering a hook returns. `remove()` takes the hook away, and so does leaving a
    block that the handle opened."""

    def __init__(self, hooks: dict[int, Hook], number: int) -> None:
        self.hooks, self.id = hooks, number

    def remove(self) -> None:
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: dict[int, Hook], hook: Hook) -> RemovableHandle:
    number = next(_numbers)
    hooks[number] = hook
    return RemovableHandle(hooks, number)


class GradientHooks:
    """Of a leaf, or of a node's results. `arriving`: for each result, what is done with its
    gradient before it goes on; `accumulated`: what is done when the leaf's `grad` has it."""

    __slots__ = ("accumulated", "arriving")

    def __init__(self) -> None:
        self.arriving: dict[int, dict[int, Hook]] = {}
        self.accumulated: dict[int, Hook] = {}

    def changed(self, number: int, gradient: Tensor | None) -> Tensor | None:
        """The gradient of a result after its hooks; None where none came, which a hook is told."""
        for hook in tuple(self.arriving[number].values()):
            found = hook(gradient)
            if found is not None:
                gradient = _checked(hook, found, gradient)
        return gradient

    def tell(self, leaf: Tensor) -> None:
        for hook in tuple(self.accumulated.values()):
            found = hook(leaf)
            if found is not None:
                raise TypeError(f"expected Variable, but hook returned {type(found).__name__!r}")


def _checked(hook: Hook, found: Any, gradient: Tensor | None) -> Tensor:
    """What a hook returned. Raises TypeError for what is no tensor, RuntimeError for another shape
    or type than the gradient's."""
    from .tensor import Tensor

    if not isinstance(found, Tensor):
        raise TypeError(f"expected Variable, but hook returned {type(found).__name__!r}")
    name = getattr(hook, "__name__", type(hook).__name__)
    if gradient is not None and found.dtype is not gradient.dtype:
        was, got = (f"torch.{t.dtype.title}Tensor" for t in (gradient, found))
        raise RuntimeError(f"hook {name!r} has changed the type of value (was {was} got {got})")
    if gradient is not None and found.shape != gradient.shape:
        raise RuntimeError(f"hook {name!r} has changed the size of value")
    return found.detach()
