"""When a lazy value gets a buffer, and the loops that fill it.

In: lazy values.  Out: the reason to store one (or None), and `Loops` over it.
Invariant: every reason is one of the sentences below; nothing else makes a buffer.
A value that stays lazy is computed again by each of its readers. That is right when it is cheap;
what a shared nest keeps in hand costs nothing either, so storing is never wrong, only slower when
the nests end up apart.
Inductor's thresholds: 4 reads, 30 operations (50 on CPU), heavy operations reused.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..graph import Node as GraphNode, TensorMeta
from ..ops.sharing import meta_of
from ..shapes import surely_equal
from .ir import Buffer, Expr, Loops, exprs
from .values import Leaf, Value, full_index, probe

MAX_READS = 4  # a value used twice that reads more than this is cheaper to load
MAX_OPS = 40  # keeps one body at a size that reads and compiles well

OUTPUT = "it is an output"
REDUCED = "a reduction is complete only after its last element"
RESHAPED = "a reshape that merges its axes needs it in memory"
EXTERN = "an operator without loops reads it"
AT_PLACES = "it is read where other values say"
SCANNED = "each element needs the one before it"
TWICE = "it is dear, and one operator reads it twice"
WRITTEN = "it is written in parts, or where other values say"


def readers(node: GraphNode) -> int:
    """How many operators compute with a node's value; a view counts as its own readers."""
    return sum(readers(u) if getattr(u.target, "alias", False) else 1 for u in node.users)


def read_from_memory(
    node: GraphNode, why_memory: Callable[[GraphNode, GraphNode], str | None]
) -> str | None:
    """Why an operator wants the node's value, or a view of it, in memory, if one does.

    Stored now, once, for the value and all its views; later each view would get a buffer.
    """
    for user in node.users:
        op = user.target
        if user.op != "call_function":
            continue
        if op.alias or op.compose is not None or op.decompose is not None:
            why = read_from_memory(user, why_memory)
        else:
            why = why_memory(user, node)
        if why is not None:
            return why
    return None


def repeats(node: GraphNode, seen: TensorMeta | None = None) -> tuple[GraphNode, Any] | None:
    """(reader, how often) of a reader that computes each element of a node several times over.

    It does where it is larger, along axes outside of those that the value changes along; along the
    innermost ones the value waits before the loop. `seen`: the value as a view shows it.
    """
    value = seen or meta_of(node)
    for user in node.users:
        if user.op != "call_function" or user.meta is None:
            continue
        if getattr(user.target, "alias", False):
            found = repeats(user, user.meta)
        else:
            # A reduction runs over what it reads, others over what they make.
            over = value.shape if user.target.kind == "reduction" else user.meta.shape
            times = _times(value, over)
            found = None if surely_equal((times,), (1,)) else (user, times)
        if found is not None:
            return found
    return None


def _times(value: TensorMeta, sizes: tuple[int, ...]) -> Any:
    """How often loops over `sizes` come by each element of a value again, in other rows."""
    extra = len(sizes) - value.ndim
    changes = [k >= extra and value.shape[k - extra] != 1 and value.stride[k - extra] != 0
               for k in range(len(sizes))]
    inner = max((k for k, moving in enumerate(changes) if moving), default=-1)
    return prod(n for k, n in enumerate(sizes[:inner + 1]) if not changes[k])


def reason_to_realize(
    node: GraphNode, value: Value, is_output: bool, fuse: bool, materialize: bool = True,
    spared: int = 0,
) -> str | None:
    """Why the value of `node` must have a buffer whatever reads it, or None. `spared` of its
    readers get along without it."""
    if is_output:
        return OUTPUT
    if not fuse:
        return "nothing is fused"
    found, uses = probe(value), readers(node) - spared
    if found.heavy and uses > 1 and materialize:
        return f"{found.heavy[-1]} is dear and it is used {uses} times"
    dear = found.heavy or found.divisions
    again = repeats(node) if dear and materialize else None
    if again is not None:
        return (f"{dear[-1]} is dear, and {again[0]} would compute each of its elements "
                f"{again[1]} times")
    if uses > 1 and len(set(found.loads)) > MAX_READS:
        return f"it reads {len(set(found.loads))} values and is used {uses} times"
    if found.ops > MAX_OPS:
        return f"its body has {found.ops} operations, the limit is {MAX_OPS}"
    return None


def pointwise_loops(
    value: Value, out: Buffer, part: Leaf | None = None, like: Sequence[int] = (), **more: Any
) -> Loops:
    """`out[idx] = value(idx)`, the loops in the order in which the output lies in memory; or only
    a `part` of it, a view. `like`: the order of what is read, which is as good if the innermost
    loop stays."""
    shape, strides = value.meta.shape, (value if part is None else part).meta.stride
    # An axis with stride 0 repeats one element: written once.
    axes = _memory_order(
        [k for k, n in enumerate(shape) if n != 1 and (strides[k] or n == 0)], strides
    )
    fits = sorted(like) == sorted(axes) and list(like[-1:]) == axes[-1:]
    if fits:
        axes = list(like)
    where = (out if part is None else part).at
    return Loops(out, exprs([shape[k] for k in axes]), tuple(range(len(axes))), "pointwise",
                 lambda idx: value.run(full_index(idx, axes, len(shape))),
                 lambda idx: where(full_index(idx, axes, len(shape))),
                 reordered=tuple(like) if fits else (), **more)


def reduction_loops(
    value: Value, reduced: Sequence[int], kind: str, out: Buffer, keepdim: bool, **more: Any
) -> Loops:
    """`out[kept] (kind)= value(idx)`: loops follow memory if the reduced axes then lie together."""
    shape, ndim = value.meta.shape, value.meta.ndim
    live = [k for k in range(ndim) if shape[k] != 1]
    axes = _memory_order(live, value.meta.stride)
    kept = [k for k in axes if k not in reduced]
    folded = [place for place, k in enumerate(axes) if k in reduced]
    fits = not folded or folded[-1] - folded[0] + 1 == len(folded)
    if not fits:
        kept = [k for k in live if k not in reduced]
        axes = kept + [k for k in live if k in reduced]
    places = [
        k for k in range(ndim) if keepdim or k not in reduced
    ]  # the output's axes, as axes of the input

    def where(idx: Sequence[Expr]) -> Expr:
        full = full_index(idx, kept, ndim)
        return out.at([full[k] for k in places])

    return Loops(
        out,
        exprs([shape[k] for k in axes]),
        tuple(axes.index(k) for k in kept),
        kind if len(kept) < len(axes) else "pointwise",
        lambda idx: value.run(full_index(idx, axes, ndim)),
        where,
        reordered=() if fits else tuple(axes),
        **more,
    )


def scan_loops(
    value: Value, axis: int, kind: str, out: Buffer, target: Leaf, **more: Any
) -> Loops:
    """`target[idx] = value(idx) combined with what is before it along `axis``."""
    shape, ndim = value.meta.shape, value.meta.ndim
    axes = [k for k in range(ndim) if shape[k] != 1]
    return Loops(
        out,
        exprs([shape[k] for k in axes]),
        tuple(range(len(axes))),
        kind if axis in axes else "pointwise",
        lambda idx: value.run(full_index(idx, axes, ndim)),
        lambda idx: target.at(full_index(idx, axes, ndim)),
        along=axes.index(axis) if axis in axes else 0,
        **more,
    )


def _memory_order(axes: list[int], strides: Sequence[int]) -> list[int]:
    """The slowest axis first, so the inner loop walks neighbours. Stride 0 stays in place."""
    moving = sorted((k for k in axes if strides[k]), key=lambda k: -abs(strides[k]))
    return [moving.pop(0) if strides[k] else k for k in axes]


def origins(value: Value, last: GraphNode) -> tuple[GraphNode, ...]:
    """The graph nodes computed on the way to `value`, in graph order, `last` at the end."""
    found = {c.node for c in value.computed()} - {last}
    if len(found) < 2:
        return (*found, last)
    place = {n: k for k, n in enumerate(last.graph.nodes)}
    return (*sorted(found, key=place.__getitem__), last)
