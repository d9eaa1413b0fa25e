"""Every operator's rule, gathered in one place, so that the order of imports decides nothing.

In: the rules of the files of this room.  Out: `RULES`, for the operators that are not pointwise.
Where an operator is a part of something larger (the sum in a variance or in a softmax), that has a
rule of its own for it, which gives None where the operator is by itself. `PARTS_OF` has those, in
order: a later one is asked first.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops import Op
from . import lowering_indexed, lowering_parts, lowering_rules, moments, online, quotient
from .lowering_pointwise import POINTWISE
from .values import Value

if TYPE_CHECKING:
    from .lowering import Lowering

Lower = Callable[["Lowering", Op, dict[str, Any]], Value]
LowerPart = Callable[["Lowering", Op, dict[str, Any]], Value | None]

PARTS_OF: tuple[tuple[str, LowerPart], ...] = (
    ("sum", moments.in_one_pass),
    ("mean", moments.in_one_pass),
    ("sum", online.in_one_pass),
    ("div", quotient.by_inverse),
)


def _pointwise(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
    return lowering.pointwise(op, POINTWISE[op.name], params)


def _as_part(part: LowerPart, alone: Lower) -> Lower:
    """The rule that asks `part` first."""

    def lower(lowering: Lowering, op: Op, params: dict[str, Any]) -> Value:
        found = part(lowering, op, params)
        return alone(lowering, op, params) if found is None else found

    return lower


RULES: dict[str, Lower] = {
    **lowering_rules.RULES, **lowering_indexed.RULES, **lowering_parts.RULES
}
for _name, _part in PARTS_OF:
    RULES[_name] = _as_part(_part, RULES.get(_name, _pointwise))
