"""The repairs of clinic C: a kernel that computes too much, and a library that was pushed out.

Facts are kernels, calls of a library, evaluations and values, all read off the schedule; never the
source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiler.pipeline import inductor_options
from .facts import graph_of
from .result import Fact, Result, Unusable, ask, begun, checked, kind_of, shown

SIDE = 64


def _gate(u: Any, v: Any) -> Any:
    return u[:, None] * v.tanh()[None, :]


def _block(x: Any, bias: Any) -> Any:
    return (x + bias).relu() * 2


@checked
def cheap_gate(options: Any) -> Result:
    """Patient 1: options of `compile` under which the gate computes each tanh once, and loops that
    may be one still are.
    """
    from ...fusion import evaluations

    if not isinstance(begun(options), dict) or not all(isinstance(name, str) for name in options):
        raise Unusable("a dict of options", shown(options))
    _, chosen = ask(lambda: inductor_options(options))
    gate, block = _plan(_gate, chosen, (SIDE,), (SIDE,)), _plan(_block, chosen, (4,), (4,))
    counted = sum(int(times.value({})) for times in evaluations(gate).values())
    facts = (
        Fact(f"gate, {SIDE} x {SIDE}: tanh computed", SIDE, counted),
        Fact("gate: kernels", 2, len(gate.nests)),
        Fact("block: kernels", 1, len(block.nests)),
    )
    belief = ""
    if counted > SIDE:
        belief = (
            f"Left: tanh is computed {counted // SIDE} times for each element; something "
            "forbids to store it."
        )
    elif len(block.nests) > 1:
        belief = "Left: loops that may be one are kept apart, everywhere."
    return Result(facts, belief)


@checked
def product(fn: Any) -> Result:
    """Patient 2: `fn(h, w)` is relu of the matrix product, by the library, with one loop behind."""
    from ... import matmul, randn, relu
    from ...fusion.options import DEFAULT

    h, w = randn(SIDE, SIDE), randn(SIDE, SIDE)
    value = ask(fn, h, w)
    expected = relu(matmul(h, w))
    if getattr(value, "shape", None) != expected.shape:
        raise Unusable(f"a tensor of {SIDE} x {SIDE}", kind_of(value))
    near = bool((value - expected).abs().max().item() < 1e-3)
    plan = _plan(fn, DEFAULT, (SIDE, SIDE), (SIDE, SIDE))
    calls = [extern.op.name for extern in plan.externs]
    facts = (
        Fact("equal to relu(h @ w)", True, near),
        Fact("calls of the library", ["matmul"], calls),
        Fact("kernels", 1, len(plan.nests)),
    )
    belief = ""
    if not calls:
        belief = "Left: the product is a broadcast and a sum, a loop that no library knows."
    elif len(plan.nests) > 1:
        belief = "Left: more than one loop beside the call; relu alone is one."
    return Result(facts, belief)


def _plan(fn: Callable[..., Any], options: Any, *shapes: tuple[int, ...]) -> Any:
    """The schedule of a function of tensors of these shapes."""
    from ...autodiff.passes import clean
    from ...fusion import lower, schedule

    graph = clean(graph_of(fn, *shapes).graph)
    return schedule(lower(graph, options=options), options=options)
