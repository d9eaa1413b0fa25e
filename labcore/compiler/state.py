"""One compiled function's state: its variants, and how a call finds or makes the one that fits.

In: a call's bound arguments.  Out: `(RETURN, value)` or EAGER, as the variants give it.
Invariant: variants are made under the function's lock and found without it; what failed leaves
nothing behind.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from types import FunctionType
from typing import Any

from .. import trace
from ..capture import WouldRaise
from ..capture.bytecode import forget as forget_tables
from ..guards import EAGER, MISS, RECOMPILE_LIMIT, Variant, VariantCache
from ..guards.kinds import ATOMS, is_too_long
from ..guards.replay import failure, replay
from ..tensor import Tensor
from . import frames
from .build import Options, build
from .exc import CompileError, FailOnRecompileLimitHit, InternalError
from .frames import FrameId, frame_of

_states: weakref.WeakSet[State] = weakref.WeakSet()
_calls = itertools.count()
strict = False  # tests: a contradiction between capture and CPython is an error at once
contradictions = 0  # how many there were


class State:
    """Everything `compile` knows of one function."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        self.function, self.options = function, options
        self.cache = VariantCache()
        self.code = function.__code__
        self.run_eagerly: Any = None  # set with the dispatcher, as is `print_anew`
        self.print_anew: Any = None
        _states.add(self)

    @property
    def frame(self) -> FrameId:
        return frame_of(self.function.__code__)

    def renew(self) -> None:
        """The function was given other code, as a notebook's autoreload does: start afresh."""
        with self.cache.lock:
            self.cache.clear()
            self.code = self.function.__code__
            self.print_anew()

    # ---- a call that nobody watches ----

    def find(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of a call which the first variant does not fit."""
        outcome = self.cache.others(slots)
        if outcome is not MISS:
            return outcome
        variant = self.add_variant(slots)
        return EAGER if variant is None else self._run_new(variant, slots)

    def add_variant(self, slots: tuple[Any, ...], call: int = -1) -> Variant | None:
        """Make a variant for this call, or find the one another thread just made. None: run
        eagerly, keep nothing."""
        with self.cache.lock:
            for variant in self.cache.variants:
                if failure(variant, slots) is None:
                    return variant
            if trace.listening():
                trace.emit(
                    trace.CacheMiss(
                        call, self.frame.number, len(self.cache.variants), self.reasons(slots)
                    )
                )
            if self.cache.full:
                self._limit_reached(slots)
                return None
            compile_id = self.frame.next_variant()
            try:
                with trace.compiling(compile_id):
                    variant = build(self.function, slots, self.options, compile_id)
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

    def reasons(self, slots: tuple[Any, ...]) -> list[str]:
        """Why each variant does not fit."""
        found = []
        for variant in self.cache.variants:
            answer = failure(variant, slots)
            if answer is not None and answer.mismatch is not None:
                found.append(f"{variant.compile_id}: {answer.mismatch.reason}")
        return found

    def _run_new(self, variant: Variant, slots: tuple[Any, ...]) -> Any:
        """A variant made for this very call fits it, unless somebody changes what it looks at
        meanwhile."""
        outcome = variant.run(*slots)
        if outcome is MISS:
            answer = failure(variant, slots)
            reason = answer.mismatch.reason if answer and answer.mismatch else "no guard fails now"
            contradiction(
                f"variant {variant.compile_id} of {self.function.__qualname__} "
                f"does not fit the call it was made for: {reason}"
            )
            return EAGER
        return outcome

    def _limit_reached(self, slots: tuple[Any, ...]) -> None:
        """Old variants are still served; this call runs eagerly."""
        code = self.function.__code__
        text = (
            f"{self.function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) has "
            f"{RECOMPILE_LIMIT} variants, "
            f"the recompile limit; calls that fit none of them run eagerly from now on.\n"
            f"  last reason: {self.reasons(slots)[0]}"
        )
        if self.options.fullgraph:
            raise FailOnRecompileLimitHit(text)
        if not self.cache.warned:
            self.cache.warned = True
            warnings.warn(text, RuntimeWarning, stacklevel=5)

    # ---- calls that raise ----

    def failed(self, error: Exception) -> Failed:
        """Capture or a graph raised. Nothing of the call has happened yet, so CPython runs it,
        and raises in the user's code."""
        if isinstance(error, CompileError):
            raise error.with_traceback(None)  # its text says where in the user's code it was
        return Failed(error)

    def settle(self, failed: Failed, value: Any) -> Any:
        """CPython ran the call and did not raise, so the error was the lab's or the backend's
        own."""
        error = failed.error
        if not isinstance(error, WouldRaise):
            error.add_note(
                f"(raised by the compiled {self.function.__qualname__}; the same call runs eagerly)"
            )
            raise error
        contradiction(
            f"capture of {self.function.__qualname__} expected {error.error!r}, but the call "
            f"succeeds eagerly"
        )
        return value

    # ---- a call that somebody watches ----

    def traced(self, slots: tuple[Any, ...]) -> Any:
        """The same call, telling each step; the guards are asked one by one first."""
        call = next(_calls)
        inputs = [show_value(value) for value in slots]
        trace.emit(trace.CallBegin(call, self.frame.number, self.function.__qualname__, inputs))
        result = "raised"
        try:
            value, result = self._traced(call, slots)
            return value
        finally:
            trace.emit(trace.CallEnd(call, result))

    def _traced(self, call: int, slots: tuple[Any, ...]) -> tuple[Any, str]:
        outcome: Any = MISS
        result = "hit"
        try:
            for variant in self.cache.variants:
                if ask(variant, slots, call):
                    outcome = self._execute(call, variant, slots, hit=True)
                    self.cache.promote(variant)
                    break
            if outcome is MISS:
                result = "compiled"
                made = self.add_variant(slots, call)
                outcome = EAGER if made is None else self._execute(call, made, slots, hit=False)
        except Exception as error:
            outcome = self.failed(error)
        if type(outcome) is tuple:
            return outcome[1], result
        value = self.run_eagerly(*slots)
        return (value if outcome is EAGER else self.settle(outcome, value)), "eager"

    def _execute(self, call: int, variant: Variant, slots: tuple[Any, ...], hit: bool) -> Any:
        if variant.result == "graph":
            trace.emit(trace.Execute(call, hit, compile_id=variant.compile_id))
        return variant.run(*slots) if hit else self._run_new(variant, slots)


class Failed:
    """An outcome: running the call compiled raised `error`."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def ask(variant: Variant, slots: tuple[Any, ...], call: int) -> bool:
    """Ask a variant's guards, one event each. Do all hold?"""
    for answer in replay(variant, slots):
        guard, mismatch = answer.guard, answer.mismatch
        event = trace.GuardCheck(
            call,
            answer.index,
            mismatch is None,
            guard.words if guard else "a value to load",
            origin=guard.origin if guard else None,
            compile_id=variant.compile_id,
        )
        if mismatch is not None:
            event.expected, event.actual, event.reason = (
                mismatch.expected,
                mismatch.actual,
                mismatch.reason,
            )
        elif guard is not None:
            event.expected = event.actual = guard.expected
        trace.emit(event)
        if mismatch is not None:
            return False
    return True


def show_value(value: Any) -> str:
    """An argument in a word, without running code of the user's."""
    if type(value) is Tensor:
        return str(value.meta)
    shows = type(value) in ATOMS and not is_too_long(value)
    return repr(value) if shows else type(value).__name__


def contradiction(text: str) -> None:
    """Capture and CPython disagree: an error in tests, a warning otherwise."""
    global contradictions
    contradictions += 1
    if strict:
        raise InternalError(text)
    warnings.warn(
        f"labcore: {text} (a bug of the lab; the result is the eager one)",
        RuntimeWarning,
        stacklevel=3,
    )


def reset() -> None:
    """Forget all variants of all compiled functions, and number frames from 0 again."""
    for state in list(_states):
        state.cache.clear()
    forget_tables()
    frames.reset()
