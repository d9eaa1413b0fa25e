"""Tensors to show a function with, when the caller names a size or nothing at all.

In: a function and a number of elements.  Out: one float32 tensor a parameter: -2, -1, 1, 2, again
and again, for the first, ones for the others, so that `(x + bias).relu() * 2` has something to cut
off.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import labcore as torch
from labcore.nn import Module

FIRST = (-2.0, -1.0, 1.0, 2.0)


def example_inputs(fn: Callable[..., Any], n: int) -> tuple[Any, ...]:
    """One tensor of n elements for each parameter that has no default."""
    called = fn.forward if isinstance(fn, Module) else fn
    parameters = inspect.signature(called).parameters.values()
    names = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    first = torch.tensor([FIRST[i % len(FIRST)] for i in range(n)], dtype=torch.float32)
    return tuple(first if k == 0 else torch.ones(n) for k in range(len(names)))
