"""The rules of operators that write a tensor part by part, or read one backwards.

In: the lowering, the operator, its parameters by name.  Out: a value: memory that several loops
have written, each a part; what they write is computed in them.
Invariant: the loops are versions of one storage, the last of which is the operator's result. Parts
that do not overlap say so (`joins`), and may share a nest.
Inductor's ConcatKernel; where few tensors are joined it reads them through masks instead, which
also fuses with what reads the result.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..graph import TensorMeta
from ..ops import OPS, Op
from ..ops.reductions import reduced_axes, wrap_dim
from ..shapes import INTS, surely_equal
from . import realize
from .ir import Buffer, Loops, exprs
from .lowering_pointwise import NoLoops
from .values import FLIP, Leaf, Value, full_index, meta_of

if TYPE_CHECKING:
    from .lowering import Lowering

Part = tuple[Value, Leaf]  # what is written, and where


def _cat(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta = meta_of(op, params)
    pieces = [v for v in params["tensors"] if not _is_empty(v.meta)]
    if not pieces:
        raise NoLoops("there is nothing to join")
    axis, start = wrap_dim(params["dim"], meta.ndim), 0
    target, parts = _target(lowering, meta), list[Part]()
    for piece in pieces:
        end = start + piece.meta.shape[axis]
        parts.append((piece, _slice(target, axis, start, end)))
        start = end
    return _join(lowering, target, parts)


def _stack(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta = meta_of(op, params)
    axis, target = wrap_dim(params["dim"], meta.ndim), _target(lowering, meta)
    parts = [
        (piece, _view(target, "select", dim=axis, index=k))
        for k, piece in enumerate(params["tensors"])
    ]
    return _join(lowering, target, parts)


def _is_empty(meta: TensorMeta) -> bool:
    return any(surely_equal((n,), (0,)) for n in meta.shape)


def _target(lowering: Lowering, meta: TensorMeta) -> Leaf:
    return Leaf(meta, lowering.buffer(lowering.node.name, meta, lowering.role))


def _join(lowering: Lowering, target: Leaf, parts: Sequence[Part]) -> Leaf:
    """Each part by loops of its own; together they are all of the target."""
    out, into = target.buffer, None
    assert out is not None
    for number, (value, part) in enumerate(parts, 1):
        version = out
        if number < len(parts):
            name = f"{out.name}_part{number}"
            version = lowering.buffer(name, target.meta, "temp", storage=out.name)
        _write(lowering, value, part, version, into, out.name)
        into = version
    return target


def _write(
    lowering: Lowering, value: Value, part: Leaf, out: Buffer, into: Buffer | None, joins: str = ""
) -> None:
    source = lowering.typed(value, part.meta)
    lowering.program.steps.append(realize.pointwise_loops(
        source, out, part, origin=realize.origins(source, lowering.node), title=out.name,
        why=realize.WRITTEN, into=into, joins=joins))


def _fold_windows(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """Each window added to where a view of windows shows it."""
    meta, value = meta_of(op, params), params.pop("input")
    out, begun = lowering.begin(lowering.typed(0, meta), meta)
    seen = _view(Leaf(meta, out), "unfold", dimension=params["dimension"],
                 size=value.meta.shape[-1], step=params["step"], dilation=params["dilation"])
    part = Leaf(TensorMeta(value.meta.shape, seen.meta.stride, meta.dtype), out)
    ndim = value.meta.ndim
    axes = [k for k in (ndim - 1, *range(ndim - 1)) if value.meta.shape[k] != 1]
    lowering.program.steps.append(
        Loops(
            out,
            exprs([value.meta.shape[k] for k in axes]),
            tuple(range(len(axes))),
            "scatter_add",
            lambda idx: value.run(full_index(idx, axes, ndim)),
            lambda idx: part.at(full_index(idx, axes, ndim)),
            origin=realize.origins(value, lowering.node),
            title=out.name,
            why=realize.WRITTEN,
            into=begun,
        )
    )
    return Leaf(meta, out)


def _view(leaf: Leaf, name: str, **params: Any) -> Leaf:
    found = leaf.over(OPS[name], params, {})
    assert isinstance(found, Leaf)
    return found


def _slice(leaf: Leaf, axis: int, start: Any, end: Any, step: int = 1) -> Leaf:
    return _view(leaf, "slice", dim=axis, start=start, end=end, step=step)


# ---- a part of a copy ----------------------------------------------------------------------------


def _scatter_into(view: str) -> Any:
    """`slice_scatter` and `select_scatter`: a copy, and `src` written through a view of it."""

    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
        meta = meta_of(op, params)
        value, src = params.pop("input"), params.pop("src")
        out, begun = lowering.begin(value, meta)
        _write(lowering, src, _view(Leaf(meta, out), view, **params), out, begun)
        return Leaf(meta, out)

    return lower


def _pad(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    """The value everywhere, then the input in the middle; a negative pad cuts off."""
    meta, pad = meta_of(op, params), params["pad"]
    source = params["input"]
    around, inside = False, [(0, n) for n in meta.shape]
    for place in range(len(pad) // 2):
        axis, before, after = meta.ndim - 1 - place, pad[2 * place], pad[2 * place + 1]
        if before < 0 or after < 0:
            end = source.meta.shape[axis] - max(-after, 0)
            source = lowering.part(source, axis, max(-before, 0), end)
        around |= before > 0 or after > 0
        inside[axis] = max(before, 0), meta.shape[axis] - max(after, 0)
    if not around:
        return lowering.typed(source, meta)
    if _is_empty(source.meta):
        return lowering.typed(params["value"], meta)
    out, begun = lowering.begin(lowering.typed(params["value"], meta), meta)
    part = Leaf(meta, out)
    for axis, (start, end) in enumerate(inside):
        part = _slice(part, axis, start, end)
    _write(lowering, source, part, out, begun)
    return Leaf(meta, out)


# ---- backwards -----------------------------------------------------------------------------------


def _flip(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    meta = meta_of(op, params)
    dims: Any = params["dims"]
    if not meta.ndim or not isinstance(dims, INTS) and not dims:
        return lowering.typed(params["input"], meta)
    axes = reduced_axes(params["dims"], meta.ndim)
    turned = params["input"].over(FLIP, {"axes": axes}, {})
    return lowering.computed(meta, [turned], lambda value: value)


RULES = {
    "cat": _cat, "stack": _stack, "_pad": _pad, "flip": _flip, "_fold_windows": _fold_windows,
    "select_scatter": _scatter_into("select"), "slice_scatter": _scatter_into("slice"),
}
