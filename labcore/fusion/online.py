"""The largest of a row, and the sum of the powers below it, from one pass instead of two.

In: the lowering, at a sum of exp(x - x.amax()): the heart of softmax, log_softmax and logsumexp.
Out: a value that is computed of two reductions of x itself, which share a pass: `amax`, and
`sumexp`, whose sum is rescaled where a larger value comes (see `primitives.py` for its source).
Invariant: rows alone have this form, the reduced axes being the last ones in memory; columns go
over their rows twice. Where the largest is infinite the result is what the graph's own steps give.
It is chosen where a second look at the row costs more than a second power of each element: on a
card, for rows that its registers do not hold, whose second look reads memory: an H200 took 0.6 of
the time. A CPU's second look is at its cache: in blocks, which vectors need, logsumexp took 1.1 to
1.3 of the time of two passes, and softmax, which computes each power twice, 1.8.
Inductor takes one such pass for softmax where a row does not fit into one block of Triton.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any

from ..graph import Graph, Node as GraphNode, TensorMeta
from ..ops import OPS, Op
from ..ops.sharing import meta_of as meta_of_node
from ..shapes import surely_equal
from .ir import Loops, ops
from .lowering_rules import reduce
from .matching import FLOATS, bound, calls, folded, folded_alike
from .pair import Verdict
from .primitives import SUMEXP
from .values import Value, meta_of

if TYPE_CHECKING:
    from .lowering import Lowering


# ---- in the graph --------------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerSum:
    """A sum of `powers`, each of a value less the `largest` of its row. `guarded`: where that is
    infinite, 0 is taken away."""

    largest: GraphNode
    powers: GraphNode
    guarded: bool

    def pays(self, held: int | None) -> bool:
        """Is a second look at a row dearer than a second power? See `FusionOptions.held_row`."""
        values, axes = folded(self.largest)
        length = prod(meta_of_node(values).shape[axis] for axis in axes)
        return held is not None and not (isinstance(length, int) and length <= held)


def find_power_sums(graph: Graph) -> dict[GraphNode, PowerSum]:
    found = {node: power_sum(node) for node in graph.calls if node.target.name == "sum"}
    return {node: powers for node, powers in found.items() if powers is not None}


def power_sum(node: GraphNode) -> PowerSum | None:
    powers = bound(node)["input"]
    difference: Any = bound(powers)["input"] if calls(powers, "exp") else None
    if not calls(difference, "sub") or bound(difference)["alpha"] != 1:
        return None
    values, shift = bound(difference)["input"], bound(difference)["other"]
    largest = _unguarded(shift)
    if not calls(largest, "amax") or not folded_alike(largest, values, node):
        return None
    types = {meta_of_node(n).dtype for n in (values, powers, node)}
    one_of_each = all(surely_equal((values.meta.shape[axis],), (1,)) for axis in folded(node)[1])
    if len(types) > 1 or not types <= FLOATS or one_of_each:
        return None
    return PowerSum(largest, powers, largest is not shift)


def _unguarded(shift: Any) -> Any:
    """m of `where(abs(m) == inf, 0.0, m)`; anything else as it is."""
    if not calls(shift, "where"):
        return shift
    infinite, zero, largest = (bound(shift)[name] for name in ("condition", "input", "other"))
    if not calls(infinite, "eq") or bound(infinite)["other"] != inf or zero != 0:
        return shift
    size = bound(infinite)["input"]
    return largest if calls(size, "abs") and bound(size)["input"] is largest else shift


# ---- in loops ------------------------------------------------------------------------------------


class Online:
    """What a lowering makes of the sums of powers that it found in its graph."""

    def __init__(self, lowering: Lowering) -> None:
        wanted, held = lowering.options.online, lowering.options.held_row
        self.lowering = lowering
        self.sums = {
            node: found
            for node, found in find_power_sums(lowering.graph).items()
            if lowering.inlines(found.powers) and (found.pays(held) if wanted is None else wanted)
        } if lowering.fuse else {}
        self.taken: list[tuple[GraphNode, PowerSum]] = []

    def spared(self, powers: GraphNode) -> int:
        """How many sums do not read these powers, but the values themselves."""
        sums = [self.sums[user] for user in powers.users if user in self.sums]
        return sum(map(self.in_rows, sums))

    def in_rows(self, found: PowerSum) -> bool:
        """Are the reduced axes the last ones in memory?"""
        made = self.lowering.values[found.largest].buffer.name
        loops = next(s for s in reversed(self.lowering.program.steps) if s.out.name == made)
        assert isinstance(loops, Loops)
        return loops.kept == tuple(range(len(loops.kept)))

    def in_one_pass(self, node: GraphNode, meta: TensorMeta) -> Value | None:
        """The value of a sum of powers."""
        found = self.sums.get(node)
        if found is None or not self.in_rows(found):
            return None
        lowering, (values, axes) = self.lowering, folded(found.largest)
        self.taken.append((node, found))
        value, largest = lowering.values[values], lowering.values[found.largest]
        lowering.inline_all([lowering.values[found.powers]], meta_of_node(found.powers))
        kept = [1 if axis in axes else n for axis, n in enumerate(value.meta.shape)]
        total = reduce(lowering, SUMEXP, {"input": value, "dim": axes, "keepdim": True},
                       TensorMeta.contiguous(kept, meta.dtype), f"{node.name}_powers")
        seen = [v.over(OPS["view"], {"shape": meta.shape}, {}) for v in (total, largest)]

        def body(total: Any, top: Any) -> Any:
            if not found.guarded:  # inf - inf is nan, in each power and in the sum
                return ops.add(total, ops.sub(top, top))
            infinite = ops.constant(inf, meta.dtype)  # a power of inf is inf
            return ops.where(ops.eq(top, infinite), infinite, total)

        return lowering.computed(meta, seen, body)

    def verdicts(self) -> Iterator[Verdict]:
        for node, found in self.taken:
            yield Verdict(
                found.largest.name, node.name, True, "one pass, rescaled on the way",
                f"{node} begins before {found.largest} is known: where a larger value comes, what "
                "was added up is multiplied by the power of the difference.")


# ---- the rule ------------------------------------------------------------------------------------


def in_one_pass(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value | None:
    """Of a sum; None where it is not one of powers."""
    if lowering.node.target is not op:  # it is a step of another operator
        return None
    return lowering.online.in_one_pass(lowering.node, meta_of(op, params))
