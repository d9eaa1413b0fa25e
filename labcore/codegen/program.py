"""A program's text to a program that runs: what `compiled(__file__)` at the top of an output code
gives it.

In: the file's path.  Out: `program.kernel`, which puts the compiled kernel in the place of its
text, and the graph's constants. In the process that compiles the graph, machine code and constants
are handed over; a file that is run on its own finds its machine code beside it, compiles it anew
when it is not as it should be, and makes up its constants and inputs.
Invariant: the kernels are compiled from the very text that the file shows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from ..dtypes import dtype
from ..runtime.loader import Launcher
from .build import build

Layout = tuple[tuple[int, ...], tuple[int, ...], dtype]


@dataclass
class Program:
    """What an output code is given. `constants` are the graph's own tensors, by attribute."""

    launchers: dict[str, Launcher]
    constants: dict[str, Any] = field(default_factory=dict)

    def kernel(self, function: Callable) -> Launcher:
        """Decorator: the machine code of a kernel instead of its text."""
        return self.launchers[function.__name__]

    def constant(
        self, attribute: str, shape: tuple[int, ...], stride: tuple[int, ...], dtype: dtype
    ) -> Any:
        """A tensor that the graph holds; a random one when this file runs alone."""
        return (
            self.constants[attribute]
            if attribute in self.constants
            else self.random(shape, stride, dtype)
        )

    def random(self, *layout: Any) -> Any:
        """A tensor of this layout, where the program runs, with something in it."""
        return random_tensor(*layout)

    def time(self, call: Callable, inputs: Sequence[tuple], seconds: float = 0.5) -> None:
        """Run `call` for a while and print the fastest and the median time.

        An input is (name, number), or (name, shape, strides, dtype) for a random tensor.
        """
        tensors = [
            layout[0] if len(layout) == 1 else self.random(*layout) for _, *layout in inputs
        ]
        found: list[float] = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or not found:
            args = list(tensors)
            start = time.perf_counter()
            call(args)
            found.append(time.perf_counter() - start)
        found.sort()
        print(  # noqa: T201 - a program that is run on its own tells its time
            f"call({', '.join(name for name, *_ in inputs)}): fastest {found[0] * 1e6:.2f} us, "
            f"median {found[len(found) // 2] * 1e6:.2f} us over {len(found)} runs"
        )


class _HandedOver(threading.local):
    """The program that this thread is about to execute the text of."""

    path = ""
    program: Program | None = None


_handed_over = _HandedOver()


def compiled(path: str) -> Program:
    """The program of an output code file."""
    return handed_over(path) or Program(build(Path(path).read_text()).launchers)


def handed_over(path: str) -> Program | None:
    """The program that this thread is about to execute the text of, if it is this one."""
    return _handed_over.program if _handed_over.path == path else None


@contextmanager
def handing_over(path: str, program: Program) -> Iterator[None]:
    """The text of `path`, executed inside, gets this program."""
    _handed_over.path, _handed_over.program = path, program
    try:
        yield
    finally:
        _handed_over.path, _handed_over.program = "", None


def random_tensor(shape: tuple[int, ...], stride: tuple[int, ...], dtype: dtype) -> Any:
    """A tensor of this layout with something in it."""
    import numpy as np

    from ..tensor import empty_strided

    out = empty_strided(shape, stride, dtype)
    numbers = np.random.default_rng(0).standard_normal(prod(shape)).reshape(shape)
    out.array[...] = (
        numbers > 0 if dtype.name == "bool" else numbers * (1 if dtype.is_floating_point else 8)
    )
    return out
