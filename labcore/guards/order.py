"""In which order a check asks: what costs least and fails most often comes first.

In: loads and guards in the order in which capture needed them.  Out: the same, with guards on the
call's own arguments in front: numbers, flags and None, the modes, then tensors.
Invariant: only what looks at nothing but an argument is moved, so that whatever is asked first is
still asked before what relies on it.
PyTorch sorts the guards of one source by how often they have failed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .builder import Load
from .guard import Guard

_RANKS = {
    "EQUALS_MATCH": 0,
    "BOOL_MATCH": 0,
    "NONE_MATCH": 0,
    "GRAD_MODE": 1,
    "TENSOR_MATCH": 2,
    "SIZE_MATCH": 2,
    "STRIDE_MATCH": 2,
}
LAST = 3


def in_order(steps: Sequence[Load | Guard], parameters: Collection[str]) -> list[Load | Guard]:
    loaded = {step.name for step in steps if isinstance(step, Load)}

    def rank(step: Load | Guard) -> int:
        if isinstance(step, Load):
            return LAST
        argument = step.type == "GRAD_MODE" or step.subject in parameters
        alone = argument and loaded.isdisjoint(re.findall(r"\w+", step.code))
        return _RANKS.get(step.type, LAST) if alone else LAST

    return sorted(steps, key=rank)
