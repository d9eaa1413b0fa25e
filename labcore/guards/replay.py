"""The check again, guard by guard, for people: which one failed, and what it saw.

In: a variant and the arguments of a call.  Out: one `Answer` a guard asked, in the order of the
check.
Invariant: it stops where the check stops, so it never evaluates what the check would not have
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..trace import Origin
from .builder import Load
from .guard import Guard, Mismatch
from .variant import Variant
from .widen import MANY


@dataclass(frozen=True)
class Answer:
    """One guard, and why it failed (None: it holds). `guard` is None when a value could not be
    fetched at all."""

    index: int
    guard: Guard | None
    mismatch: Mismatch | None
    origin: Origin | None = None  # the user's line that needs it


def replay(variant: Variant, slots: Sequence[Any]) -> Iterator[Answer]:
    """Ask the guards of `variant` one after the other, up to the first that fails."""
    names = dict(zip(variant.parameters, slots))
    index = 0
    for step in variant.steps:
        try:
            if isinstance(step, Load):
                names[step.name] = eval(step.text, variant.scope, names)
                continue
            holds = bool(eval(step.code, variant.scope, names))
            subject = None if holds else eval(step.subject, variant.scope, names)
        except Exception as error:
            guard = step if isinstance(step, Guard) else None
            yield Answer(index, guard, _gone(step, error), step.origin)
            return
        mismatch = None if holds else step.mismatch(subject)
        yield Answer(index, step, mismatch, step.origin)
        index += 1
        if mismatch is not None:
            return


def differences(variant: Variant, slots: Sequence[Any]) -> Iterator[tuple[Guard, Any]]:
    """Every guard that fails, with what it saw: not only the first, as long as they are about
    values and layouts, and values can be fetched."""
    names = dict(zip(variant.parameters, slots))
    for step in variant.steps:
        try:
            if isinstance(step, Load):
                names[step.name] = eval(step.text, variant.scope, names)
                continue
            if eval(step.code, variant.scope, names):
                continue
            value = eval(step.subject, variant.scope, names)
        except Exception:
            return
        yield step, value
        if step.type not in MANY:
            return


def failure(variant: Variant, slots: Sequence[Any]) -> Answer | None:
    """The guard that fails for this call, if any."""
    return next((answer for answer in replay(variant, slots) if answer.mismatch is not None), None)


def _gone(step: Load | Guard, error: Exception) -> Mismatch:
    name = step.source.name if isinstance(step, Load) else step.source
    found = f"{type(error).__name__}: {error}"
    return Mismatch("a value", found, f"{name!r} cannot be read any more ({found})")
