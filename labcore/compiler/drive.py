"""The trampoline: regions, and between two of them one instruction in CPython.

In: frames and the stop they stand at.  Out: what the call returns, or the exception it raises.
Invariant: nothing recurses, so a loop of any length needs no stack, and where frames stand a second
time the region is found that was captured the first time.
PyTorch chains resume functions, each called by the one before, and leaves loops with a break alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import trace
from ..capture import Frame, Stop, leave, run_rest, step
from ..capture.steps import unwind
from ..guards import EAGER, MISS, End, Variant
from .exc import CompileError
from .points import BackendAtWork, Point
from .telling import run_rest_watched, step_watched

if TYPE_CHECKING:
    from .state import State


def drive(state: State, frames: list[Frame], stop: Stop, call: int | None = None) -> Any:
    """From a stop to the return of the outermost frame. `call`: somebody watches it."""
    outcome: Any = stop
    while True:
        point: Point | None = None
        stands = type(outcome) is Stop
        if stands and not outcome.rest:
            if step(frames, outcome) if call is None else step_watched(frames, outcome, call):
                point = outcome.following
                if point is None:
                    point = outcome.following = _point(state, frames)
        elif stands or outcome is EAGER:
            finished = run_rest(frames) if call is None else run_rest_watched(frames, call)
            if finished is not None:
                return finished[0]
        elif type(outcome) is End:
            return _in_python(state, frames, outcome)
        else:
            leave(frames, 0)
            return outcome
        if point is None:
            point = _point(state, frames)
        try:
            if call is not None:
                outcome = _watched(state, point, frames, call)
            else:
                outcome = point.cache.first(frames)
                if outcome is MISS:
                    outcome = point.find((frames,))
        except BackendAtWork:
            return _to_the_end(frames)
        except CompileError as error:  # it comes from where the frames stand, and a handler of
            outcome = EAGER  # the user's is CPython's to run
            unwind(frames, error.with_traceback(None), mark=True)
        except Exception as error:
            outcome = state.failed(error)


def _point(state: State, frames: list[Frame]) -> Point:
    """Where the frames stand."""
    if len(frames) == 1:
        frame = frames[0]
        key: Any = ((id(frame.code), frame.offset),)
    else:
        key = tuple([(id(frame.code), frame.offset) for frame in frames])
    point = state.points.get(key)
    if point is None:
        point = state.points.setdefault(key, Point(state, key, frames))
    return point


def _watched(state: State, point: Point, frames: list[Frame], call: int) -> Any:
    """The outcome of the region at a point, telling each step."""
    from .state import ask

    slots = (frames,)
    variants = point.cache.variants
    for place, variant in enumerate(variants):
        if ask(variant, slots, call):
            outcome = _execute(point, variant, slots, call, hit=True)
            point.cache.promote(variants, place)
            return outcome
    made = point.add_variant(slots, call)
    if made is None:
        return EAGER
    state.compiled_calls.add(call)
    return _execute(point, made, slots, call, hit=False)


def _execute(point: Point, variant: Variant, slots: tuple[Any, ...], call: int, hit: bool) -> Any:
    if variant.result == "graph":
        trace.emit(trace.Execute(call, hit, compile_id=variant.compile_id))
    return variant.run(*slots) if hit else point.run_new(variant, slots)


def _in_python(state: State, frames: list[Frame], failed: Any) -> Any:
    """A region raised, and nothing of it has happened yet: CPython runs all that is left, and
    raises in the user's code."""
    return state.settle(failed, _to_the_end(frames))


def _to_the_end(frames: list[Frame]) -> Any:
    """CPython runs all frames; what the outermost one returns."""
    while True:
        finished = run_rest(frames)
        if finished is not None:
            return finished[0]
