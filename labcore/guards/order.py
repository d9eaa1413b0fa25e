"""In which order a check asks: what costs least and fails most often comes first.

In: loads and guards in the order in which capture needed them.  Out: the same, with guards on the
call's own arguments in front: numbers, flags and None, the modes, then tensors; and at the end the
layouts of tensors that no other question relies on, as those of a model's parameters.
Invariant: only what looks at nothing but an argument is moved ahead, so that whatever is asked
first is still asked before what relies on it.
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
LAYOUTS = 4  # in a row, without loads between them, they take CPython a little less


def in_order(steps: Sequence[Load | Guard], parameters: Collection[str]) -> list[Load | Guard]:
    loaded = {step.name for step in steps if isinstance(step, Load)}
    others = [step for step in steps if not _keyed(step)]
    texts = [step.text if isinstance(step, Load) else step.code for step in others]
    relied_on = set(re.findall(r"\w+", " ".join(texts)))

    def rank(step: Load | Guard) -> int:
        if isinstance(step, Load):
            return LAST
        if _keyed(step) and step.subject in loaded.difference(relied_on):
            return LAYOUTS
        argument = step.type == "GRAD_MODE" or step.subject in parameters
        alone = argument and loaded.isdisjoint(re.findall(r"\w+", step.code))
        return _RANKS.get(step.type, LAST) if alone else LAST

    return sorted(steps, key=rank)


def _keyed(step: Load | Guard) -> bool:
    return isinstance(step, Guard) and bool(step.key)
