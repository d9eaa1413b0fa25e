"""`mode="max-autotune"`: the form of each nest, measured on the card instead of chosen by sizes.

In: a schedule, the card in use.  Out: a form for each nest, and an event that says what was tried.
The search begins at the form that sizes choose (`form.py`), measures those beside it, goes on from
the fastest, and stops where none beside it is. It then races the two ends once more, and leaves the
first form only for a gain that no noise explains. What it found is kept on disk.
Compiling takes most of the time, half a second to one a form, and one after the other: numba has a
lock, and a process of its own takes two to three seconds to begin.
Symbols have their values of the call that compiles: the form is the fastest for those.
Inductor's max-autotune measures a list of configurations at the first call, on that call's tensors,
then goes on from the best one by coordinate descent, as here. Matrix products are a library's here,
which chooses for itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ... import trace
from ...fusion.ir import is_place
from ...fusion.nest import Nest
from ...fusion.scheduler import Schedule
from ...runtime.card import SiliconCard
from ...runtime.driver import OutOfMemory
from .. import cache
from ..printer import kernel_name
from ..progress import Progress
from . import choices, print_kernels
from .choices import Choice
from .form import Form, choose
from .neighbours import describe, neighbours
from .trial import Trial, Trials

GAIN = 0.02  # of the first form's time, below which it stays
STEP = 0.01  # of the fastest form's time so far, below which the search goes no further
TICK = 0.5  # us that a card's clock may be wrong by
LEAST = 4.0  # us: in a shorter kernel the launch is what takes long
ROUNDS, FINAL = 9, 25  # times that each form is measured in a race, and in the last one
STEPS = 4  # races, at most, of forms beside the fastest


def tuned(schedule: Schedule, card: Any) -> list[Form]:
    """The forms of a schedule's nests, and an event for each."""
    found = []
    with Progress(len(schedule.nests)) as progress:
        for number, nest in enumerate(schedule.nests):
            start, name = time.perf_counter(), kernel_name(nest, number)
            progress.at(number, name)
            form, event = _tuned(nest, name, card, schedule.program.seen)
            event.seconds = time.perf_counter() - start
            trace.emit(event)
            found.append(form)
    return found


def _tuned(nest: Nest, name: str, card: Any, seen: Mapping[str, Any]
           ) -> tuple[Form, trace.Autotuned]:
    first = choose(nest, seen)
    if why := why_not(nest, first, card):
        return first, trace.Autotuned(name, "skipped", why, describe(first))
    try:
        choice, outcome, kept = _known_or_measured(nest, first, card, seen)
    except OutOfMemory as full:
        why = f"there is no room for operands to measure on ({full})"
        return first, trace.Autotuned(name, "skipped", why, describe(first))
    reason = _reason(choice, first)
    what = first.reason if _same(choice.form, first) else describe(choice.form)
    return replace(choice.form, reason=f"{what}; {reason}"), trace.Autotuned(
        name, outcome, f"{reason}; {kept}" if kept else reason, describe(choice.form), choice.us,
        choice.first_us, choice.tried, choice.at)


def why_not(nest: Nest, first: Form, card: Any) -> str:
    """Why there is nothing to measure; "" if there is."""
    if not isinstance(card, SiliconCard) or not card.driver.has_clock:
        return f"{card.name} has no clock: sizes choose the form"
    if not neighbours(nest, first):
        return f"{first.name} is the only form there is"
    offsets = [e for node in nest.nodes for e in (*node.offsets, *node.indices)]
    if any(is_place(symbol) for e in offsets for symbol in e.symbols):
        return "which elements it reads is in its data, and numbers made up would say nothing"
    return ""


def _known_or_measured(nest: Nest, first: Form, card: SiliconCard, seen: Mapping[str, Any]
                       ) -> tuple[Choice, str, str]:
    """A choice; was it known; and why it will not be, if it could not be kept."""
    sizes = {symbol: seen[symbol] for symbol in nest.symbols if symbol in seen}
    key = choices.key_of(print_kernels(nest, "form", first), sizes, card)
    remembered = cache.clearings(), key
    known: Choice | None = card.kept.get(remembered) or choices.find(key)
    if known is not None:
        cache.count("form found")
        return known, "known", ""
    cache.count("form measured")
    trials = Trials(nest, card, seen)
    try:
        choice = search(trials, first, sizes)
    finally:
        trials.free()
    card.kept[remembered] = choice
    return choice, "measured", choices.keep(key, choice)


def _same(form: Form, other: Form) -> bool:
    """The same numbers, whatever the reason, which tells of the very sizes of a call."""
    return replace(form, reason=other.reason) == other


def _reason(choice: Choice, first: Form) -> str:
    """The times that decided."""
    at = f" at {choice.at}" if choice.at else ""
    if not _same(choice.form, first):
        return (f"measured{at}: {choice.us:.1f} us against {choice.first_us:.1f} us of "
                f"{describe(first)}")
    if choice.us < LEAST:
        return f"measured{at}: {choice.us:.1f} us, too short to choose by"
    others = len(choice.tried) - 1
    return f"measured{at}: {choice.us:.1f} us, none of {others} others is {GAIN:.0%} faster"


def search(trials: Trials, first: Form, sizes: Mapping[str, Any]) -> Choice:
    """Measure the first form, those beside it, those beside the fastest of them ... Raises
    OutOfMemory."""
    (best,) = start = trials.add([first])
    trials.race(start, ROUNDS)
    long_enough = best.us >= LEAST
    for _ in range(STEPS if long_enough else 0):
        beside = trials.add(neighbours(trials.nest, best.form))
        if not beside:
            break
        trials.race([best, *beside], ROUNDS)
        faster = min(beside, key=lambda trial: trial.us)
        if faster.us > (1 - STEP) * best.us:
            break
        best = faster
    best = _last(trials, start[0], best)
    at = ", ".join(f"{name}={value}" for name, value in sizes.items())
    tried = [[describe(t.form), round(t.us, 2), t.dropped] for t in trials.all]
    return Choice(best.form, round(best.us, 2), round(start[0].us, 2), tried, at)


def _last(trials: Trials, first: Trial, best: Trial) -> Trial:
    """The winner, if it is faster than the first form by more than noise, and the first otherwise.
    """
    if best is first:
        return first
    trials.race([first, best], FINAL)
    return best if first.us - best.us > max(GAIN * first.us, TICK) else first
