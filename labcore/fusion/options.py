"""What the loop compiler may be told: how large a nest may grow, and what is computed again.

In: `compile(..., options={...})`.  Out: `FusionOptions`, frozen, checked when it is made.
Inductor has such limits as `torch._inductor.config`, for the process (`max_fusion_size`,
`realize_reads_threshold` ...).
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class FusionOptions:
    """max_nodes: loops in one nest, as in Inductor.
    max_arrays: arrays that one nest reads and writes. Each is a stream that a core must follow;
    with 97 at once the sums of 48 arrays took 1.5 to 1.9 times as long as with 33.
    materialize: store what is dear where it would be computed several times. Never storing it saves
    memory traffic, and may cost far more in computing.
    one_pass: mean and variance of the same values come from one pass over them, about a pivot.
    online: the largest of a row and the sum of the powers below it, which softmax divides by, come
    from one pass, rescaled on the way; None: where it pays, which is in rows longer than held_row.
    held_row: elements of a row that stay in registers, so that a second look reads no memory; None:
    a second look is cheap at any length, for it is at a cache.
    hold_memory: share a nest also where the program then holds much more memory than is saved.
    endings: sums of what rows made, and what is computed of sums over rows, share the rows' nest.
    Where rows run at the same time, on a graphics card, nobody knows which is the last one.
    plain_kernels: run kernels in the form that is for reading (`codegen/plain.py`).
    cudagraphs: on a card, record a graph's launches and replay them (`runtime/replay.py`).
    max_autotune: on a card, measure other forms of each kernel, and take the fastest
    (`codegen/cuda/tune.py`).
    Raises ValueError for anything else.
    """

    max_nodes: int = 64
    max_arrays: int = 40
    materialize: bool = True
    one_pass: bool = True
    online: bool | None = None
    held_row: int | None = None
    hold_memory: bool = False
    endings: bool = True
    plain_kernels: bool = False
    cudagraphs: bool = False
    max_autotune: bool = False

    def __post_init__(self) -> None:
        for name in ("max_nodes", "max_arrays"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is a whole number from 1 on, not {value!r}")
        for name in ("materialize", "one_pass", "hold_memory", "endings", "plain_kernels",
                     "cudagraphs", "max_autotune"):
            value = getattr(self, name)
            if type(value) is not bool:
                raise ValueError(f"{name} is True or False, not {value!r}")
        if self.online is not None and type(self.online) is not bool:
            raise ValueError(f"online is True, False or None, not {self.online!r}")
        held = self.held_row
        if held is not None and (type(held) is not int or held < 1):
            raise ValueError(f"held_row is a whole number from 1 on or None, not {held!r}")

    @staticmethod
    def of(given: Mapping[str, Any]) -> FusionOptions:
        """The options that were given by name. Raises ValueError for a name that is none."""
        known = [field.name for field in fields(FusionOptions)]
        for name in given:
            if name not in known:
                raise ValueError(f"unexpected option {name!r}; known are {', '.join(known)}")
        return FusionOptions(**given)


DEFAULT = FusionOptions()
