"""`Function`: a step of the tape with a derivative of the user's own.

In: a subclass with two static methods, `forward(ctx, *args)` and `backward(ctx, *grads)`.
Out: `apply`, which calls the first under no_grad and has the tape call the second.
Invariant: capture reads this like the user's Python, so a compiled function has the operators of
`forward` in its graph; what the tape is told is in custom.py.
Left out: forward mode and vmap. A backward is never recorded, so `once_differentiable` adds
nothing. `labcore.autograd.function` is this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .custom import Context, recorded, unrecorded
from .modes import is_grad_enabled, no_grad
from .tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


class FunctionCtx(Context):
    """What `forward` leaves for `backward`: tensors by `save_for_backward`, anything else as
    attributes. `needs_input_grad` says which arguments want a gradient."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors until the backward; `saved_tensors` are they. A write in between is noticed
        there, as it is with every operator."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """These arguments are written by `forward`, which returns them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """No gradient flows into these results."""
        self._without_gradient = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Is `backward` given zeros for results that nobody used, or None?"""
        self._materialize = value


class Function:
    """Subclass it, and call `Subclass.apply(...)`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method: call "
            f"{type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The results, a tensor or a tuple, from `ctx` and the arguments; from the arguments alone
        where there is a `setup_context`."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What `forward` would do with `ctx`, apart from it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """A gradient, or None, for each argument of `forward`, from one for each result."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """`forward` of these arguments, with `backward` for its history."""
        needs = tuple([isinstance(value, Tensor) and value.requires_grad for value in args])
        ctx = FunctionCtx(needs)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                results = cls.forward(ctx, *args, **kwargs)
            else:
                results = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, results)
        if is_grad_enabled() and any(needs):
            return recorded(cls, ctx, args, results)
        return unrecorded(ctx, args, results)


def once_differentiable(function: F) -> F:
    """Decorates a `backward` that cannot be differentiated itself."""
    return function
