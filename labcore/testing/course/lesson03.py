"""The exercises of lesson 03: a check by hand, a cache, five variants, a text, and guesses."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from ...trace import CallEnd, GraphCaptured, GuardCheck, Handover
from .facts import Seen, seen
from .result import Fact, Result, Unusable, ask, begun, checked, kind_of, shown

# What a guard asks for, by the probe that only it refuses.
ASKED = {
    "float64": "the dtype",
    "length 8": "the sizes",
    "bias of stride 2": "the strides, those of bias as well",
    "bias requires_grad": "requires_grad, of bias as well",
    "under no_grad": "the grad mode, which no argument has",
}


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


# ---- a check by hand ----------------------------------------------------------------------------


def _probes() -> dict[str, tuple[Any, Any, bool]]:
    """x and bias of a later call by what is different, and whether gradients are recorded."""
    from ... import ones, tensor

    return {
        "the same": (ones(4), ones(4), True),
        "other values": (tensor([7.0] * 4), ones(4), True),
        "NaN": (tensor([float("nan")] * 4), ones(4), True),
        "float64": (ones(4).double(), ones(4), True),
        "length 8": (ones(8), ones(8), True),
        "bias of stride 2": (ones(4), ones(8)[::2], True),
        "bias requires_grad": (ones(4), ones(4).requires_grad_(), True),
        "under no_grad": (ones(4), ones(4), False),
    }


@checked
def holds(fn: Any) -> Result:
    """Exercise 1: `fn(x, bias)` says whether the variant made for two times ones(4) fits."""
    from ... import no_grad

    facts, found = [], {}
    for name, (x, bias, grad) in _probes().items():
        with contextlib.nullcontext() if grad else no_grad():
            answer, truth = ask(fn, x, bias), _fits(x, bias)
        if not isinstance(answer, bool):
            raise Unusable("True or False", shown(answer))
        found[name] = answer
        facts.append(Fact(name, truth, answer))
    return Result(tuple(facts), _belief_of_holds(facts, found))


def _fits(x: Any, bias: Any) -> bool:
    """What the compiler's own guards say."""
    from ... import compile as compile_function, enable_grad, ones
    from ...compiler import set_stance
    from ...compiler.exc import RecompileForbidden

    compiled = compile_function(_block, backend="eager", dynamic=False)
    with enable_grad():
        compiled(ones(4), ones(4))
    with set_stance("fail_on_recompile"):
        try:
            compiled(x, bias)
        except RecompileForbidden:
            return False
    return True


def _belief_of_holds(facts: Sequence[Fact], found: dict[str, bool]) -> str:
    stale = [fact.name for fact in facts if fact.found and not fact.expected]
    if not found["the same"]:
        return "The very inputs that the variant was made for are refused: begin there."
    if not (found["NaN"] and found["other values"]):
        return "No guard asks for the numbers inside: only the plan has to fit, not the values."
    if len(stale) == 4:
        return "Equal shapes are not enough: on 4 of these 8 calls stale code would have run."
    if stale:
        asks = "; ".join(ASKED[name] for name in stale)
        return f"Stale code would have run for: {', '.join(stale)}. Ask for {asks}."
    return ""


# ---- a cache ------------------------------------------------------------------------------------


@checked
def cache(cls: Any) -> Result:
    """Exercise 2: `cls(build)` called with x asks its variants, the one used last first."""
    from ... import ones

    asked: list[int] = []
    ran: list[int] = []
    built: list[str] = []

    def build(x: Any) -> tuple[Callable[[Any], bool], Callable[[Any], Any]]:
        number, shape, dtype = len(built), x.shape, x.dtype
        built.append(str(x.meta))

        def guard(y: Any) -> bool:
            asked[-1] += 1
            return bool(y.shape == shape and y.dtype is dtype)

        def code(y: Any) -> Any:
            ran.append(number)
            return y * 2

        return guard, code

    store = ask(cls, build)
    for x in [*map(ones, (4, 8, 4, 8, 8, 4)), ones(4).double()]:
        asked.append(0)
        answer = ask(store, x)
        if getattr(answer, "shape", None) != x.shape:
            raise Unusable("what the code gives for x", shown(answer))
    facts = (
        Fact("built", ["float32[4]", "float32[8]", "float64[4]"], built),
        Fact("which code ran", [0, 1, 0, 1, 1, 0, 2], ran),
        Fact("variants asked", [0, 1, 2, 2, 1, 2, 2], asked),
    )
    return Result(facts, _belief_of_cache(built, asked))


def _belief_of_cache(built: list[str], asked: list[int]) -> str:
    if not any(asked):
        return "Nobody was asked: a key of your own forgets what the guards know, as the type."
    if len(built) > 3:
        return "Something was built twice: keep every variant, a newer one replaces none."
    if len(built) < 3:
        return "Code ran for an input that its guard refuses: build where no guard says yes."
    if asked == [0, 1, 1, 2, 2, 1, 2]:
        return "You ask in the order of building: move the variant that fits to the front."
    if asked[1:4] == [1, 1, 2]:
        return "A new variant is the one used last: it goes to the front, too."
    if asked == [0, 1, 2, 2, 2, 2, 2]:
        return "You go on asking when one has fitted: the first that fits runs, the rest wait."
    return "A call asks the variants one by one, the one used last first, and runs what fits."


# ---- five variants ------------------------------------------------------------------------------


@checked
def five_variants(inputs: Any) -> Result:
    """Exercise 3: five tensors; each of the last four fails another guard of the first variant."""
    from ... import Tensor

    if not isinstance(begun(inputs), (list, tuple)) or len(inputs) != 5:
        raise Unusable("a list of five tensors", shown(inputs))
    if not all(isinstance(x, Tensor) for x in inputs):
        raise Unusable("a list of five tensors", ", ".join(type(x).__name__ for x in inputs))
    told = seen(lambda x: x.relu(), *((x,) for x in inputs), backend="eager", dynamic=False)
    checks = told.trace.of(GuardCheck)
    first = min((check.compile_id for check in checks), key=_number, default="")
    failed = [_failure(c) for c in checks if c.compile_id == first and not c.ok]
    facts = (
        Fact("captures", (1, 2, 3, 4, 5), told.captures),
        Fact("failed", ["dtype", "rank", "requires_grad", "stride"], sorted(failed)),
    )
    belief = ""
    if "size" in failed:
        belief = "Another size is another guard; these four are dtype, rank, stride, requires_grad."
    elif len(set(failed)) < len(failed):
        belief = "The first guard that fails hides those after it: change one thing in each call."
    elif told.captures[-1] < 5:
        belief = "One of these calls was served by a variant that was there already."
    else:
        left = {"dtype", "rank", "requires_grad", "stride"} - set(failed)
        belief = f"No call has failed this guard yet: {', '.join(sorted(left))}."
    return Result(facts, belief)


def _number(compile_id: str) -> int:
    return int(compile_id.partition("/")[2])


def _failure(check: GuardCheck) -> str:
    found = re.search(r"'x' (\w+) mismatch", check.reason)
    return found[1] if found else check.text


# ---- a number in a text -------------------------------------------------------------------------


@checked
def settles(fn: Any) -> Result:
    """Exercise 4: `fn(x, state)` is x times the calls before it, and soon stops compiling."""
    from ... import ones

    state = {"count": "0"}
    told = seen(fn, *[(ones(4), state)] * 8, backend="eager")
    values = _first_of_each(told)
    facts = (
        Fact("values", [float(n) for n in range(8)], values),
        Fact("at most 3 captures in eight calls", True, told.captures[-1] <= 3),
    )
    belief = ""
    if told.captures[-1] > 3:
        belief = f"Captures {told.captures}: a text that was looked at is a constant, each anew."
    elif len(set(values)) == 1:
        belief = "The count stands still: what a call changes, the next call has to see."
    elif values[:2] == [0.0, 0.0]:
        belief = "The first call has to leave its count where the second looks for it."
    elif values == [float(n) for n in range(1, 9)]:
        belief = "One ahead: x times the calls before this one, so the first gives x times 0."
    else:
        belief = "Call n gives x times n - 1, in whatever form the count is kept."
    return Result(facts, belief)


def _first_of_each(told: Seen) -> list[float]:
    from ... import Tensor

    for value in told.values:
        if not isinstance(value, Tensor):
            raise Unusable("a tensor like x", kind_of(value))
        if value.ndim != 1:
            raise Unusable("a tensor like x", f"one of {value.ndim} axes")
    return [value[0].item() for value in told.values]


# ---- guesses ------------------------------------------------------------------------------------

WORDS = ("hit", "compile", "break")
BELIEFS = {
    "hit": "all guards of a variant hold, and older variants are kept.",
    "compile": "no variant was made for this size and these values.",
    "break": "a line needs Python, on this call as on every other that reaches it.",
}


@checked
def outcomes(fn: Any, calls: Any, guesses: Any) -> Result:
    """Say for each call whether it is a "hit", makes the compiler "compile", or meets a "break"
    (whatever else it does); every size and number is compiled for itself."""
    form = f"{len(calls)} words, each one of {', '.join(map(repr, WORDS))}"
    if not isinstance(begun(guesses), (list, tuple)):
        raise Unusable(form, shown(guesses))
    wrong = [guess for guess in guesses if guess not in WORDS]
    if wrong or len(guesses) != len(calls):
        raise Unusable(form, shown(wrong[0] if wrong else guesses))
    told = seen(fn, *calls, backend="eager", dynamic=False)
    happened = _happened(told)
    pairs = enumerate(zip(happened, guesses), 1)
    facts = tuple(Fact(f"call {n}", truth, guess) for n, (truth, guess) in pairs)
    right = sum(fact.holds for fact in facts)
    first = next((fact for fact in facts if not fact.holds), None)
    belief = f"In {first.name}: {BELIEFS[first.expected]}" if first else ""
    return Result(facts, f"{right} of {len(facts)} right. {belief}")


def _happened(told: Seen) -> list[str]:
    words = []
    met = captured = 0
    for event in told.trace.events:
        met += isinstance(event, Handover)
        captured += isinstance(event, GraphCaptured)
        if isinstance(event, CallEnd):
            words.append("break" if met else "compile" if captured else "hit")
            met = captured = 0
    return words
