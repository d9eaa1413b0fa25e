"""Where captured code begins: at a call, or where the frames of a call on its way stand.

In: the values that a variant there is asked with (arguments, or the list of frames).  Out: the
outcome of the variant that fits; one is made where none does.
Invariant: variants are made under the point's lock and found without it; what failed leaves nothing
behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import trace
from ..capture import Frame
from ..capture.numbers import Varying
from ..guards import EAGER, MISS, Variant, VariantCache
from ..guards.replay import failure
from ..trace.text import with_place
from .build import build
from .exc import FailOnRecompileLimitHit, RecompileForbidden
from .frames import FrameId, frame_at, frame_of
from .limit import limit_text
from .stance import stance
from .varying import notice
from .warn import warn

if TYPE_CHECKING:
    from .state import State

Key = tuple[tuple[int, int], ...]


class BackendAtWork(Exception):
    """Nobody waits for a backend; see `Point.add_variant`."""


class Point:
    """A place with its variants. The call's own has no `key`."""

    def __init__(self, state: State, key: Key = (), frames: Sequence[Frame] = ()) -> None:
        self.state, self.key = state, key
        self.cache = VariantCache(state.options.recompile_limit)
        self.codes = tuple(frame.code for frame in frames)  # kept alive: the key has their ids
        self.line = frames[-1].code.co_firstlineno if frames else 0
        self.varying = Varying()
        self.backend_works = False

    @property
    def frame(self) -> FrameId:
        if self.key:
            return frame_at(self.key, self.codes)
        return frame_of(self.state.function.__code__)

    @property
    def title(self) -> str:
        """The function, and where a region inside of it goes on."""
        name = self.state.function.__name__
        if not self.key:
            return name
        line = trace_line(self.codes[-1], self.key[-1][1])
        inner = self.codes[-1].co_name
        return f"{name} from line {line}" + (f" of {inner}" if len(self.codes) > 1 else "")

    def find(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of what the first variant does not fit."""
        outcome = self.cache.others(slots)
        return self.missed(slots) if outcome is MISS else outcome

    def missed(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of what no variant fits."""
        variant = self.add_variant(slots)
        return EAGER if variant is None else self.run_new(variant, slots)

    def add_variant(self, slots: tuple[Any, ...], call: int = -1) -> Variant | None:
        """Make a variant, or find the one another thread just made. None: CPython is to run it,
        and nothing is kept.

        While a backend works on a variant of this place, nobody waits for it: the backend may wait
        for the very thread that asks, or be asking itself. Raises BackendAtWork then, for a call on
        its way: CPython is to run all the rest of it, or it would stand where no other call does.
        """
        if self.backend_works:
            if self.key:
                raise BackendAtWork
            return None
        with self.cache.lock:
            for variant in self.cache.variants:
                if failure(variant, slots) is None:
                    return variant
            if trace.listening():
                miss = (self.frame.number, len(self.cache.variants), *self.reasons(slots))
                trace.emit(trace.CacheMiss(call, *miss))
            if self._stays_eager(slots):
                return None
            self.varying = notice(self, slots)
            compile_id = self.frame.next_variant()
            try:
                with trace.compiling(compile_id):
                    variant = build(self, slots, compile_id)
            except BaseException:
                self.frame.give_back(compile_id)
                raise
            variant = self.cache.add(variant)
            if trace.listening():
                event = trace.VariantAdded(
                    self.frame.number, variant.title, variant.result, compile_id=compile_id
                )
                trace.emit(event)
            return variant

    def _stays_eager(self, slots: tuple[Any, ...]) -> bool:
        """Is nothing compiled for this call: by the stance in force, or by the limit?

        Raises RecompileForbidden or FailOnRecompileLimitHit where eager is not wanted either.
        """
        match stance():
            case "fail_on_recompile":
                told = [with_place(*pair) for pair in zip(*self.reasons(slots))]
                raise RecompileForbidden(self.state.function, told)
            case "eager_on_recompile":
                return True
            case "eager_then_compile" if not self.key and not self.state.was_called:
                self.state.was_called = True
                return True
        if self.cache.full:
            self._limit_reached(slots)
        return self.cache.full

    def reasons(self, slots: tuple[Any, ...]) -> tuple[list[str], list[str]]:
        """Why each variant does not fit, and the lines that needed what does not hold."""
        found, places = [], []
        for variant in self.cache.variants:
            answer = failure(variant, slots)
            if answer is not None and answer.mismatch is not None:
                found.append(f"{variant.compile_id}: {answer.mismatch.reason}")
                places.append(answer.origin.beside() if answer.origin is not None else "")
        return found, places

    def run_new(self, variant: Variant, slots: tuple[Any, ...]) -> Any:
        """A variant made for these very values fits them, unless somebody changes what it looks
        at meanwhile. Raises WouldRaise for one that is to raise: CPython has to agree."""
        if variant.expected is not None:
            raised, variant.expected = variant.expected, None
            raise raised
        outcome = variant.run(*slots)
        if outcome is MISS:
            answer = failure(variant, slots)
            reason = answer.mismatch.reason if answer and answer.mismatch else "no guard fails now"
            from .state import contradiction

            contradiction(
                f"variant {variant.compile_id} of {self.state.function.__qualname__} "
                f"does not fit the call it was made for: {reason}"
            )
            return EAGER
        return outcome

    def _limit_reached(self, slots: tuple[Any, ...]) -> None:
        """Old variants are still served; what fits none of them runs in CPython."""
        text = limit_text(self, slots)
        if self.state.options.fullgraph:
            raise FailOnRecompileLimitHit(text)
        if not self.state.warned:
            self.state.warned = True
            warn(text)


def trace_line(code: Any, offset: int) -> int:
    """The line of an instruction."""
    lines = [line for start, end, line in code.co_lines() if start <= offset < end]
    return (lines[0] if lines else None) or code.co_firstlineno
