"""One compiled function's state: its points with their variants, and what becomes of a call that
raises, or that somebody watches.

In: a call's bound arguments.  Out: what the call returns.
Invariant: what failed has had no effect, so CPython can run it again.
"""

from __future__ import annotations

import itertools
import weakref
from types import FunctionType
from typing import Any

from .. import trace
from ..capture import Break, Frame, Stop, WouldRaise
from ..capture.bytecode import forget as forget_tables
from ..capture.numbers import Varying
from ..capture.skipping import forget as forget_skipped
from ..guards import EAGER, MISS, End, Variant
from ..tensor.replaced import on_replacing
from . import frames
from .build import Options
from .dispatcher import call_with
from .drive import drive
from .exc import CompileError, InternalError
from .graphs import CompiledGraphs
from .guard_matrix import checks
from .points import Point
from .showing import show_call
from .stance import stance
from .warn import warn

_states: weakref.WeakSet[State] = weakref.WeakSet()
_calls = itertools.count()
strict = False  # tests: a contradiction between capture and CPython is an error at once
contradictions = 0  # how many there were


class State:
    """Everything `compile` knows of one function."""

    def __init__(self, function: FunctionType, options: Options) -> None:
        self.function, self.options = function, options
        self.entry = Point(self)
        self.cache = self.entry.cache
        self.points: dict[Any, Point] = {}  # by where the frames stand
        self.graphs = CompiledGraphs()  # by what they compute
        self.reported: set[Any] = set()  # breaks that were told already
        self.compiled_calls: set[int] = set()  # watched calls on their way that captured something
        self.warned = False  # of the recompile limit, at one place or another
        self.was_called = False  # under a stance for which that counts
        self.catches = False  # is there an except or a with in code that was captured?
        self.remember()
        self.print_anew: Any = None  # set with the dispatcher
        _states.add(self)

    def renewed(self, slots: tuple[Any, ...]) -> Any:
        """The function was given other code, as a notebook's autoreload does, or other defaults:
        the call is made again, of a compiled function that knows."""
        code = self.code
        with self.cache.lock:
            if self.function.__code__ is not code:
                self.forget()
            compiled = self.print_anew()
        return call_with(compiled, code, slots)

    def missed(self, slots: tuple[Any, ...]) -> Any:
        """The outcome of a call that no variant fits."""
        if self.function.__defaults__ is not self.defaults:
            self.print_anew()  # for calls to come; this one has all its arguments
        return self.entry.missed(slots)

    def remember(self) -> None:
        """What a dispatcher is printed for."""
        self.code, self.defaults = self.function.__code__, self.function.__defaults__

    def run_eagerly(self, *slots: Any) -> Any:
        """The user's function with bound arguments."""
        return call_with(self.function, self.code, slots)

    def forget(self) -> None:
        """Start afresh."""
        self.cache.clear()
        self.points.clear()
        self.graphs.clear()
        self.reported.clear()
        self.entry.varying = Varying()
        self.was_called = self.warned = False

    def first_time(self, stop: Break | None) -> Break | None:
        """The break, if it is the first of its kind at its place: each is told once."""
        if stop is None or (stop.id, stop.origin) in self.reported:
            return None
        self.reported.add((stop.id, stop.origin))
        return stop

    # ---- calls that raise ----

    def failed(self, error: Exception) -> End:
        """Capture or a graph raised. Nothing of the call has happened yet, so CPython runs it,
        and raises in the user's code: how it ended is the error."""
        if isinstance(error, CompileError):
            raise error.with_traceback(None)  # its text says where in the user's code it was
        if isinstance(error, WouldRaise):  # tracebacks would keep the values of the call
            error.with_traceback(None)
            error.__context__ = None
            if error.error is not None:
                error.error.with_traceback(None)
        return End(error)

    def settle(self, failed: End, value: Any) -> Any:
        """CPython ran the call and did not raise, so the error was the lab's or the backend's
        own; unless a handler of the user's has caught it."""
        error = failed.how
        if not isinstance(error, WouldRaise):
            if self.catches and not strict:
                return value
            error.add_note(
                f"(raised by the compiled {self.function.__qualname__}; the same call runs eagerly)"
            )
            raise error
        contradiction(
            f"capture of {self.function.__qualname__} expected {error}, but the call succeeds "
            f"eagerly"
        )
        return value

    # ---- a call that somebody watches ----

    def watched(self, slots: tuple[Any, ...]) -> Any:
        """The same call, telling each step; the guards are asked one by one first."""
        if stance() == "force_eager":
            return self.run_eagerly(*slots)
        call = next(_calls)
        shown, number = show_call(self.function, slots), self.entry.frame.number
        trace.emit(trace.CallBegin(call, number, shown.function, shown.inputs, shown.leaves))
        result = "raised"
        try:
            value, result = self._watched(call, slots)
            return value
        finally:
            trace.emit(trace.CallEnd(call, result))

    def _watched(self, call: int, slots: tuple[Any, ...]) -> tuple[Any, str]:
        outcome: Any = MISS
        result = "hit"
        try:
            variants = self.cache.variants
            for place, variant in enumerate(variants):
                if ask(variant, slots, call):
                    outcome = self._execute(call, variant, slots, hit=True)
                    self.cache.promote(variants, place)
                    break
            if outcome is MISS:
                result = "compiled"
                made = self.entry.add_variant(slots, call)
                outcome = EAGER if made is None else self._execute(call, made, slots, hit=False)
        except Exception as error:
            outcome = self.failed(error)
        if type(outcome) is not End:
            return outcome, result
        if outcome.frames is not None:
            return self._resume_watched(call, outcome.frames, outcome.how, result)
        value = self.run_eagerly(*slots)
        return (value if outcome is EAGER else self.settle(outcome, value)), "eager"

    def _resume_watched(
        self, call: int, frames: list[Frame], stop: Stop, result: str
    ) -> tuple[Any, str]:
        try:
            value = drive(self, frames, stop, call)
            return value, "compiled" if call in self.compiled_calls else result
        finally:
            self.compiled_calls.discard(call)

    def _execute(self, call: int, variant: Variant, slots: tuple[Any, ...], hit: bool) -> Any:
        if variant.result == "graph":
            trace.emit(trace.Execute(call, hit, compile_id=variant.compile_id))
        return variant.run(*slots) if hit else self.entry.run_new(variant, slots)


def ask(variant: Variant, slots: tuple[Any, ...], call: int) -> bool:
    """Ask a variant's guards, one event each. Do all hold?"""
    holds = True
    for check in checks(variant, slots, call):
        trace.emit(check)
        holds = check.ok
    return holds


def contradiction(text: str) -> None:
    """Capture and CPython disagree: an error in tests, a warning otherwise."""
    global contradictions
    contradictions += 1
    if strict:
        raise InternalError(text)
    warn(f"labcore: {text} (a bug of the lab; the result is the eager one)")


def forget_all() -> None:
    """Forget all variants of all compiled functions."""
    for state in list(_states):
        state.forget()


on_replacing(forget_all)


def reset() -> None:
    """The same, and number frames from 0 again."""
    forget_all()
    forget_tables()
    forget_skipped()
    frames.reset()
