"""`mode="reduce-overhead"`: a compiled call recorded once, then made again by one launch.

In: the `call` of a graph that runs on a card.  Out: a `call` that does the same. It is made as it
is at first (kernels are loaded then), recorded at the second time, replayed from the third on.
What differs from call to call are addresses, and a replay is told of those that do:

    kernels      get the addresses of this call's inputs, and of outputs that are new each time
    a library    keeps the addresses that it was recorded with: an input of its that has moved is
                 copied to a place that does not from then on, its outputs are copied from there
    in between   memory stays the replay's own, out of everybody else's reach

So a replay writes over nothing that an earlier call returned, and nobody can meet an output that is
overwritten; parameters do not move, and cost nothing. PyTorch copies all inputs but parameters, and
returns outputs that the next replay overwrites, which is an error when somebody looks.
Invariant: what cannot be replayed is called as before, and the reason is told once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tensor.storage import flat
from ..tensor.tensor import Known, learnt, wrap
from . import cards
from .allocator import Pool
from .card import DATA, SiliconCard, cell, place
from .driver import CallStep, KernelStep, Step

Call = Callable[[list[Any]], tuple]
Tell = Callable[[str, str, int], None]  # (outcome, reason, steps)
RECORDINGS = 8  # of one graph, before it is given up


GIVEN, CONSTANT, MADE = range(3)  # an input; always the same; new at each call


class Refused(Exception):
    """Why a call cannot be replayed, and what it gave if it was made already."""

    def __init__(self, why: str, outputs: tuple[Any, ...] | None = None) -> None:
        super().__init__(why)
        self.outputs = outputs


class Recorded:
    """One recording. `places`: of each input, and of each output after those, the arguments that
    are its address; `still`: inputs that stand for their copies here; `baked`: addresses that a
    library keeps, by input."""

    def __init__(self, card: SiliconCard, call: Call, inputs: Sequence[Any],
                 moving: set[int]) -> None:
        self.card = card
        allocator = card.allocator
        self.pool = Pool(allocator, heir=allocator.common)
        self.steps: list[Step] = []
        found: list[Any] = []
        with allocator.using(self.pool):
            self.still = {k: _copied(card, inputs[k].array) for k in moving}
            given = [wrap(self.still[k]) if k in moving else t for k, t in enumerate(inputs)]
            _check_apart(given)
            with cards.recording_steps(found):
                self.outputs = call(list(given))
        for step in found:
            if isinstance(step, str):
                raise Refused(step, tuple([
                    wrap(_copied(card, out.array)) if self._source(out, given) is None else out
                    for out in self.outputs]))
            self.steps.append(step)
        self.sources = [self._source(out, given) for out in self.outputs]
        self._find_places(given)
        self._find_kinds()
        self.replay = card.driver.replay(self.steps)

    def _source(self, out: Any, given: Sequence[Any]) -> Any:
        """Which input an output is; None for one that was made."""
        return next((k for k, t in enumerate(given) if t is out), None)

    def _find_places(self, given: Sequence[Any]) -> None:
        made = [out for out, source in zip(self.outputs, self.sources) if source is None]
        starts = [place(t.array) for t in given]
        calls = [step for step in self.steps if isinstance(step, CallStep)]
        self.baked = {
            k: a for k, (a, t) in enumerate(zip(starts, given))
            if k not in self.still and any(_meets(t.array, step.reads) for step in calls)
        }
        self.left = {id(out) for out in made
                     if any(_meets(out.array, [s.writes, *s.reads]) for s in calls)}
        self.current = [*starts, *(place(out.array) for out in self.outputs)]
        self.places: list[list[tuple[int, int]]] = [[] for _ in self.current]
        wanted = {a: k for k, a in enumerate(starts)
                  if given[k].array.size and k not in self.still and k not in self.baked}
        for k, out in enumerate(self.outputs):
            if self.sources[k] is None and id(out) not in self.left:
                wanted.setdefault(place(out.array), len(given) + k)
        for number, step in enumerate(self.steps):
            if isinstance(step, KernelStep):
                step.arguments = list(step.arguments)
                for at, value in enumerate(step.arguments):
                    if value in wanted:
                        self.places[wanted[int(value)]].append((number, at))

    # ---- again ----

    def moved(self, inputs: Sequence[Any]) -> list[int]:
        """Inputs that a library would look for in the wrong place."""
        return [k for k, kept in self.baked.items() if place(inputs[k].array) != kept]

    def run(self, inputs: Sequence[Any]) -> tuple:
        for k, copy in self.still.items():
            self.card.copy(copy, inputs[k].array)
        results = self._results(inputs)
        now = [cell(id(t.array) + DATA).value for t in (*inputs, *results)]  # `place` of each
        if now != self.current:
            self._update(now)
        self.replay.launch()
        return self.taken(results) if self.left else results

    def _update(self, now: list[int]) -> None:
        """Tell the replay where inputs and outputs are this time."""
        changed: set[int] = set()
        for there, before, places in zip(now, self.current, self.places):
            if there != before:
                for step, at in places:
                    self.steps[step].arguments[at] = there  # type: ignore[union-attr]
                    changed.add(step)
        self.current = now
        for step in changed:
            self.replay.set(step, self.steps[step].arguments)  # type: ignore[union-attr]

    def _results(self, inputs: Sequence[Any]) -> tuple:
        """A tensor for each output: an input, what is always the same, or new memory."""
        new = [wrap(make(), known) for make, known in self.makers]
        if self.all_new:
            return tuple(new)
        return tuple([new[where] if kind == MADE else inputs[where] if kind == GIVEN else
                      self.outputs[where] for kind, where in self.kinds])

    def _find_kinds(self) -> None:
        """What each output is, and what makes those that are new each time."""
        self.kinds: list[tuple[int, int]] = []
        self.makers: list[tuple[Callable[[], Any], Known]] = []
        known: dict[int, int] = {}
        for k, (out, source) in enumerate(zip(self.outputs, self.sources)):
            if source is not None:
                self.kinds.append((GIVEN, source))
            elif not self._is_made(out):
                self.kinds.append((CONSTANT, k))
            else:
                if id(out) not in known:
                    known[id(out)] = len(self.makers)
                    array = out.array
                    make = self.card.maker(array.shape, array.strides, array.dtype)
                    self.makers.append((make, learnt(array)))
                self.kinds.append((MADE, known[id(out)]))
        self.all_new = self.kinds == [(MADE, k) for k in range(len(self.makers))]

    def _is_made(self, out: Any) -> bool:
        base: Any = out.array
        while isinstance(base, np.ndarray):
            base = base.base
        return getattr(base, "pool", None) is self.pool

    def taken(self, results: tuple) -> tuple:
        """What a library left in memory of the replay's own, out of there."""
        for out, result in zip(self.outputs, results):
            if id(out) in self.left and result is not out:
                self.card.copy(result.array, out.array)
        return results


class Replaying:
    """A graph's `call`, by way of recordings."""

    def __init__(self, card: SiliconCard, call: Call, tell: Tell) -> None:
        self.card, self.call, self.tell = card, call, tell
        self.calls = self.recordings = 0
        self.moving: set[int] = set()
        self.recorded: Recorded | None = None
        self.refused = False
        self.lock = threading.Lock()

    def __call__(self, args: list[Any]) -> tuple:
        if self.refused:
            return self.call(args)
        with self.lock:
            recorded = self.recorded
            if recorded is None or cards.listening.steps is not None:
                return self._not_yet(args)
            moved = recorded.moved(args) if recorded.baked else []
            if moved:
                self.moving.update(moved)
                return self._record(args)
            results = recorded.run(args)
            args.clear()
            return results

    def _not_yet(self, args: list[Any]) -> tuple:
        """The first call, or one within a recording, is made as it is; the second one recorded."""
        self.calls += 1
        if self.calls == 1 or cards.recorded() is not None:
            return self.call(args)
        return self._record(args)

    def _record(self, args: list[Any]) -> tuple:
        inputs = list(args)
        args.clear()
        self.recordings += 1
        self.recorded = None
        if self.recordings > RECORDINGS:
            return self._refuse(f"recorded {RECORDINGS} times, and inputs still move", inputs)
        try:
            recorded = Recorded(self.card, self.call, inputs, self.moving)
        except Refused as why:
            return self._refuse(str(why), inputs, why.outputs)
        self.recorded = recorded
        self.tell("recorded", f"inputs {sorted(self.moving)} are copied" if self.moving else "",
                  len(recorded.steps))
        results = recorded._results(inputs)
        for out, result in zip(recorded.outputs, results):
            if result is not out and recorded._is_made(out):
                self.card.copy(result.array, out.array)
        return results

    def _refuse(self, why: str, inputs: list[Any], outputs: tuple | None = None) -> tuple:
        """From now on calls are made as they are; this one too, unless it gave `outputs` already.
        """
        self.refused = True
        self.tell("skipped", why, 0)
        return self.call(inputs) if outputs is None else outputs


def _meets(array: np.ndarray, spans: Sequence[tuple[int, int]]) -> bool:
    start, size = place(array), flat(array).nbytes
    return any(start < at + nbytes and at < start + size for at, nbytes in spans)


def _like(card: SiliconCard, array: np.ndarray) -> Any:
    return card.empty(array.shape, array.strides, array.dtype)


def _check_apart(given: Sequence[Any]) -> None:
    """Raises Refused, before the call is made, where an address would mean two inputs."""
    starts = [place(t.array) for t in given if t.array.size]
    if len(set(starts)) != len(starts):
        raise Refused("two inputs begin at one address")


def _copied(card: SiliconCard, array: Any) -> Any:
    made = _like(card, array)
    card.copy(made, array)
    return made
