"""The exercises of lesson 13: when two lanes are done, and a step that is recorded once.

A card of paper records and replays, so the checks are the same with a card and without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .result import Fact, Result, Unusable, ask, begun, checked, is_number, kind_of

CALLS, SHAPE = 100, (4, 8)
# A launch, the kernels' times, when the last one is done; all in us.
LANES: tuple[tuple[str, int, list[int], int], ...] = (
    ("10 kernels of 1 us, launches of 5", 5, [1] * 10, 51),
    ("10 kernels of 8 us, launches of 5", 5, [8] * 10, 85),
    ("8, 1, 1 us, launches of 4", 4, [8, 1, 1], 14),
    ("1, 1, 20 us, launches of 6", 6, [1, 1, 20], 38),
    ("no kernels", 5, [], 0),
)


@checked
def finished(answer: Any) -> Result:
    """Exercise 1: `finished(launch, kernels)`, when the last kernel is done if the CPU launches
    one after the other."""
    facts = []
    for name, launch, kernels, done in LANES:
        found = ask(answer, launch, list(kernels))
        if not is_number(found):
            raise Unusable("a number", repr(found))
        facts.append(Fact(name, done, found))
    few, many, mixed, *_ = [fact.found for fact in facts]
    belief = ""
    if few == 60 and many == 130:
        belief = "Left: the CPU does not wait for a kernel before it makes the next launch."
    elif (few, many) in ((50, 80), (50, 50), (10, 80)):
        belief = "Left: the first kernel waits for its launch, and the last one still has to run."
    elif (few, many) == (15, 85):
        belief = "Left: that is a replay, one launch for all. Here each kernel waits for its own."
    elif (few, many) == (51, 85) and mixed != 14:
        belief = "Left: kernels differ. Each begins when its launch is over and the last one ended."
    return Result(tuple(facts), belief)


def step(x: Any, scale: Any) -> Any:
    """What has to be made replayable."""
    y = (x * scale).relu()
    return y / y.max().item()


@checked
def replayable(answer: Any) -> Result:
    """Exercise 2: `answer(x, scale)` gives what `step` gives, and 100 calls are one recording and
    98 replays."""
    from ... import compile as compile_function, from_numpy, no_grad, trace

    begun(answer)
    rng = np.random.default_rng(0)
    inputs = [from_numpy(rng.standard_normal(SHAPE).astype(np.float32)) for _ in range(CALLS)]
    scale = from_numpy(np.linspace(0.5, 2, SHAPE[1]).astype(np.float32))
    with _on_paper() as replays, no_grad(), trace.record() as story:
        compiled = compile_function(answer, mode="reduce-overhead")
        there = scale.cuda()
        found = [ask(compiled, x.cuda(), there) for x in inputs]
        values = [_list_of(y) for y in found]
        made = sum(replay.made for replay in replays)
    graphs = story.of(trace.CudaGraph)
    reasons = sorted({g.reason for g in graphs if g.outcome == "skipped"})
    right = all(np.allclose(value, step(x, scale).tolist(), rtol=1e-5)
                for value, x in zip(values, inputs))
    facts = (
        Fact("values as before", True, right),
        Fact("recordings", 1, sum(g.outcome == "recorded" for g in graphs)),
        Fact("replays", CALLS - 2, made),
        Fact("not recorded, because", "nothing", ", ".join(reasons) or "nothing"),
    )
    belief = ""
    if story.of(trace.GraphBreak):
        belief = (
            "Left: a number that Python asks the card for. The graph breaks there, the CPU waits, "
            "and what follows has another number each time."
        )
    elif reasons:
        belief = "Left: a part that the host computes. A recording has launches, and nothing else."
    elif not right:
        belief = "Left: each call divides by the largest value of its own."
    return Result(facts, belief)


def _list_of(value: Any) -> Any:
    from ... import Tensor

    if not isinstance(value, Tensor):
        raise Unusable("a tensor", kind_of(value))
    return value.tolist()


@contextmanager
def _on_paper() -> Iterator[list[Any]]:
    """A card of paper is in use; gives its replays."""
    from ...codegen.cuda.eager import carry
    from ...codegen.cuda.paper import PaperDriver, paper_card
    from ...tensor.cuda import card_in_use, install

    before, card = card_in_use(), paper_card()
    assert isinstance(card.driver, PaperDriver)
    install(card, carry)
    try:
        yield card.driver.replays
    finally:
        install(before, carry if before else None)
