"""The rules of reductions and factories, and the reasons of operators without loops.

In: the lowering, the operator, its parameters by name.  Out: a value.
Invariant: a reduction is stored at once; what makes a tensor from nothing is a lazy constant that
costs no memory.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..graph import TensorMeta
from ..ops import OPS, Op
from ..ops.reductions import reduced_axes, wrap_dim
from ..shapes import INTS, number_like
from . import realize
from .halves import converted
from .ir import Buffer, ops
from .lowering_pointwise import EXACT_POWERS, POINTWISE, NoLoops, Rule
from .primitives import identity
from .values import FLIP, Computed, Leaf, Unlinear, Value, expanded, meta_of, through

if TYPE_CHECKING:
    from .lowering import Lowering

RULES: dict[str, Callable[[Lowering, Op, dict[str, Any]], Value]] = {}

NO_RULE = "it has no lowering to loops"
BY_KIND = {"matmul": "a matrix product is left to BLAS, which no printed loop reaches",
           "random": "random numbers come from the eager generator, in the order of the program"}
WITHOUT_LOOPS = {
    "logcumsumexp": "a running logarithm of a sum is no scan that loops have",
    "_product_of_others": "it runs forwards and backwards along its axis",
    "_cumprod_backward": "each element needs all that follow it",
    "argsort": "an order is no single loop",
    "_argtopk": "an order is no single loop",
}


# ---- reductions ----------------------------------------------------------------------------------


def _folded(kind: str) -> Callable[[Lowering, Op, dict[str, Any]], Value]:
    return lambda lowering, op, params: reduce(
        lowering, kind, params, meta_of(op, params), lowering.node.name
    )


def _mean(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """The sum, divided by how many there were; the division is lazy."""
    meta = meta_of(op, params)
    value = params["input"]
    axes = reduced_axes(params["dim"], value.meta.ndim)
    count = 1
    for axis in axes:
        count *= value.meta.shape[axis]
    total = reduce(lowering, "sum", params, meta, f"{lowering.node.name}_sum")
    return lowering.computed(meta, [total], lambda s: ops.div(s, ops.constant(count, meta.dtype)))


def _truth(kind: str) -> Callable[[Lowering, Op, dict[str, Any]], Value]:
    """`any` is the largest of bools; over no axis at all it only converts."""

    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
        if params["dim"] is not None and not isinstance(params["dim"], INTS) and not params["dim"]:
            raise NoLoops("over no axis it is a conversion")
        return _folded(kind)(lowering, op, params)

    return lower


def _place_of(kind: str) -> Callable[[Lowering, Op, dict[str, Any]], Value]:
    """`argmax`: the smallest place at which the largest value stands; of nans the first wins."""

    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
        meta, name = meta_of(op, params), lowering.node.name
        value = lowering.kept_if_dear(params["input"])
        shape, type_ = value.meta.shape, value.meta.dtype
        axes = reduced_axes(params["dim"], value.meta.ndim)
        ones = [1 if axis in axes else n for axis, n in enumerate(shape)]
        best = reduce(lowering, kind, {**params, "input": value, "keepdim": True},
                      TensorMeta.contiguous(ones, type_), f"{name}_value")
        counted = TensorMeta.contiguous([n if k in axes else 1 for k, n in enumerate(shape)], type_)
        step = [s if k in axes else 0 for k, s in enumerate(counted.stride)]
        short = bool(counted.numel < 2**31)  # vectors hold twice as many; a guard, of a symbol
        index_type = dtypes.int32 if short else dtypes.int64
        place = Leaf(TensorMeta(shape, tuple(step), index_type), None)
        # No place. Where the length is a symbol, another number: LLVM would choose between two of
        # 64 bits and cut the result, which took 1.7 times as long. (Between a place and what `amin`
        # begins with it takes one at a time.)
        known = isinstance(counted.numel, int)
        nowhere = counted.numel if known else identity("amin", index_type) - 1

        def body(v: Any, best: Any, place: Any) -> Any:
            hit = ops.eq(v, best)
            if type_.is_floating_point:
                hit = ops.bitwise_or(hit, ops.ne(v, v))
            return ops.where(hit, place, ops.constant(nowhere, index_type))

        places = lowering.computed(TensorMeta(shape, value.meta.stride, index_type),
                                   [value, expanded(best, shape), place], body)
        if not short:
            return reduce(lowering, "amin", {**params, "input": places}, meta, name)
        found = reduce(lowering, "amin", {**params, "input": places},
                       replace(meta, dtype=index_type), f"{name}_place")
        return lowering.computed(meta, [found], lambda at: ops.to_dtype(at, dtypes.int64))

    return lower


for _kind in ("sum", "prod", "amax", "amin"):
    RULES[_kind] = _folded(_kind)
RULES.update(mean=_mean, any=_truth("amax"), all=_truth("amin"))
RULES.update(argmax=_place_of("amax"), argmin=_place_of("amin"))


def reduce(
    lowering: Lowering, kind: str, params: dict[str, Any], meta: TensorMeta, name: str
) -> Leaf:
    """Store `params["input"]` folded over its axes, computed in the result's type."""
    value, node = params["input"], lowering.node
    axes = reduced_axes(params["dim"], value.meta.ndim)
    cast = value.meta.dtype is not meta.dtype
    source = lowering.computed(
        TensorMeta(value.meta.shape, value.meta.stride, meta.dtype), [value],
        lambda v: ops.to_dtype(v, meta.dtype) if cast else v)
    is_output = node in lowering.outputs and name == node.name
    out = lowering.buffer(name, meta, "output" if is_output else "temp")
    is_output = out.role == "output"
    loops = realize.reduction_loops(
        source,
        axes,
        kind,
        out,
        bool(params["keepdim"]),
        origin=realize.origins(source, node),
        title=out.name,
        why=realize.OUTPUT if is_output else realize.REDUCED,
    )
    lowering.add(loops, value)
    return Leaf(meta, out)


# ---- scans ---------------------------------------------------------------------------------------


def _scan(kind: str, backwards: bool = False) -> Callable[[Lowering, Op, dict[str, Any]], Value]:
    """A running fold; backwards, input and result are seen through a flip."""

    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
        meta = meta_of(op, params)
        if meta.dtype is dtypes.bool:
            raise NoLoops("on bools it is logic")
        axis = wrap_dim(params["dim"], meta.ndim)
        source: Value = lowering.typed(params["input"], meta)
        out = lowering.buffer(lowering.node.name, meta, lowering.role)
        target: Value = Leaf(meta, out)
        if backwards:
            source, target = (v.over(FLIP, {"axes": (axis,)}, {}) for v in (source, target))
        assert isinstance(target, Leaf)
        lowering.program.steps.append(realize.scan_loops(
            source, axis, kind, out, target, origin=realize.origins(source, lowering.node),
            title=out.name, why=realize.SCANNED))
        return Leaf(meta, out)

    return lower


RULES.update(cumsum=_scan("cumsum"), cumprod=_scan("cumprod"))
RULES["_cumsum_back"] = _scan("cumsum", backwards=True)


# ---- copies --------------------------------------------------------------------------------------


def _reshape_copy(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """The elements in order, in other sizes: computed there, or written in the input's sizes where
    reading in the new ones would need division."""
    source, meta = params["input"], meta_of(op, params)
    copied = lowering.typed(source, TensorMeta.contiguous(source.meta.shape, source.meta.dtype))
    try:
        return through(OPS["view"], copied, {"shape": meta.shape})
    except Unlinear:
        out = lowering.buffer(lowering.node.name, meta, lowering.role)
    before = Buffer.new(out.name, copied.meta.shape, out.dtype, out.role)
    loops = realize.pointwise_loops(
        copied,
        before,
        origin=realize.origins(copied, lowering.node),
        title=out.name,
        why=realize.RESHAPED,
    )
    lowering.add(replace(loops, out=out), copied)
    return Leaf(meta, out)


RULES["_reshape_copy"] = _reshape_copy

# ---- powers --------------------------------------------------------------------------------------


def _pow(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """Some exponents are products and roots in eager mode, and so here."""
    dtype, exponent = meta_of(op, params).dtype, params["exponent"]
    exact = None
    if number_like(exponent) and not isinstance(exponent, bool):
        exact = next((body for power, body in EXACT_POWERS.items() if exponent == power), None)
    if exact is None or not dtype.is_floating_point:
        return lowering.pointwise(op, POINTWISE["pow"], params)
    rule = Rule(("input",), lambda dtype, a, exponent: exact(dtype, a), lambda _: dtype)
    return lowering.pointwise(op, rule, params)


RULES["pow"] = _pow


# ---- factories -----------------------------------------------------------------------------------


def _filled(number: Any) -> Callable[[Lowering, Op, dict[str, Any]], Value]:
    """A constant; `number` takes the parameters, or is the number."""
    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Computed:
        meta = meta_of(op, params)
        value = params["fill_value"] if number is None else number
        return lowering.computed(meta, [], lambda: ops.constant(value, meta.dtype))
    return lower


for _name, _number in (("full", None), ("zeros", 0), ("ones", 1)):
    RULES[_name] = RULES[f"{_name}_like"] = _filled(_number)


def _arange(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """start + step * i, computed in the widest type of its kind."""
    meta = meta_of(op, params)
    start, end, step = params["start"], params["end"], params["step"]
    first = 0 if end is None else start  # arange(end)
    wide = dtypes.float64 if meta.dtype.is_floating_point else dtypes.int64
    counting = Leaf(TensorMeta.contiguous(meta.shape, dtypes.int64), None)

    def body(i: Any) -> Any:
        value = ops.to_dtype(i, wide) if wide is not dtypes.int64 else i
        if step != 1:
            value = ops.mul(value, ops.constant(step, wide))
        if first != 0:
            value = ops.add(ops.constant(first, wide), value)
        return converted(value, wide, meta.dtype)

    return lowering.computed(meta, [counting], body)


RULES["arange"] = _arange
