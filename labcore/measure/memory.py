"""What a compiled graph holds in memory while it runs, measured by an allocator that counts.

In: a `call` of codegen's and its arguments.  Out: the most bytes in use at once.
Invariant: nothing is asked of the plan: arrays are counted where the program makes them or an
operator returns them, and counted off where Python frees them. Inputs and constants, which others
hold, are left out, and so is what an operator needs for itself while it runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .. import ops
from ..tensor import Tensor, empty_strided


def peak_bytes(call: Callable[[list[Any]], tuple], args: list[Any]) -> int:
    """Run `call(args)`, which empties the list, and measure."""
    counter = _Counter()
    scope = {**call.__globals__, "empty_strided": counter.counting(empty_strided),
             "ops": _CountingOps(counter)}
    tracked = FunctionType(call.__code__, scope, call.__name__, call.__defaults__)
    outputs = tracked(args)
    del outputs
    return counter.peak


class _Counter:
    """Bytes in use now, and at most."""

    def __init__(self) -> None:
        self.now = self.peak = 0

    def counting(self, make: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """`make`, with what it returns counted as long as it lives."""

        def counted(*args: Any, **kwargs: Any) -> Tensor:
            tensor = make(*args, **kwargs)
            memory = _memory(tensor.array)
            nbytes = memory.nbytes if tensor.array.size else 0
            self.now += nbytes
            self.peak = max(self.peak, self.now)
            weakref.finalize(memory, self._free, nbytes)
            return tensor

        return counted

    def _free(self, nbytes: int) -> None:
        self.now -= nbytes


class _CountingOps:
    """`labcore.ops`, each operator's result counted."""

    def __init__(self, counter: _Counter) -> None:
        self._counter = counter

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        return self._counter.counting(getattr(ops, name))


def _memory(array: np.ndarray) -> np.ndarray:
    """The array that has the memory of one that looks into it; of a large one, which looks into a
    block of bytes that outlives it, the array itself."""
    while isinstance(array.base, np.ndarray) and array.base.dtype == array.dtype:
        array = array.base
    return array
