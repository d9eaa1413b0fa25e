"""Mean and spread of the same values, from one pass over them instead of two.

In: the lowering, at a `mean`, or at a sum of squares of distances from one.  Out: a value that is
computed of two float64 sums, over the distances d of all values from one of them, the pivot:

    mean = pivot + sum(d) / n        sum((x - mean) ** 2) = sum(d * d) - sum(d) ** 2 / n

Invariant: the pivot is one of the values, so the difference loses at most a factor of n + 1 of
float64's precision, mostly two (Chan, Golub and LeVeque, Algorithms for computing the sample
variance, 1983), and float32 is rounded once, at the end. Where the pivot cannot be read before the
loops that sum, there are two passes, as the graph says.
Inductor has Welford's recurrence as a reduction of its own. It divides at every element, and each
turn waits for the one before: a row of 4096 takes 30 times as long, for no vectors can do it.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..graph import Graph, Node as GraphNode, TensorMeta
from ..ops import OPS, Op
from ..ops.sharing import meta_of as meta_of_node
from .ir import ops
from .lowering_rules import reduce
from .matching import FLOATS, Of, bound, calls, folded, folded_alike
from .values import Computed, Leaf, Unlinear, Value, expanded, meta_of, probe

if TYPE_CHECKING:
    from .lowering import Lowering


# ---- in the graph --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """A sum, or mean, of squares: each `square` of a `difference` of values from their `mean`."""

    of: Of
    mean: GraphNode
    difference: GraphNode
    square: GraphNode


def find_spreads(graph: Graph) -> dict[GraphNode, Spread]:
    found = {node: _spread(node) for node in graph.calls if node.target.name in ("sum", "mean")}
    return {node: spread for node, spread in found.items() if spread is not None}


def _spread(node: GraphNode) -> Spread | None:
    square = bound(node)["input"]
    difference = _root(square)
    if not calls(difference, "sub"):
        return None
    values, mean, alpha = (bound(difference)[name] for name in ("input", "other", "alpha"))
    if not calls(mean, "mean") or alpha != 1 or not folded_alike(mean, values, node):
        return None
    types = {meta_of_node(n).dtype for n in (values, mean, square, node)}
    if len(types) > 1 or not types <= FLOATS:
        return None
    return Spread(folded(mean), mean, difference, square)


def _root(square: Any) -> Any:
    """What a node is the square of, or None."""
    if calls(square, "mul"):
        left, right = bound(square)["input"], bound(square)["other"]
        return left if left is right else None
    if calls(square, "square") or calls(square, "pow") and bound(square)["exponent"] == 2:
        return bound(square)["input"]
    return None


# ---- in loops ------------------------------------------------------------------------------------


class Moments:
    """The two sums over some axes of values; each is made when somebody asks for it."""

    def __init__(
        self, lowering: Lowering, spread: Spread, value: Value, pivot: Value
    ) -> None:
        self.lowering, self.spread, self.value, self.pivot = lowering, spread, value, pivot
        self.axes = spread.of[1]
        self.count = prod(value.meta.shape[axis] for axis in self.axes)

    def mean(self, meta: TensorMeta) -> Value:
        def body(pivot: Any, total: Any) -> Any:
            return ops.to_dtype(ops.add(_wide(pivot), self._over_count(total)), meta.dtype)

        return self._of([self.pivot, self.distances], meta, body)

    def squares_about_mean(self, meta: TensorMeta, mean: bool) -> Value:
        """Their sum, or mean. What rounding brings below 0 is 0."""

        def body(total: Any, squares: Any) -> Any:
            rest = ops.sub(squares, ops.mul(total, self._over_count(total)))
            rest = ops.maximum(rest, ops.constant(0.0, dtypes.float64))
            return ops.to_dtype(self._over_count(rest) if mean else rest, meta.dtype)

        return self._of([self.distances, self.squares], meta, body)

    @cached_property
    def distances(self) -> Leaf:
        return self._sum(self._distance(self.lowering.node))

    @cached_property
    def squares(self) -> Leaf:
        distance = self._distance(self.spread.difference)
        return self._sum(
            Computed(distance.meta, (distance,), lambda d: ops.mul(d, d), self.spread.square))

    def _distance(self, node: GraphNode) -> Computed:
        """Of each value from the pivot; counts as what `node` computes."""
        meta = replace(self.value.meta, dtype=dtypes.float64)
        args = self.value, expanded(self.pivot, meta.shape)
        self.lowering.inline_all(args, self.value.meta)
        pivot = Computed(meta, args[1:], _wide, self.spread.mean)
        return Computed(meta, (args[0], pivot), lambda v, pivot: ops.sub(_wide(v), pivot), node)

    def _sum(self, value: Value) -> Leaf:
        lowering = self.lowering
        meta = TensorMeta.contiguous(self.pivot.meta.shape, dtypes.float64)
        params = {"input": value, "dim": self.axes, "keepdim": True}
        return reduce(lowering, "sum", params, meta, f"{lowering.node.name}_about_pivot")

    def _over_count(self, total: Any) -> Any:
        return ops.div(total, ops.constant(self.count, dtypes.float64))

    def _of(self, args: list[Value], meta: TensorMeta, body: Callable[..., Any]) -> Value:
        """A value that may have lost the axes of one element."""
        seen = [arg.over(OPS["view"], {"shape": meta.shape}, {}) for arg in args]
        return self.lowering.computed(meta, seen, body)


def _wide(value: Any) -> Any:
    return ops.to_dtype(value, dtypes.float64)


class Spreads:
    """What a lowering makes in one pass: the `spreads` it found in its graph, and their moments."""

    def __init__(self, lowering: Lowering) -> None:
        wanted = lowering.options.one_pass and lowering.fuse
        self.lowering = lowering
        self.spreads = {
            node: found
            for node, found in (find_spreads(lowering.graph) if wanted else {}).items()
            if lowering.inlines(found.difference) and lowering.inlines(found.square)
        }
        self.by_values = {found.of: found for found in self.spreads.values()}
        self.known: dict[Of, Moments | None] = {}

    def moments(self, spread: Spread) -> Moments | None:
        """None where two passes must do."""
        if spread.of not in self.known:
            node, axes = spread.of
            value = self.lowering.values[node]
            some = all(map(_some, value.meta.shape))
            pivot = _pivot(self.lowering, value, axes) if some else None
            self.known[spread.of] = (
                None if pivot is None else Moments(self.lowering, spread, value, pivot))
        return self.known[spread.of]

    def in_one_pass(self, node: GraphNode, meta: TensorMeta) -> Value | None:
        """A node's value, if it is a spread, or the mean beside one."""
        spread = self.spreads.get(node)
        if spread is not None and (moments := self.moments(spread)) is not None:
            self.lowering.inline_all(
                [self.lowering.values[spread.square]], meta_of_node(spread.square))
            return moments.squares_about_mean(meta, mean=node.target.name == "mean")
        if spread is not None or node.target.name != "mean":
            return None
        spread = self.by_values.get(folded(node))
        if spread is None or meta.dtype is not meta_of_node(spread.square).dtype:
            return None
        found = self.moments(spread)
        return None if found is None else found.mean(meta)


def _some(size: Any) -> bool:
    """Is there an element for sure?"""
    return size > 0 if isinstance(size, int) else size.env.bounds(size.expr)[0] > 0


def _pivot(lowering: Lowering, value: Value, axes: tuple[int, ...]) -> Value | None:
    """The first of the values along the axes, which stay, of one element; computed of what lies in
    memory before the loops that sum. None where it cannot be."""
    if isinstance(value, Leaf) and value.buffer is not None and value.whole:
        value = lowering.stored_of.get(value.buffer.name, value)
        if probe(value).heavy:  # down columns it would be computed in each row
            return None
    program = lowering.program
    made = {b for b, _ in probe(value).loads if program.buffers[b].role != "input"}
    if made and any(s.out.name in made and not s.is_reduction for s in program.loops):
        return None
    try:
        for axis in axes:
            value = value.over(OPS["slice"], {"dim": axis, "start": 0, "end": 1, "step": 1}, {})
    except Unlinear:
        return None
    return value


# ---- the rule ------------------------------------------------------------------------------------


def in_one_pass(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value | None:
    """Of a sum or mean; None where it has no part in a spread."""
    if lowering.node.target is not op:  # it is a step of another operator
        return None
    return lowering.spreads.in_one_pass(lowering.node, meta_of(op, params))
