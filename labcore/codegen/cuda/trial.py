"""Kernels of one nest in several forms, run in turn on memory of their own, and timed.

In: a nest and its forms, a card of silicon, the values of symbols.  Out: for each form its time, or
why it has none.
Each launch finds the card's cache full of something else: of memory that is copied to where nobody
looks, or, where the kernel's own operands are larger than the cache, of what a launch before it
left. Either keeps the card busy until the host has asked for the launch. Inputs are random numbers.
Forms take turns, so that a card that slows down slows all of them down; of a form's times the
median counts.
Invariant: nothing of the program's own is read or written, and nobody who records launches is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from ...dtypes import dtype as Dtype
from ...fusion.ir import Expr
from ...fusion.nest import Nest
from ...runtime.card import SiliconCard, place
from ...shapes import bare
from ...shapes.env import Values
from ..printer import Parameter
from . import build, print_kernels
from .cubin import Refused
from .device import FUNCTIONS, called
from .form import Form
from .kernel import GridKernel

FLUSH = 256 << 20  # bytes that are moved before each launch: four times an H200's cache
PATTERN = 1 << 18  # random numbers that inputs repeat


@dataclass
class Trial:
    """A form, its kernels, what launches them, and what they took in the latest race, in us;
    `dropped` says why it may not race."""

    form: Form
    kernels: list[GridKernel]
    launch: Callable[[], None] | None = None
    us: float = 0.0
    dropped: str = ""
    times: list[float] = field(default_factory=list)

    @property
    def text(self) -> tuple[str, ...]:
        """What two forms have in common that are one and the same to a card."""
        name = self.kernels[0].name
        return tuple(f"{k.marked.replace(name, '')} {k.launch}" for k in self.kernels)


class Trials:
    """`seen`: the values of symbols."""

    def __init__(self, nest: Nest, card: SiliconCard, seen: Mapping[str, Any]) -> None:
        self.nest, self.card, self.seen = nest, card, Values(seen)
        self.memory: dict[tuple[str, int], Any] = {}
        self.all: list[Trial] = []
        self.flush: Any = None

    def add(self, forms: Sequence[Form]) -> list[Trial]:
        """Compile forms that are not like one that is there already; those that can race. One that
        the assembler refuses cannot, nor one whose registers are spilled to memory."""
        fresh: list[Trial] = []
        known = {trial.text for trial in self.all}
        for form in forms:
            name = f"form_{len(self.all) + len(fresh)}"
            trial = Trial(form, print_kernels(self.nest, name, form))
            if trial.text not in known:
                known.add(trial.text)
                fresh.append(trial)
        if fresh:
            self._compile(fresh)
            self.all += fresh
        return [trial for trial in fresh if trial.launch is not None]

    def _compile(self, trials: Sequence[Trial]) -> None:
        kernels = [kernel for trial in trials for kernel in trial.kernels]
        try:
            compiled = build.compile_source(text_of(kernels), self.card.driver.cc)
        except Refused as refusal:
            if not self.all:
                raise  # the first one is what would run anyway
            if len(trials) == 1:
                trials[0].dropped = f"refused: {str(refusal).splitlines()[0]}"
            else:  # one of them
                for trial in trials:
                    self._compile([trial])
            return
        code = next(iter(compiled.values())).cubin
        functions = self.card.driver.load(code, [kernel.name for kernel in kernels])
        for trial in trials:
            spills = sum(compiled[kernel.name].spills for kernel in trial.kernels)
            if spills and self.all:
                trial.dropped = f"{spills} spilled"
            else:
                trial.launch = self._launch(trial, functions)

    def _launch(self, trial: Trial, functions: Mapping[str, Any]) -> Callable[[], None]:
        launches = []
        for kernel in trial.kernels:
            grid = [int(self._value(text)) for text in kernel.grid]
            launcher = self.card.driver.launcher(functions[kernel.name], grid, kernel.block)
            launches.append(partial(launcher, *[self._given(p) for p in kernel.parameters]))

        def launch() -> None:
            for each in launches:
                each()

        return launch

    def _value(self, text: str) -> Any:
        return eval(text, {"math": math}, self.seen)

    # ---- what kernels are given ----

    def _given(self, parameter: Parameter) -> int | float:
        if parameter.number:
            value: int | float = self._value(bare(parameter.storage))
            return value
        count = parameter.scratch
        size = self._span(parameter.storage) if count is None else count.value(self.seen)
        key = parameter.storage, size
        if key not in self.memory:
            self.memory[key] = _filled(self.card, parameter.dtype, size)
        return place(self.memory[key])

    def _span(self, storage: str) -> int:
        """How many elements of a storage the nest's buffers reach over."""
        buffers = self.nest.buffers_by_name.values()
        spans: list[Expr] = [b.span for b in buffers if b.storage == storage]
        return max(span.value(self.seen) for span in spans)

    def free(self) -> None:
        """Give all of it back to the driver; whoever holds an exception's frames holds these
        trials, too."""
        self.memory.clear()
        self.flush = None
        self.card.allocator.empty_cache()

    # ---- times ----

    def race(self, trials: Sequence[Trial], rounds: int) -> None:
        """Time them in turn, so many times each."""
        for trial in trials:
            assert trial.launch is not None, f"{trial.form.name} was dropped: {trial.dropped}"
            trial.times = []
            trial.launch()  # once beforehand: a kernel's first launch is a slow one
        for number in range(rounds):
            first = number % len(trials)
            for trial in (*trials[first:], *trials[:first]):
                assert trial.launch is not None
                self._fill_cache(trial.launch)
                trial.times.append(self.card.driver.timed(trial.launch) * 1e6)
        for trial in trials:
            trial.us = median(trial.times)

    def _fill_cache(self, launch: Callable[[], None]) -> None:
        if sum(array.nbytes for array in self.memory.values()) >= FLUSH:
            launch()
        else:
            if self.flush is None:
                self.flush = self.card.empty((FLUSH,), (1,), np.dtype(np.uint8))
            start, half = place(self.flush), FLUSH // 2
            self.card.driver.copy(start + half, start, half)


def text_of(kernels: Sequence[GridKernel]) -> str:
    """A program of these kernels, as far as a compiler reads it: their texts and launches."""
    shared = called("\n".join(kernel.source for kernel in kernels))
    parts = [*(f"@device\n{FUNCTIONS[name]}" for name in shared), *(k.marked for k in kernels)]
    launches = "\n".join(f"    {kernel.name}{kernel.launch}()" for kernel in kernels)
    return "\n\n".join([*parts, f"def call(args):\n{launches}"]) + "\n"


def _filled(card: SiliconCard, dtype: Dtype, size: int) -> Any:
    """Memory of the card full of random numbers, which repeat."""
    width = dtype.numpy.itemsize
    array = card.empty((size,), (width,), dtype.numpy)
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(min(size, PATTERN)) * (1 if dtype.is_floating_point else 8)
    pattern = (normal > 0 if dtype.name == "bool" else normal).astype(dtype.numpy)
    if not size:
        return array
    card.driver.to_card(place(array), pattern.ctypes.data, pattern.nbytes)
    done, total = pattern.nbytes, size * width
    while done < total:
        card.driver.copy(place(array) + done, place(array), min(done, total - done))
        done = min(2 * done, total)
    return array
