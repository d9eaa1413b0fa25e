"""Operators of your own: a name, and what it means.

In: a Python function of tensors, or the parts of an element by element operator.  Out: an operator
like the lab's own: eager, in graphs, differentiated, and as loops that fuse with their neighbours.

    operator      from one function over other operators, which gives all of that
    derivative    rules of its own, where those of its parts are not what is wanted
    pointwise     from a numpy function and the loop body of one element

Invariant: such an operator stands in the table (`torch.ops.name`) and passes through the same
stages; defined anew, as a notebook's cell does that is run again, it takes the old one's place.
PyTorch: `torch.library.custom_op` makes an operator that the compiler does not look into; one that
it looks into is a function, and a new primitive is C++.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from . import devices, dtypes
from .fusion.ir import ops as primitives
from .fusion.lowering_pointwise import rule
from .graph import TensorMeta
from .ops import OPS, Op, dispatch
from .ops.derivatives import derivative as _rules, meta_of
from .ops.elementwise import binary, unary
from .ops.parts import composite
from .ops.pointwise import FLOATING, SAME, TRUTH
from .tensor import Tensor
from .tensor.methods import Methods
from .tensor.size import Size

__all__ = ["derivative", "operator", "pointwise", "primitives"]

TYPES = {"float": FLOATING, "same": SAME, "bool": TRUTH}
_own: set[str] = set()


def operator(function: Callable[..., Any]) -> Op:
    """Decorator: the operator that computes what the function does, under the function's name.

        @library.operator
        def squareplus(x, b=4.0):
            return (x + torch.sqrt(x * x + b)) / 2

    The function returns one tensor and asks its tensors for shapes and types only, never for
    values. Its gradient is that of its parts. Raises ValueError for the name of an operator of the
    lab's own.
    """
    _free(function.__name__)
    return composite("")(_opened(function))


def derivative(op: Op, **rules: Callable[..., Any]) -> Op:
    """Give the operator a rule for each named parameter; it is then differentiated as one.

        library.derivative(squareplus, x=lambda grad, x, b: ...)

    A rule gets `grad`, and by name what it reads: parameters, `out` (the result), `x_meta` (shape
    and type, for which nothing is kept). Raises ValueError for another name.
    """
    _rules(op.name, **{name: _opened(rule) for name, rule in rules.items()})
    op.compose, op.decompose = None, op.compose or op.decompose
    return op


def pointwise(
    name: str,
    kernel: Callable[..., np.ndarray],
    loop: Callable[..., Any],
    types: str = "float",
    **rules: Callable[..., Any],
) -> Op:
    """The operator that computes each element of the result from one of each operand.

        one = library.primitives
        library.pointwise("distance", lambda a, b: np.abs(a - b),
                          lambda a, b: one.abs(one.sub(a, b)), "same",
                          input=lambda grad, input, other: grad * (input - other).sign(),
                          other=lambda grad, input, other: grad * (other - input).sign())

    kernel: numpy arrays of one type to an array; one operand, `input`, or two, `input` and `other`.
    loop: the same for the values of one element, by `primitives`; with one parameter more, the
    first is the type that is computed in, which constants must have: `one.constant(1, dtype)`.
    types: "float" (integers become floats), "same", or "bool" (what it answers).
    rules: derivatives, as for `derivative`. Raises ValueError for a name of the lab's own.
    """
    _free(name)
    count = len(signature(kernel).parameters)
    operands = ("input", "other")[:count]
    typed = len(signature(loop).parameters) > count

    def compute(*arrays: Any, out: Any = None) -> Any:
        found = kernel(*arrays)
        if out is None:
            return found
        out[...] = found
        return out

    made = (unary if count == 1 else binary)(name, compute, TYPES[types], frozenset())
    common = TYPES[types].common
    rule(name, " ".join(operands), loop if typed else lambda dtype, *args: loop(*args), common)
    _rules(name, **{parameter: _opened(found) for parameter, found in rules.items()})
    return made


def _free(name: str) -> None:
    """Make room for an operator of this name."""
    if name in OPS and name not in _own:
        raise ValueError(f"the lab has an operator {name} already: choose another name")
    OPS.pop(name, None)
    _own.add(name)


# ---- functions of operators, written as functions of tensors -------------------------------------


class Operand(Methods):
    """What a tensor is to the stage that runs (a tensor, an array, a node, a lazy value), with a
    tensor's methods."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def meta(self) -> TensorMeta:
        found: TensorMeta = meta_of(self.value)
        return found

    @property
    def shape(self) -> Size:
        return Size(self.meta.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        return self.meta.dtype

    @property
    def device(self) -> devices.device:
        return self.meta.device

    ndim, dim, size = Tensor.ndim, Tensor.dim, Tensor.size
    is_floating_point = Tensor.is_floating_point

    def numel(self) -> int:
        return self.meta.numel

    def __bool__(self) -> bool:
        raise TypeError("an operator's function sees shapes and types, no values: use torch.where")


class _Opening:
    """Operators called on operands: on what those stand for, by the interpreter of the stage."""

    def __init__(self, stage: Any) -> None:
        self.stage = stage

    def call(self, op: Op, args: tuple, kwargs: dict[str, Any]) -> Any:
        given = _mapped(args, _value)
        named = {name: _mapped(value, _value) for name, value in kwargs.items()}
        with dispatch.interpreting(self.stage):
            return _mapped(op(*given, **named), _operand)


def _opened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called by a stage: with operands in place of that stage's tensors."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        stage = dispatch.current()
        given = _mapped(args, _operand)
        named = {name: _mapped(value, _operand) for name, value in kwargs.items()}
        with dispatch.interpreting(_Opening(stage)):
            return _mapped(function(*given, **named), _value)

    return called


def _operand(value: Any) -> Any:
    return Operand(value) if meta_of(value) is not None else value


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Operand) else value


def _mapped(value: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(v, convert) for v in value])
    return convert(value)
