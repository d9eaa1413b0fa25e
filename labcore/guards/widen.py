"""Fewer guards for an eager variant.

In: two eager variants of one function that stopped at the same place.  Out: one whose guards are
those that both have.
Invariant: running the call in CPython is always right, so an eager variant may lose any guard;
all it can cost is a graph that
might have been captured. Without this, a counter that changes at every call would use up the
recompile limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from .builder import Load, variant_source
from .guard import Guard
from .variant import Variant

# What may be dropped: values that come in many kinds. A flag, a type or a function tells two
# programs apart.
MANY = frozenset(("EQUALS_MATCH", "SIZE_MATCH", "STRIDE_MATCH", "SEQUENCE_LENGTH", "SHAPE_ENV"))


def widened(new: Variant, old: Variant) -> Variant | None:
    """The new variant without the guards on which the two differ, or None when they differ in
    more than numbers."""
    theirs = {guard.code for guard in new.guards}
    common = {
        guard.code
        for guard in old.guards
        if guard.code in theirs and _same_objects(guard, new, old)
    }
    if any(
        guard.type not in MANY for guard in (*new.guards, *old.guards) if guard.code not in common
    ):
        return None
    kept = _used([step for step in new.steps if isinstance(step, Load) or step.code in common])
    source = variant_source(new.parameters, kept, ["return EAGER"], "result", new.scope)
    return Variant(
        new.compile_id, new.title, source, new.scope, new.parameters, kept, new.result, new.place,
        new.stops,
    )


def _same_objects(guard: Guard, new: Variant, old: Variant) -> bool:
    """The guard's names mean the same in both variants."""
    names = compile(guard.code, "<guard>", "eval").co_names
    return all(new.scope.get(name) is old.scope.get(name) for name in names)


def _used(steps: Sequence[Load | Guard]) -> list[Load | Guard]:
    """Without the loads that no remaining step reads."""
    needed: set[str] = set()
    kept: list[Load | Guard] = []
    for step in reversed(steps):
        if isinstance(step, Guard) or step.name in needed:
            kept.append(step)
            text = step.code if isinstance(step, Guard) else step.text
            needed.update(compile(text, "<guard>", "eval").co_names)
    return kept[::-1]
