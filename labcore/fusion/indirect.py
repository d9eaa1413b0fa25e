"""Values that are read where other values say, and the places they are written to.

In: memory, and for some of its axes an index that is a value.  Out: `Gathered`, which a body reads;
`Places`, whose offsets scattering loops write at; `Checked`, a value that must be an index.
Invariant: a body names each such index by `ops.place` before it uses it, and all of them are looked
at: a view that leaves elements out is taken of memory, so a wrong index raises as in eager mode.
One value at one index of the loops has one name in all bodies, so equal places compare equal.
Inductor has `indirect_indexing` for it, and assertions that stop the process.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..graph import TensorMeta
from ..ops import Op
from .ir import Expr, ops
from .values import Computed, Leaf, Unlinear, Value

KEEP_ALL = {"view", "permute", "transpose", "expand", "unsqueeze", "squeeze", "_flipped"}


class PlaceNames:
    """The symbols of one program's places: j0, j1, ..."""

    def __init__(self) -> None:
        self.known: dict[Any, str] = {}

    def of(self, value: Value, idx: Sequence[Expr]) -> str:
        """The name of a value at an index: of memory, by where it is read."""
        key: Any = (value, tuple(idx))
        if isinstance(value, Leaf):
            key = (value.buffer, value.at(idx))
        return self.known.setdefault(key, f"j{len(self.known)}")


@dataclass(frozen=True)
class Place:
    """An index along an axis of that size and stride; negative ones count from its end if they may
    (`wraps`)."""

    value: Value
    size: Expr
    stride: Expr
    wraps: bool = False

    def at(self, idx: Sequence[Expr], names: PlaceNames) -> Expr:
        found, type_ = self.value.run(idx), self.value.meta.dtype
        if self.wraps:
            below = ops.lt(found, ops.constant(0, type_))
            found = ops.where(below, ops.add(found, ops.index(self.size, type_)), found)
        return ops.place(names.of(self.value, idx), found, self.size)


@dataclass(frozen=True)
class Places:
    """Offsets into memory: a linear part, and the places."""

    linear: Leaf
    places: tuple[Place, ...]
    names: PlaceNames

    def at(self, idx: Sequence[Expr]) -> Expr:
        steps = (p.at(idx, self.names) * p.stride for p in self.places)
        return sum(steps, self.linear.at(idx))

    def over(self, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Places:
        if op.name not in KEEP_ALL:
            raise Unlinear
        linear = self.linear.over(op, params, done)
        assert isinstance(linear, Leaf)
        moved = tuple(replace(p, value=p.value.over(op, params, done)) for p in self.places)
        return replace(self, linear=linear, places=moved)


@dataclass(eq=False)
class Gathered(Computed):
    """Memory read at places; `args` are their values."""

    where: Places = None  # type: ignore[assignment]

    def compute(self, idx: Sequence[Expr]) -> Any:
        at, buffer = self.where.at(idx), self.where.linear.buffer
        assert buffer is not None
        return ops.load(buffer.name, at)

    def seen(self, meta: TensorMeta, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Any:
        where = self.where.over(op, params, done)
        values = tuple(p.value for p in where.places)
        return Gathered(meta, values, self.fn, self.node, where)


@dataclass(eq=False)
class Checked(Computed):
    """Its first argument; the second is an index that must be below `size`."""

    size: Expr = Expr()
    names: PlaceNames = None  # type: ignore[assignment]

    def compute(self, idx: Sequence[Expr]) -> Any:
        value, index = self.args
        found = value.run(idx)
        ops.place(self.names.of(index, idx), index.run(idx), self.size)
        return found

    def seen(self, meta: TensorMeta, op: Op, params: dict[str, Any], done: dict[int, Value]) -> Any:
        if op.name not in KEEP_ALL:
            raise Unlinear
        value, index = (a.over(op, params, done) for a in self.args)
        return Checked(meta, (value, index), self.fn, self.node, self.size, self.names)
