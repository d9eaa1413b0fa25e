"""The simulated card: memory of the host that nobody reads by accident, kernels run by the grid
simulator.

In: the text of a program.  Out: a `Card`, as `tensor/cuda.py` has it.
Invariant: new memory holds nan, or the lowest number, so that what a kernel forgets is seen. What
a library does on a card of silicon, numpy does here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dtypes import from_numpy
from ...runtime import cards
from ...simulator import launch
from ...tensor.cuda import DeviceArray, SimulatedArray, exact_copy, layout
from ...tensor.storage import flat

Sizes = int | Sequence[int]


@dataclass(frozen=True)
class GridFunction:
    """A kernel of a text. `kernel[grid, block]` is a launch, waiting for its arguments."""

    source: str
    name: str

    def __getitem__(self, shape: tuple[Sizes, Sizes]) -> Callable[..., None]:
        grid, block = (tuple(s) if isinstance(s, Sequence) else (s,) for s in shape)

        def run(*arguments: Any) -> None:
            given = [flat(self._memory(a)) if isinstance(a, np.ndarray) else a for a in arguments]
            cards.note(launch(self.source, self.name, grid, block, given, cards.watched()))

        return run

    def _memory(self, array: np.ndarray) -> np.ndarray:
        if isinstance(array, DeviceArray) and not isinstance(array, SimulatedArray):
            raise RuntimeError(
                f"{self.name} runs on the simulated card, and one of its arrays lies in the memory "
                "of a card of silicon. After a change of card make tensors and compiled functions "
                "anew (tensor.cpu().cuda(), labcore.compiler.reset())"
            )
        return layout(array)


@dataclass(frozen=True)
class GridFunctions:
    """All kernels of a text."""

    by_name: Mapping[str, GridFunction]
    note = "for the grid simulator"
    cached, reason, key = False, "", ""


class SimulatedCard:
    name = "the grid simulator"

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def empty(self, shape: Sequence[int], steps: Sequence[int], dtype: np.dtype) -> SimulatedArray:
        size = dtype.itemsize
        span = 1 + sum((n - 1) * s // size for n, s in zip(shape, steps)) if all(shape) else 0
        floats = from_numpy(dtype).is_floating_point
        poison = np.nan if floats else dtype.kind == "b" or np.iinfo(dtype).min
        memory = np.full(span, poison, dtype)
        return np.ndarray(tuple(shape), dtype, memory, 0, tuple(steps)).view(SimulatedArray)

    def to_card(self, array: np.ndarray) -> SimulatedArray:
        return exact_copy(array).view(SimulatedArray)

    def copy(self, target: DeviceArray, source: DeviceArray) -> None:
        np.copyto(layout(target), layout(source))

    def matmul(self, a: DeviceArray, b: DeviceArray) -> None:
        return None

    def functions(self, source: str) -> GridFunctions:
        kernels = [n.name for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
        return GridFunctions({name: GridFunction(source, name) for name in kernels})

    def synchronize(self) -> None:
        """It is never behind."""
