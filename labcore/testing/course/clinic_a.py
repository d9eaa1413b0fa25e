"""The repairs of clinic A: a type that is another one each time, and a day that gets slower.

Facts are variants, eager calls and values; what is left of the cause is read off the guards that
failed, never off the source.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from ...trace import Facts, GuardCheck, Recorder, facts as facts_of, record
from .result import Fact, Result, Unusable, ask, checked, shown

RATES = (0.5, 0.25, 0.125, 2.0, 4.0, 0.5, 1.5, 3.0, 0.75, 8.0)
# What a failed guard says -> what is looked at.
LEFT = (
    (r"changed\. expected ['\"]", "a text that is new at each call is looked at"),
    (r"^type of", "a type that is new at each call is looked at"),
    (r"changed\. expected -?[\d.]", "a number differs from call to call"),
    (r"size mismatch", "a batch has another size"),
)


def _watched(asking: Callable[[], Any]) -> tuple[Any, Recorder, Facts]:
    """The answer, and what happened meanwhile. The limit's warning is among the facts."""
    with warnings.catch_warnings(), record() as recorder:
        warnings.simplefilter("ignore", RuntimeWarning)
        answer = asking()
    return answer, recorder, facts_of(recorder)


def _left(recorder: Recorder) -> str:
    """What made variants, in words: one sentence for the first guards that failed."""
    reasons = [check.reason for check in recorder.of(GuardCheck) if not check.ok]
    found = [words for said, words in LEFT if any(re.search(said, reason) for reason in reasons)]
    return f"Left: {'; '.join(found)}." if found else ""


# ---- the first patient --------------------------------------------------------------------------


def _respond(x: Any, settings: Any) -> Any:
    return (x * settings.rate).relu()


@checked
def one_type(fn: Any) -> Result:
    """Patient 1: `fn(respond, x, rate)` answers ten requests, and they share their variants."""
    from ... import compile as compile_function, ones

    def ten_requests() -> list[Any]:
        respond = compile_function(_respond, backend="eager")
        return [ask(fn, respond, ones(4), rate) for rate in RATES]

    answers, recorder, told = _watched(ten_requests)
    facts = (
        Fact("answers", list(RATES), [_number(answer) for answer in answers]),
        Fact("calls of respond", 10, told.hits + told.compiled + told.eager),
        Fact("calls that ran eagerly", 0, told.eager),
        Fact("at most 2 variants", True, told.variants <= 2),
    )
    belief = _left(recorder)
    if told.hits + told.compiled + told.eager != len(RATES):
        belief = f"Each request calls respond once; what it gives is the answer. {belief}"
    elif not facts[0].holds:
        belief = f"The answers are another rate's: each request brings its own. {belief}"
    return Result(facts, belief.strip())


def _number(answer: Any) -> float:
    try:
        return float(answer if isinstance(answer, (int, float)) else answer.reshape(-1)[0].item())
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        raise Unusable("a tensor", shown(answer)) from None


# ---- the second patient -------------------------------------------------------------------------

ROWS, BATCH, EPOCHS = 1000, 64, 2
# What a repair has lost, by the fact that tells.
LOST = {
    "losses": "In each epoch there is a loss for every batch (the short one may go) and one of the "
    "evaluation.",
    "their values are eager's": "A loss is another than before: data, order and scale have to stay "
    "what they were, and padding must not count.",
    "gradients for training only": "Training wants gradients, the evaluation none: its no_grad is "
    "no fault.",
}


@checked
def calm_day(fn: Any) -> Result:
    """Patient 2: `fn(rows, targets, w)` gives the losses of a day, with 2 variants."""
    from ... import tensor

    rows = [[float((7 * n + 3 * k) % 11) / 11 for k in range(4)] for n in range(ROWS)]
    targets = [sum(row) / 2 for row in rows]
    w = tensor([1.0, -0.5, 0.25, 0.5], requires_grad=True)
    losses, recorder, told = _watched(lambda: ask(fn, tensor(rows), tensor(targets), w))
    if not isinstance(losses, (list, tuple)):
        raise Unusable("a list of losses", shown(losses))
    expected, wants = _losses(rows, targets, w.tolist(), short=len(losses) != 32)
    found = [round(_number(loss), 4) for loss in losses]
    gradients = [bool(getattr(loss, "requires_grad", False)) for loss in losses]
    facts = (
        Fact("losses", len(expected), len(losses)),
        Fact("their values are eager's", True, _close(found, expected)),
        Fact("gradients for training only", True, gradients == wants),
        Fact("losses from compiled code", len(losses), told.hits + told.compiled),
        Fact("calls that ran eagerly", 0, told.eager),
        Fact("at most 2 variants", True, told.variants <= 2),
    )
    lost = [LOST[fact.name] for fact in facts[:3] if not fact.holds]
    belief = lost[0] if lost else _left(recorder)
    if not (belief or facts[3].holds):
        belief = "Some losses come from no compiled code: compile once, and use it all day."
    if told.variants > 8:
        belief = f"A higher limit moved the cliff: {told.variants} variants now. {belief}"
    return Result(facts, belief)


def _close(found: list[float], expected: list[float]) -> bool:
    return len(found) == len(expected) and all(
        abs(a - b) <= 1e-3 * (1 + abs(b)) for a, b in zip(found, expected)
    )


def _losses(
    rows: list[list[float]], targets: list[float], w: list[float], short: bool
) -> tuple[list[float], list[bool]]:
    """The losses of the program as found, and which of them want a gradient; without those of the
    short batches where those were dropped."""
    batches = [slice(start, start + BATCH) for start in range(0, ROWS, BATCH)]
    kept = batches if short else batches[: ROWS // BATCH]
    means = [_mean_square(rows[part], targets[part], w) for part in kept]
    training = [mean * min(1.0, (i + 1) / 10) for i, mean in enumerate(means)]
    epoch = [*training, means[0]]
    wants = [*[True] * len(training), False]
    return [round(loss, 4) for loss in epoch * EPOCHS], wants * EPOCHS


def _mean_square(rows: list[list[float]], targets: list[float], w: list[float]) -> float:
    errors = [sum(a * b for a, b in zip(row, w)) - t for row, t in zip(rows, targets)]
    return sum(error**2 for error in errors) / len(errors)
