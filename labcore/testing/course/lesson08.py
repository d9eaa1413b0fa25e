"""The exercises of lesson 08: where the cut goes, and a budget that keeps the matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autodiff import Cut, Joint, cut_at, default_partition
from ...autodiff.joint import needed
from ...autodiff.mincut import min_cut_partition, network_of
from .result import Fact, Result, Unusable, begun, checked, is_number, shown


def _cosines(x: Any) -> Any:
    return x.cos().cos().cos()


def _layer(x: Any, w1: Any, w2: Any) -> Any:
    from ...nn.functional import gelu

    return gelu(x @ w1) @ w2


# ---- where the cut goes -------------------------------------------------------------------------


@checked
def kept(names: Any) -> Result:
    """Exercise 1: the values of the joint graph of three cosines that have to be saved."""
    from ... import tensor

    x = tensor([-2.0, -1.0, 1.0, 2.0]).requires_grad_()
    joint = _joint(_cosines, x)
    saved = _values(joint, names)
    missing = _missing(joint, saved)
    there = Fact("missing in the backward", [], missing)
    if missing:
        return Result((there,), f"The backward reads {', '.join(missing)}, which nobody kept.")
    cut = _cut(_cosines, lambda joint: cut_at(joint, _values(joint, names)), x)
    facts = (
        there,
        Fact("saved bytes", 16, cut.saved_bytes),
        Fact("computed again", ["cos", "cos_1"], cut.recomputed),
    )
    belief = ""
    if cut.saved_bytes >= default_partition(joint).saved_bytes:
        belief = "All that the backward reads is kept: which of it can be computed from the rest?"
    elif cut.saved_bytes > 16:
        belief = "Fewer than 48, and one of these can still be computed from another."
    return Result(facts, belief)


def _values(joint: Joint, names: Any) -> list[Any]:
    """The nodes of these names. Raises Unusable for what the forward does not have."""
    late = joint.parts().backward
    known = {n.name: n for n in joint.graph.nodes if n.meta is not None and n not in late}
    listed = isinstance(begun(names), (list, tuple, set))
    if not listed or not all(isinstance(name, str) and name in known for name in names):
        raise Unusable(f"a list of names of the forward: {', '.join(known)}", shown(names))
    return [known[name] for name in dict.fromkeys(names)]


def _missing(joint: Joint, saved: list[Any]) -> list[str]:
    """The inputs that the backward would still have to read, if these values were saved."""
    reached = needed(joint.gradients, (*saved, *joint.tangents))
    return [primal.name for primal in joint.primals if primal in reached and primal not in saved]


def _joint(fn: Callable[..., Any], *inputs: Any) -> Joint:
    """The joint graph of `fn` for such inputs."""
    found: list[Joint] = []

    def look(joint: Joint) -> Cut:
        found.append(joint)
        return default_partition(joint)

    _cut(fn, look, *inputs)
    return found[0]


def _cut(fn: Callable[..., Any], partitioner: Callable[[Joint], Cut], *inputs: Any) -> Cut:
    """Where `fn` is cut when it is compiled with that partitioner and called."""
    from ... import compile as compile_function

    cuts: list[Cut] = []

    def keep(joint: Joint) -> Cut:
        cuts.append(partitioner(joint))
        return cuts[-1]

    compile_function(fn, backend="aot_eager", options={"partitioner": keep})(*inputs)
    return cuts[0]


# ---- a budget -----------------------------------------------------------------------------------


@checked
def budget(share: Any) -> Result:
    """Exercise 2: a memory budget for gelu(x @ w1) @ w2 that saves the fewest bytes without
    computing the matrix product again."""
    from ... import ones

    if not is_number(begun(share)) or not 0 <= share <= 1:
        raise Unusable("a number from 0 to 1", shown(share))
    inputs = ones(8, 4), *(ones(*s).requires_grad_() for s in ((4, 16), (16, 2)))
    cut = _cut(_layer, lambda joint: min_cut_partition(joint, share), *inputs)
    network = network_of(_joint(_layer, *inputs))
    best = min(
        (c for c in map(network.cut, network.frontier()) if not _products(c)),
        key=lambda c: c.saved_bytes,
    )
    facts = (
        Fact("saved bytes", best.saved_bytes, cut.saved_bytes),
        Fact("matrix products computed again", [], _products(cut)),
        Fact("operators computed again", len(best.recomputed), len(cut.recomputed)),
    )
    belief = ""
    if _products(cut):
        belief = "Fewest of all, but x @ w1 runs twice for it: allow a little more."
    elif cut.saved_bytes > best.saved_bytes:
        belief = "Nothing expensive runs twice, and more is kept than that needs: allow less."
    return Result(facts, belief)


def _products(cut: Cut) -> list[str]:
    again = {*cut.recomputed}
    return [n.name for n in cut.backward.calls if n.name in again and n.target.kind == "matmul"]
