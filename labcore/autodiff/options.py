"""What autodiff may be told: where to cut the joint graph, and how much memory the cut may cost.

In: `compile(..., options={...})`.  Out: `AutodiffOptions`, frozen, checked when it is made.
PyTorch has the same choices as `torch._functorch.config`, for the whole process.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .joint import Joint
from .partition import Cut

PARTITIONERS = ("default", "min_cut")


@dataclass(frozen=True)
class AutodiffOptions:
    """partitioner: "default" saves what the backward reads, "min_cut" computes again what is cheap;
    a function from the joint graph to a `Cut` decides itself.
    activation_memory_budget: from 0, where as few bytes are saved as possible whatever that costs,
    to 1, where nothing expensive is computed again. Only min_cut knows how to keep to less than 1.
    Raises ValueError for anything else.
    """

    partitioner: str | Callable[[Joint], Cut] = "default"
    activation_memory_budget: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.partitioner) and self.partitioner not in PARTITIONERS:
            known = " and ".join(map(repr, PARTITIONERS))
            raise ValueError(f"unknown partitioner {self.partitioner!r}; there are {known}")
        budget = self.activation_memory_budget
        if type(budget) not in (int, float) or not 0 <= budget <= 1:
            raise ValueError(f"activation_memory_budget is a number from 0 to 1, not {budget!r}")
        if self.partitioner != "min_cut" and budget != 1:
            raise ValueError(
                f"partitioner {self.partitioner!r} knows no budget, so it cannot keep to an "
                f"activation_memory_budget of {budget}: say partitioner='min_cut' too"
            )

    @staticmethod
    def of(
        given: Mapping[str, Any] | None, partitioner: str, others: Sequence[str] = ()
    ) -> AutodiffOptions:
        """The options that were given by name, and the backend's own partitioner where none was.

        Raises ValueError for a name that is no option; it tells of `others`, of later stages, too.
        """
        known = [field.name for field in fields(AutodiffOptions)]
        for name in given or ():
            if name not in known:
                listed = ", ".join((*known, *others))
                raise ValueError(f"unexpected option {name!r}; known are {listed}")
        return AutodiffOptions(**{"partitioner": partitioner, **(given or {})})


DEFAULT = AutodiffOptions()
