"""The exercise of lesson 08b: a training loop that compiles twice and learns as eager mode does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isclose
from typing import Any

from ...trace import GraphBreak, Recorder, facts as facts_of, record
from .result import Fact, Result, ask, checked, numbers

STEPS = 12
CLOSE = 1e-4


@checked
def trained(fn: Any) -> Result:
    """`fn(model, optimizer, x, labels, steps)` returns the losses of a compiled training: three
    captures, no break, and what eager mode gives."""
    expected = _train(*_task(), STEPS)
    with record() as story:
        losses = numbers(ask(fn, *_task(), STEPS), STEPS)
    counts = facts_of(story)
    facts = (
        Fact("first loss", round(expected[0], 4), round(losses[0], 4), CLOSE),
        Fact("last loss", round(expected[-1], 4), round(losses[-1], 4), CLOSE),
        Fact("every loss as in eager mode", True, _same(losses, expected)),
        Fact("places that break", 0, counts.places),
        Fact(f"captures in {STEPS} steps", 3, counts.captures),
    )
    return Result(facts, _belief(story, losses, expected))


def _task() -> tuple[Any, Any, Any, Any]:
    """A model, its optimizer, inputs and labels, the same each time."""
    from ... import arange, nn, optim, stack

    with _seeded(8):
        model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
    number: Any = arange(32)
    turn = number / 8
    x = stack([turn.cos(), turn.sin()], 1)
    return model, optim.AdamW(model.parameters(), lr=0.1), x, number // 8 % 2


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draw from a seed of one's own; the user's draws go on as if nothing had been."""
    from ...ops.random import generator

    before, state = generator.seed, generator.state
    generator.manual_seed(seed)
    try:
        yield
    finally:
        generator.manual_seed(before)
        generator.state = state


def _train(
    model: Any, optimizer: Any, x: Any, labels: Any, steps: int,
    forget: Callable[[Any], None] = lambda optimizer: optimizer.zero_grad(),
) -> list[float]:  # fmt: skip
    """The losses of eager mode."""
    from ...nn.functional import cross_entropy

    losses = []
    for _ in range(steps):
        forget(optimizer)
        loss = cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _same(losses: Any, expected: Any) -> bool:
    return all(isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE) for a, b in zip(losses, expected))


def _belief(story: Recorder, losses: Any, expected: Any) -> str:
    counts = facts_of(story)
    if _same(losses, losses[:1] * STEPS):
        return "The loss stands still: nobody steps, or no gradient arrives."
    if _same(losses, _train(*_task(), STEPS, forget=lambda optimizer: None)):
        return "Each step added its gradients to those of all steps before: zero_grad() forgets."
    if _same(losses[:-1], expected[1:]):
        return "That is the loss after each step; what counts is the one before, of its gradients."
    if not _same(losses, expected):
        return ""
    if not counts.captures:
        return "Right, and nothing was compiled: wrap the loss, and the optimizer's step."
    if counts.places:
        what = story.of(GraphBreak)[0].what
        return f"A compiled function is left in the middle: {what}. Keep that outside of it."
    if counts.captures > 3:
        return "Compiled in every step: wrap once, before the loop, and call what you got."
    if counts.captures == 1:
        return "The loss is compiled; the optimizer's step can be as well."
    return "The optimizer's step is compiled; the loss can be as well."
