"""The rules of operators that read and write where other tensors say.

In: the lowering, the operator, its parameters by name.  Out: a value: a read at places stays lazy
and fuses with what reads it; what is written at places has a buffer.
Invariant: the tensor that is read or written lies in memory. A write begins with a copy, a version
of the storage that nobody else sees, and goes on in the next version. Every index is looked at, as
in eager mode: where a loop would not, the eager operator is called.
Inductor has the same two kinds, indirect loads and Scatter.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..graph import TensorMeta
from ..ops import OPS, Op
from ..ops.broadcast import broadcast_shapes
from ..ops.reductions import wrap_dim
from ..shapes import surely_equal
from . import realize
from .indirect import Checked, Gathered, Place, Places
from .ir import Expr, Loops, ops
from .lowering_pointwise import POINTWISE, NoLoops
from .values import Leaf, Value, expanded, full_index, meta_of

if TYPE_CHECKING:
    from .lowering import Lowering

READ_AT_PLACES = {"gather", "index_select", "_index"}  # by them, `input` is


# ---- reads ---------------------------------------------------------------------------------------


def _gather(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta, index = meta_of(op, params), params["index"]
    source = _addressed(lowering, params["input"], meta)
    axis = wrap_dim(params["dim"], source.meta.ndim)
    return _gathered(lowering, meta, _places(lowering, source, meta, {axis: index}))


def _index_select(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta = meta_of(op, params)
    source = _addressed(lowering, params["input"], meta)
    axis = wrap_dim(params["dim"], source.meta.ndim)
    index = _along(params["index"], axis, meta.shape)
    return _gathered(lowering, meta, _places(lowering, source, meta, {axis: index}))


def _index(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta = meta_of(op, params)
    source = _addressed(lowering, params["input"], meta)
    return _gathered(lowering, meta, _by_axis(lowering, source, meta, params["indices"]))


def _gathered(lowering: Lowering, meta: TensorMeta, where: Places) -> Value:
    values = tuple(p.value for p in where.places)
    return Gathered(meta, values, _nothing, lowering.node, where)


def _nothing(*values: Any) -> None:
    """A gathered value is computed by its places."""


def _addressed(lowering: Lowering, value: Value, result: TensorMeta) -> Leaf:
    """The tensor that is read, in memory."""
    _check_indexable(value.meta, result)
    return lowering.stored(value, realize.AT_PLACES)


def _check_indexable(meta: TensorMeta, result: TensorMeta) -> None:
    if not meta.shape:
        raise NoLoops("a tensor of no axes has no places")
    if any(surely_equal((n,), (0,)) for n in (*meta.shape, *result.shape)):
        raise NoLoops("a loop of no turns would not look at the indices")


# ---- where ---------------------------------------------------------------------------------------


def _places(
    lowering: Lowering, target: Leaf, over: TensorMeta, indices: dict[int, Value],
    wraps: bool = False, follows: Sequence[int] | None = None,
) -> Places:
    """Where in `target` the elements of `over` lie: along the axes of `indices` where those say.

    The target's other axes follow the axes `follows` of `over`, by default those of the same
    number.
    """
    stride = [0] * over.ndim
    for axis, step in enumerate(target.meta.stride):
        if axis not in indices:
            stride[axis if follows is None else follows[axis]] = step
    linear = Leaf(TensorMeta(over.shape, tuple(stride), target.meta.dtype), target.buffer,
                  target.offset)
    places = tuple(
        Place(expanded(index, over.shape), Expr.of(target.meta.shape[axis]),
              Expr.of(target.meta.stride[axis]), wraps)
        for axis, index in indices.items()
    )
    lowering.inline_all([p.value for p in places], over)
    return Places(linear, places, lowering.place_names)


def _along(index: Value, axis: int, shape: Sequence[int]) -> Value:
    """A vector of indices, laid along one axis of several."""
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    return index.over(OPS["view"], {"shape": tuple(sizes)}, {})


def _by_axis(
    lowering: Lowering, target: Leaf, over: TensorMeta, indices: Sequence[Value | None]
) -> Places:
    """Places for an index for each axis: their common shape stands where they do, in front if
    other axes lie between."""
    at = {axis: index for axis, index in enumerate(indices) if index is not None}
    shape = broadcast_shapes(*[index.meta.shape for index in at.values()])
    axes = list(at)
    together = axes == list(range(axes[0], axes[-1] + 1))
    start = axes[0] if together else 0
    rest = [axis for axis in range(target.meta.ndim) if axis not in at]
    follows = [0] * target.meta.ndim
    for k, axis in enumerate(rest):
        follows[axis] = k if k < start else k + len(shape)
    trailing = len(rest) - start
    spread = {
        axis: expanded(index, shape).over(
            OPS["view"], {"shape": (*shape, *(1,) * trailing)}, {}
        )
        for axis, index in at.items()
    }
    return _places(lowering, target, over, spread, wraps=True, follows=follows)


# ---- writes --------------------------------------------------------------------------------------


def _scatter(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """`scatter` and `scatter_add`: of a source, the part as large as the index."""
    index, src = params["index"], params["src"]
    over = TensorMeta.contiguous(index.meta.shape, params["input"].meta.dtype)
    if isinstance(src, Value):
        if not src.meta.ndim == index.meta.ndim == params["input"].meta.ndim:
            raise NoLoops("a tensor of no axes has no places")
        for axis, size in enumerate(over.shape):
            if not surely_equal((src.meta.shape[axis],), (size,)):
                src = lowering.part(src, axis, 0, size)
    axis = wrap_dim(params["dim"], max(params["input"].meta.ndim, 1))
    kind = "scatter" if op.name == "scatter" else "scatter_add"
    return _written(lowering, op, params, over, src, kind,
                    lambda target: _places(lowering, target, over, {axis: index}))


def _index_add(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    source, alpha = params["source"], params["alpha"]
    axis = wrap_dim(params["dim"], max(params["input"].meta.ndim, 1))
    over = source.meta
    _check_indexable(params["input"].meta, over)
    if alpha != 1:
        source = lowering.pointwise(
            OPS["mul"], POINTWISE["mul"], {"input": source, "other": alpha}
        )
    index = _along(params["index"], axis, over.shape)
    return _written(lowering, op, params, over, source, "scatter_add",
                    lambda target: _places(lowering, target, over, {axis: index}))


def _index_put(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    indices = params["indices"]
    over = OPS["_index"].meta(
        params["input"].meta, tuple(i if i is None else i.meta for i in indices)
    )
    src = expanded(params["src"], over.shape)
    kind = "scatter_add" if params["accumulate"] else "scatter"
    return _written(lowering, op, params, over, src, kind,
                    lambda target: _by_axis(lowering, target, over, indices))


def _written(
    lowering: Lowering, op: Op, params: dict[str, Any], over: TensorMeta, src: Any, kind: str,
    find: Any,
) -> Value:
    """A copy of the input into which `src` is written, element by element in order."""
    meta = meta_of(op, params)
    _check_indexable(meta, over)
    source = lowering.typed(src, over)
    out, begun = lowering.begin(params["input"], meta)
    where = find(Leaf(meta, out))
    axes = [k for k, n in enumerate(over.shape) if not surely_equal((n,), (1,))]
    lowering.program.steps.append(
        Loops(
            out,
            tuple(Expr.of(over.shape[k]) for k in axes),
            tuple(range(len(axes))),
            kind,
            lambda idx: source.run(full_index(idx, axes, over.ndim)),
            lambda idx: where.at(full_index(idx, axes, over.ndim)),
            origin=realize.origins(source, lowering.node),
            title=lowering.node.name,
            why=realize.WRITTEN,
            into=begun,
        )
    )
    return Leaf(meta, out)


# ---- what only must exist ------------------------------------------------------------------------


def _classes(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """The classes themselves, each looked at; `ignore_index` passes."""
    value, count = params["input"], params["count"]
    meta = meta_of(op, params)
    _check_indexable(TensorMeta.contiguous((1, *meta.shape), meta.dtype), meta)
    ignored = params.get("ignore_index")
    index = value
    if ignored is not None:
        index = lowering.computed(
            meta, [value], lambda v: _unless(v, ignored, meta.dtype)
        )
    lowering.inline_all([value], meta)
    return Checked(meta, (value, index), _nothing, lowering.node, Expr.of(count),
                   lowering.place_names)


def _unless(value: Any, ignored: int, type_: Any) -> Any:
    """0 in place of what is to be ignored."""
    return ops.where(ops.eq(value, ops.constant(ignored, type_)), ops.constant(0, type_), value)


RULES = {
    "gather": _gather, "index_select": _index_select, "_index": _index,
    "scatter": _scatter, "scatter_add": _scatter, "index_add": _index_add,
    "_index_put": _index_put, "_classes": _classes, "_one_hot_classes": _classes,
}
