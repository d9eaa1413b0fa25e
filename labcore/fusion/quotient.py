"""Softmax's quotient: each power times the reciprocal of its row's sum, one division a row.

In: the lowering, at exp(x - x.amax()) over its own sum.  Out: a product.
Invariant: such a sum lies between 1 and the row's length, or is nan, so its reciprocal is an
ordinary number, rounded once, and the product once more: 1.5 ulp at most. Where the largest was
infinite, 0 and infinity give what dividing by them gives.
A division takes ten times as long as a product, and on a card needs the registers of a long row.
Triton's own division is good to 2 ulp.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops import Op
from ..ops.sharing import meta_of
from .ir import ops
from .lowering_pointwise import POINTWISE
from .matching import bound, calls
from .online import power_sum
from .values import Value

if TYPE_CHECKING:
    from .lowering import Lowering


def by_inverse(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value | None:
    """Of a division; None where it is not by such a sum."""
    node = lowering.node
    if not lowering.fuse or node.target is not op or not _is_share(lowering, **bound(node)):
        return None
    total = bound(node)["other"]
    meta = meta_of(total)
    inverse = lowering.computed(
        meta, [params["other"]], lambda s: ops.div(ops.constant(1, meta.dtype), s))
    stored = lowering.realize(inverse, f"{total.name}_inverse", "one division serves a whole row")
    return lowering.pointwise(op, POINTWISE["mul"], {"input": params["input"], "other": stored})


def _is_share(lowering: Lowering, input: Any, other: Any, **_: Any) -> bool:
    """In rows: where columns are added up, their reciprocals would be loops of their own."""
    found = power_sum(other) if calls(other, "sum") else None
    return found is not None and found.powers is input and lowering.online.in_rows(found)
