"""Arguments of an operator's call, put in order.

In: what the user passed.  Out: positional arguments with defaults, and the arrays inside tensors
for a kernel.
Invariant: what cannot be an argument raises here or in the meta rule, in the operator's name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labcore.ops.op import Op

from .tensor import Tensor


def unwrapped(op: Op, arg: Any) -> tuple[Any, bool]:
    """An argument as a kernel takes it, and whether a tensor in it requires grad."""
    if isinstance(arg, Tensor):
        return arg.array, arg._layout.requires_grad
    if isinstance(arg, (list, tuple)):
        pairs = [unwrapped(op, a) for a in arg]
        return type(arg)([value for value, _ in pairs]), any(requires for _, requires in pairs)
    if isinstance(arg, np.generic):
        return arg.item(), False
    if isinstance(arg, np.ndarray):
        raise TypeError(
            f"{op.name}(): expected a Tensor but got a numpy.ndarray; wrap it with torch.from_numpy"
        )
    return arg, False


# ---- parameters by name -------------------------------------------------------------------------

_parameters: dict[Op, tuple[dict[str, int], list[Any]]] = {}


def positional(op: Op, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """The arguments in the order of the operator's parameters, defaults filled in."""
    known = _parameters.get(op)
    if known is None:
        parameters = op.signature.parameters
        known = _parameters[op] = (
            {n: i for i, n in enumerate(parameters)},
            [p.default for p in parameters.values()],
        )
    places, defaults = known
    given = [*args, *defaults[len(args) :]]
    for name, value in kwargs.items():
        place = places.get(name, -1)
        if place < len(args):
            op.bind(args, kwargs)  # raises: an unknown name, or one given twice
        given[place] = value
    if op.signature.empty in given[: len(args) + len(kwargs)]:
        op.bind(args, kwargs)  # raises: a parameter is missing
    return tuple(given)
