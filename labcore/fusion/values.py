"""Lazy values: what a graph node is before anything decides to store it.

In: inputs, operators' bodies, view operators.  Out: `Leaf` (memory at an offset linear in the
indices) and `Computed` (a Python function of other values), both run at an index by `run`.
Invariant: all arguments of a Computed have its own shape, so one index serves the whole expression;
a view is therefore never a step: it is the same expression over leaves that are read at other
offsets.
Inductor wraps index functions in index functions (ExpandView, PermuteView, SliceView ...); moving
the view to the leaves comes to the same and keeps offsets linear by construction.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..graph import Node as GraphNode, TensorMeta
from ..ops import OPS, Op
from ..ops.views import infer_size, view_strides
from ..shapes import surely_equal
from .handlers import Reads
from .ir import Buffer, Expr, exprs, index, ops, using


class Unlinear(Exception):
    """A view that only data in memory can have: its offsets would need division, or it leaves out
    what must be looked at."""


@dataclass(eq=False)
class Value:
    """`meta` is what eager mode would have here: shape, strides, dtype."""

    meta: TensorMeta

    def run(self, idx: Sequence[Expr]) -> Any:
        """The value at an index, under the current handler."""
        raise NotImplementedError

    def over(self, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Value:
        """The same value seen through a view operator. Raises Unlinear; `done` keeps sharing."""
        raise NotImplementedError

    def computed(self) -> Iterator[Computed]:
        """Every Computed below, operands first, each once."""
        return iter(())


@dataclass(eq=False)
class Leaf(Value):
    """An element of a buffer read with the strides of `meta`, or without one, the index."""

    buffer: Buffer | None
    offset: int = 0

    def at(self, idx: Sequence[Expr]) -> Expr:
        steps = (
            i * s for i, s, n in zip(idx, self.meta.stride, self.meta.shape, strict=True) if n != 1
        )
        return sum(steps, Expr.of(self.offset))

    def run(self, idx: Sequence[Expr]) -> Any:
        at = self.at(idx)
        if self.buffer is None:
            return ops.index(at, self.meta.dtype)
        return ops.load(self.buffer.name, at)

    def over(self, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Value:
        if (
            op.name == "view"
            and view_strides(self.meta, infer_size(params["shape"], self.meta.numel)) is None
        ):
            raise Unlinear
        offset = op.offset(self.meta, **params) if op.offset is not None else 0
        return Leaf(op.meta(self.meta, **params), self.buffer, self.offset + offset)

    @property
    def whole(self) -> bool:
        """Is it all of its buffer, as it lies?"""
        if self.buffer is None or Expr.of(self.offset) != Expr():
            return False
        layout = exprs(self.meta.shape), exprs(self.meta.stride)
        return layout == (self.buffer.shape, self.buffer.strides)


@dataclass(eq=False)
class Computed(Value):
    """`fn` of the arguments' values (numbers as they are), computing the graph node `node`."""

    args: tuple[Any, ...]
    fn: Callable[..., Any]
    node: GraphNode

    def run(self, idx: Sequence[Expr]) -> Any:
        if (
            id(self) not in ops.memo
        ):  # one body runs at one index, so a value used twice is the same twice
            with ops.source(self.node):
                ops.memo[id(self)] = self.compute(idx)
        return ops.memo[id(self)]

    def compute(self, idx: Sequence[Expr]) -> Any:
        return self.fn(*[a.run(idx) if isinstance(a, Value) else a for a in self.args])

    def over(self, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Value:
        if id(self) not in done:
            shape = op.meta(TensorMeta.contiguous(self.meta.shape, self.meta.dtype), **params).shape
            meta = TensorMeta.contiguous(shape, self.meta.dtype)
            done[id(self)] = self.seen(meta, op, params, done)
        return done[id(self)]

    def seen(
        self, meta: TensorMeta, op: Op, params: dict[str, Any], done: dict[int, Value]
    ) -> Computed:
        """The same computation of arguments seen through the view."""
        args = tuple(a.over(op, params, done) if isinstance(a, Value) else a for a in self.args)
        return Computed(meta, args, self.fn, self.node)

    def computed(self) -> Iterator[Computed]:
        seen: dict[int, Computed] = {}
        todo: list[tuple[Computed, bool]] = [(self, False)]
        while todo:
            value, ready = todo.pop()
            if ready:
                seen.setdefault(id(value), value)
            elif id(value) not in seen:
                todo.append((value, True))
                todo += [(a, False) for a in value.args if isinstance(a, Computed)]
        return iter(seen.values())


def _flipped(meta: TensorMeta, axes: Sequence[int]) -> TensorMeta:
    stride = tuple(-s if axis in axes else s for axis, s in enumerate(meta.stride))
    return replace(meta, stride=stride)


def _last(meta: TensorMeta, axes: Sequence[int]) -> int:
    return sum((meta.shape[axis] - 1) * meta.stride[axis] for axis in axes)


# A view that only loops have: memory read backwards.
FLIP = Op("_flipped", "view", _flipped, _flipped, offset=_last)


def meta_of(op: Op, params: Mapping[str, Any]) -> TensorMeta:
    """What an operator makes of values."""
    return op.meta(**{k: _metas(v) for k, v in params.items()})


def _metas(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_metas(v) for v in value])
    return value.meta if isinstance(value, Value) else value


def through(op: Op, value: Value, params: dict[str, Any]) -> Value:
    """`value` under a view operator, laid out as eager mode would have it. Raises Unlinear."""
    seen = value.over(op, params, {})
    return seen if isinstance(seen, Leaf) else replace(seen, meta=op.meta(value.meta, **params))


def expanded(value: Value, shape: tuple[int, ...]) -> Value:
    """Broadcast: the same value, read at stride 0 along the axes that repeat."""
    if surely_equal(value.meta.shape, shape):
        return value
    return value.over(OPS["expand"], {"size": shape}, {})


def full_index(idx: Sequence[Expr], axes: Sequence[int], ndim: int) -> list[Expr]:
    """An index for all axes from one for some of them; the others (sizes of 1) are at 0."""
    full = [Expr()] * ndim
    for axis, i in zip(axes, idx, strict=True):
        full[axis] = i
    return full


def probe(value: Value) -> Reads:
    """What running the value once would read and compute."""
    axes = [k for k, n in enumerate(value.meta.shape) if n != 1]
    with using(Reads()) as reads, ops.one_run():
        value.run(full_index([index(k) for k in range(len(axes))], axes, value.meta.ndim))
    return reads
