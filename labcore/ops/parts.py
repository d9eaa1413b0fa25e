"""Operators that are written in terms of other operators: one function each, nothing more.

In: a function that calls operators.  Out: an operator whose meta rule and kernel are that function,
run on metas and on arrays.

    composite    taken apart before differentiation: its gradients are those of its parts
    decomposed   differentiated whole, by rules of its own; taken apart after that, before lowering

Invariant: such a function asks its tensors only for their meta (`meta_of`) and gives them to
operators only; so it runs on tensors, arrays, nodes, lazy values and metas alike, and eager mode,
graphs and loops compute the same steps.
PyTorch: CompositeImplicitAutograd, and the table of decompositions (`torch._decomp`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import numpy as np

from ..dtypes import bool as BOOL, dtype, float32 as FLOAT32
from ..graph import TensorMeta
from . import arrays
from .derivatives import meta_of
from .dispatch import interpreting
from .op import OPS, Op, register


class Held:
    """An array that knows its meta, as tensors and nodes do."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def meta(self) -> TensorMeta:
        found: TensorMeta = arrays.meta_of(self.array)
        return found


class OnArrays:
    """Operators run by their kernels."""

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        if op.compose is not None:
            return op.compose(*args, **kwargs)
        given = _map(args, _array)
        named = {name: _map(value, _array) for name, value in kwargs.items()}
        return Held(op.kernel(*given, **named))


class OnMetas:
    """Operators run by their meta rules."""

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        return op.meta(*args, **kwargs)


_ON_ARRAYS, _ON_METAS = OnArrays(), OnMetas()


def composite(homes: str, floats: str = "") -> Callable[[Callable], Op]:
    """Register the function below as an operator that consists of what it calls.

    `floats`: the name of PyTorch's kernel, which takes floating point only.
    """

    def registered(function: Callable) -> Op:
        function = of_floats(function, floats)
        return register(
            function.__name__, "composite", *_interpreted(function), compose=function, homes=homes
        )

    return registered


def decomposed(
    homes: str, floats: str = "", kind: str = "composite"
) -> Callable[[Callable], Op]:
    """Register the function below as an operator with derivatives of its own."""

    def registered(function: Callable) -> Op:
        function = of_floats(function, floats)
        wide = in_float32(function) if kind == "composite" else function
        kernel, meta = _interpreted(wide)[0], _interpreted(function)[1]
        return register(function.__name__, kind, kernel, meta, decompose=wide, homes=homes)

    return registered


def in_float32(function: Callable) -> Callable:
    """The function; of halves its steps are taken in float32, and the result is rounded once."""

    @wraps(function)
    def widened(*args: Any, **kwargs: Any) -> Any:
        if not any(map(_has_half, (*args, *kwargs.values()))):
            return function(*args, **kwargs)
        named = {name: _map(value, _wide) for name, value in kwargs.items()}
        found = function(*_map(args, _wide), **named)
        with interpreting(_ON_METAS):
            facts = {name: _map(value, _facts) for name, value in kwargs.items()}
            wanted = function(*_map(args, _facts), **facts)
        return OPS["to"](found, wanted.dtype)

    return widened


def _has_half(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_half, value))
    meta = meta_of(value)
    return isinstance(meta, TensorMeta) and meta.dtype.is_half


def _wide(value: Any) -> Any:
    return OPS["to"](value, FLOAT32) if _has_half(value) else value


def _facts(value: Any) -> Any:
    meta = meta_of(value)
    return meta if isinstance(meta, TensorMeta) else value


def of_floats(function: Callable, kernel: str) -> Callable:
    """The function; it raises NotImplementedError when its first argument is not of floats."""
    if not kernel:
        return function

    @wraps(function)
    def checked(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_float(kernel, meta_of(input).dtype)
        return function(input, *args, **kwargs)

    return checked


def check_float(kernel: str, type_: dtype) -> None:
    """Raises NotImplementedError, in the name of PyTorch's kernel, unless it is a float type."""
    if not type_.is_floating_point:
        no_kernel(kernel, type_)


def check_no_bool(kernel: str, type_: dtype) -> None:
    """Raises NotImplementedError, in the name of PyTorch's kernel, for bool."""
    if type_ is BOOL:
        no_kernel(kernel, type_)


def no_kernel(kernel: str, type_: dtype) -> NoReturn:
    """Raises NotImplementedError: PyTorch has no such kernel for the type."""
    raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_.title}'")


def _interpreted(function: Callable) -> tuple[Callable, Callable]:
    """(kernel, meta rule) of a function of operators."""

    @wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> np.ndarray:
        named = {name: _map(value, _held) for name, value in kwargs.items()}
        with interpreting(_ON_ARRAYS):
            return _array(function(*_map(args, _held), **named))

    @wraps(function)
    def meta(*args: Any, **kwargs: Any) -> TensorMeta:
        with interpreting(_ON_METAS):
            return function(*args, **kwargs)

    return kernel, meta


def _map(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_map(v, convert) for v in value])
    return convert(value)


def _held(value: Any) -> Any:
    return Held(value) if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Held) else value
