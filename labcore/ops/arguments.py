"""Was every argument of an operator of a kind it can take?

In: an operator and a call's arguments.  Out: nothing, or the TypeError that PyTorch's argument
parser raises.
Invariant: eager mode and capture ask the same question, so a wrong call is the same error in both.
PyTorch parses against overloads of a schema; here a parameter's name says what it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..graph import TensorMeta
from ..shapes import SymNumber
from .op import Op


def is_tensor(value: Any) -> bool:
    """A tensor under any interpretation: the real one, an array, a node, a meta."""
    return isinstance(value, (np.ndarray, TensorMeta)) or (
        hasattr(value, "meta") and not isinstance(value, (Op, type))
    )


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic, SymNumber))


def is_int(value: Any) -> bool:
    return hasattr(value, "__index__") and not is_tensor(value)


def _ints(value: Any) -> bool:
    return is_int(value) or (isinstance(value, (tuple, list)) and all(map(is_int, value)))


def _operand(value: Any) -> bool:
    return is_tensor(value) or is_number(value)


def _tensors(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(is_tensor, value))


# parameter -> (does it fit?, what it must be)
Kind = tuple[Callable[[Any], bool], str]
TENSOR: Kind = (is_tensor, "Tensor")
KINDS: dict[str, Kind] = {
    "input": TENSOR,
    "condition": TENSOR,
    "src": TENSOR,
    "other": (_operand, "Tensor or Number"),
    "exponent": (_operand, "Tensor or Number"),
    "tensors": (_tensors, "tuple of Tensors"),
    "dim": (lambda value: value is None or _ints(value), "int or tuple of ints"),
    "dims": (_ints, "tuple of ints"),
    "size": (_ints, "tuple of ints"),
    "shape": (_ints, "tuple of ints"),
    "alpha": (is_number, "Number"),
    "dim0": (is_int, "int"),
    "dim1": (is_int, "int"),
    "index": (is_int, "int"),
}
# What it takes where the operator, or its kind, decides.
PARTICULAR: dict[tuple[str, str], Kind] = {
    ("indexed", "index"): TENSOR,
    ("indexed", "src"): KINDS["other"],
    ("roll", "dims"): KINDS["dim"],
    ("tensordot", "dims"): (lambda value: True, "int or two lists of ints"),
}

# Parameters that take a number. A tensor of one number will do where nobody asks for its gradient.
NUMBERS = frozenset(
    "alpha beta negative_slope fill_value eps delta p threshold label_smoothing momentum min_val "
    "max_val dropout_p scale divisor_override nan posinf neginf decimals ignore_index".split()
)
VALUES = frozenset(("addcmul", "addcdiv", "pad", "_pad", "threshold"))  # their `value` is one, too


@cache
def number_places(op: Op) -> tuple[int, ...]:
    """The positions of parameters that take a number. The names say nothing of operators that a
    program defined."""
    names = NUMBERS | {"value"} if op.name in VALUES else NUMBERS
    found = [place for place, name in enumerate(op.parameters) if name in names]
    return tuple(found) if op.homes else ()


def with_numbers(
    op: Op, args: tuple, kwargs: dict[str, Any], number: Callable[[Any], Any]
) -> tuple[tuple, dict[str, Any]]:
    """The arguments, with what `number` makes of a tensor where the operator takes a number.

    Raises TypeError for a tensor that has axes, or whose gradient would be lost.
    """
    for place in number_places(op):
        name = op.parameters[place]
        value: Any = args[place] if place < len(args) else kwargs.get(name)
        if is_tensor(value):
            if value.requires_grad or value.shape:
                where = f"argument {name!r} (position {place + 1})"
                raise TypeError(f"{op.name}(): {where} must be Number, not {type(value).__name__}")
            if place < len(args):
                args = (*args[:place], number(value), *args[place + 1 :])
            else:
                kwargs = {**kwargs, name: number(value)}
    return args, kwargs


def check_arguments(op: Op, args: tuple, kwargs: dict[str, Any] | None = None) -> None:
    """Raises TypeError for a wrong number of arguments or an unknown name, or for the first
    argument of a kind that its parameter does not take."""
    kwargs = kwargs or {}
    op.bind(args, kwargs)
    names = list(op.signature.parameters)
    given = {**dict(zip(names, args)), **kwargs}
    second = given.get("other", given.get("exponent"))
    for name, value in given.items():
        known = PARTICULAR.get((op.kind, name)) or PARTICULAR.get((op.name, name))
        known = known or KINDS.get(name)
        fits, wanted = TENSOR if op.kind == "matmul" else known or (None, "")
        if name == "input" and is_tensor(second) and is_number(value) and op.kind != "matmul":
            continue  # 2 - x: the tensor is on the other side
        if fits is not None and not fits(value):
            where = f"argument {name!r} (position {names.index(name) + 1})"
            raise TypeError(f"{op.name}(): {where} must be {wanted}, not {_kind(value, fits)}")


def _kind(value: Any, fits: Callable[[Any], bool]) -> str:
    """"int", or "tuple with str" when it is an element that does not fit."""
    kind = type(value).__name__
    if not isinstance(value, (tuple, list)) or fits is is_tensor:
        return kind
    bad = next((v for v in value if not fits([v])), None)
    return f"{kind} with {type(bad).__name__}" if value else f"an empty {kind}"
