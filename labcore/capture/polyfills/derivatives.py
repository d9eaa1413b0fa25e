"""What a `Function`'s history is in a graph: its `backward`, read where the forward has ended.

`begin`, `refuse` and `finish` are rules of the interpreter, see own_derivatives.py.
"""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor


def begin(results: Any) -> Any:
    """What stands for the gradient of the result, until there is one."""


def refuse(what: str) -> None:
    """CPython tells the tape."""


def finish(cls: type, args: tuple[Any, ...], results: Any, found: Any) -> Any:
    """The results, with the gradients that were `found` for their history."""


def recorded(cls: Any, ctx: Any, args: tuple[Any, ...], results: Any) -> Any:
    """In place of `labcore.tensor.custom.recorded`."""
    if ctx._dirty or ctx._without_gradient:
        refuse("it marks arguments or results")
    for tensor in ctx._to_save:
        if tensor is not None and not isinstance(tensor, Tensor):
            refuse("it saves what is no tensor")
    gradient = begin(results)
    try:
        found = cls.backward(ctx, gradient)
    except BaseException:
        refuse("its backward raises")
    return finish(cls, args, results, found)
