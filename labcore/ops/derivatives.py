"""How gradients go backwards through each operator: one rule for each differentiable parameter.

In: the gradient of an operator's result.  Out: the gradients of its parameters, in their shapes and
types.
Invariant: a rule calls operators only, so the same rule runs eagerly for the tape and under a
tracer for the joint graph; a rule reads exactly what its parameters name, so that is what has to be
kept until the backward:

    grad            the gradient of the result
    <parameter>     the value of the operator's parameter of that name (a tensor is saved for this)
    out             the value of the result (saved as well)
    <parameter>_meta, out_meta      shape, strides, type (nothing is saved); None for a number

A rule may ignore broadcasting and types: `gradients` sums over repeated axes and casts back. At
kinks the convention is PyTorch's.
PyTorch keeps these rules in derivatives.yaml and generates C++ from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..dtypes import float32
from ..graph import TensorMeta, same_shape
from .op import OPS, Op, parameter_names

# Whose derivatives are one step, or none: of halves, too, they are computed as they stand.
ONE_STEP = frozenset(
    "add sub mul neg relu exp abs where clone copy _to_copy _with_history clamp".split()
)


@dataclass(frozen=True)
class Rule:
    """A formula, and the names of what it reads besides `grad`. `steps`: it has several steps,
    which of halves are taken in float32, as PyTorch's kernels of backwards do."""

    formula: Callable[..., Any]
    reads: tuple[str, ...]
    steps: bool = False


def derivative(name: str, **rules: Callable[..., Any]) -> None:
    """Give the operator `name` a rule for each named parameter, or raise ValueError."""
    op = OPS[name]
    known = {
        "grad",
        "out",
        "out_meta",
        *op.parameters,
        *(f"{p}_meta" for p in op.parameters),
    }
    for param, formula in rules.items():
        named = parameter_names(formula)
        unknown = {param, *named} - known
        if unknown:
            raise ValueError(f"derivative of {name}: no parameter {sorted(unknown)}")
        steps = op.kind in ("pointwise", "composite", "reduction") and name not in ONE_STEP
        op.derivatives[param] = Rule(formula, tuple(p for p in named if p != "grad"), steps)


def saves(op: Op, wanted: Iterable[str]) -> tuple[str, ...]:
    """The parameters (and "out") whose values the rules for `wanted` read: what a tape keeps."""
    found: dict[str, None] = {}
    for param in wanted:
        found.update(
            (name, None) for name in op.derivatives[param].reads if not name.endswith("_meta")
        )
    return tuple(found)


def gradients(
    op: Op, bound: dict[str, Any], out: Any, grad: Any, wanted: Iterable[str]
) -> dict[str, Any]:
    """The gradient of each parameter in `wanted`; a list of gradients for a list of tensors.

    bound: the call's arguments by parameter (`op.bind`), defaults included. A tensor that `saves`
    does not name may be replaced by its TensorMeta, and so may `out`.
    """
    values = {**bound, "out": out}
    return {param: apply(op.derivatives[param], values, grad, bound[param]) for param in wanted}


def apply(rule: Rule, values: dict[str, Any], grad: Any, operand: Any) -> Any:
    """One rule, then the sum over broadcast axes and the cast to the operand's type."""
    read = {
        name: meta_of(values[name[:-5]]) if name.endswith("_meta") else values[name]
        for name in rule.reads
    }
    if rule.steps:
        grad, read = widened(grad), {name: widened(value) for name, value in read.items()}
    found = rule.formula(grad, **read)
    if isinstance(operand, (list, tuple)):
        return [fit(g, meta_of(o)) for g, o in zip(found, operand)]
    return fit(found, meta_of(operand))


def widened(value: Any) -> Any:
    """A tensor of halves in float32; everything else as it is."""
    meta = getattr(value, "meta", None)
    if not isinstance(meta, TensorMeta) or not meta.dtype.is_half:
        return value
    return OPS["_to_copy"](value, float32)


def meta_of(value: Any) -> Any:
    """What is known of a tensor or a node; a TensorMeta is its own; None for a number."""
    if isinstance(value, (list, tuple)):
        return [meta_of(v) for v in value]
    return value if isinstance(value, TensorMeta) else getattr(value, "meta", None)


def fit(grad: Any, like: TensorMeta) -> Any:
    """`grad` summed to `like`'s shape and cast to its type: broadcasting backwards."""
    have = meta_of(grad)
    if not same_shape(have.shape, like.shape):
        grad = _sum_to(grad, have.shape, like.shape)
    if have.dtype is not like.dtype:
        grad = OPS["_to_copy"](grad, like.dtype)
    return grad


def _sum_to(grad: Any, shape: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    extra = len(shape) - len(wanted)
    axes = [a for a in range(len(shape)) if a < extra or (wanted[a - extra] == 1 and shape[a] != 1)]
    if axes:
        grad = OPS["sum"](grad, tuple(axes), True)
    return OPS["view"](grad, wanted) if extra else grad
