"""The repair of clinic B: a network that is compiled, and left for Python in every layer.

Facts are graphs, crossings and values, on both sides of the limit that the program asks about; what
is left of the cause is read off the breaks that were met.
"""

from __future__ import annotations

from math import isclose
from typing import Any

from ...trace import GraphBreak
from .facts import Seen, seen
from .result import Fact, Result, Unusable, checked, shown

LAYERS, SIZE = 4, 8
SCALES = (1, 40, 1)  # of the weights, a call each: every layer stays below 10, or is above it
# The reason of a break -> what it comes from.
LEFT = {
    "data-dependent-branch": "an if that asks a tensor for its number",
    "tensor-to-python": "a number taken out of a tensor",
    "side-effect-call": "a call whose effect a graph has no place for",
}


@checked
def whole_network(fn: Any) -> Result:
    """`fn(x, weights, norms)` gives the network's result and puts the norm of each layer, a number
    or a tensor, into `norms`; it is one graph, left for Python once a call at most."""
    x, networks = _inputs(), [_weights(scale) for scale in SCALES]
    norms: list[list[Any]] = [[] for _ in SCALES]
    told = seen(fn, *((x, weights, found) for weights, found in zip(networks, norms)))
    expected = [_network(x, weights) for weights in networks]
    right = [_close(a, b) for a, (b, _) in zip(told.lists(), expected)]
    numbers = [[_number(norm) for norm in some] for some in norms]
    facts = (
        Fact("results as in eager mode", [True, True, True], right),
        Fact("norms in each call", [LAYERS] * 3, [len(some) for some in numbers]),
        Fact("norms as in eager mode", True, all(map(_close, numbers, (b for _, b in expected)))),
        Fact("graphs in three calls", 1, told.captures[-1]),
        Fact("at most one crossing a call", True, told.met <= len(SCALES)),
    )
    return Result(facts, _belief(told, right, numbers))


def _belief(told: Seen, right: list[bool], numbers: list[list[float]]) -> str:
    if right == [False, True, False]:
        return "Right where s is above 10, and not below it: there h is left as it is."
    if right == [True, False, True]:
        return "Right where s is below 10, and not above it: there h is divided."
    if not any(numbers):
        return "The norms are gone: they are part of what the network gives."
    if not told.captures[-1]:
        return "No graph at all: what is under disable runs as if nothing had been compiled."
    if told.captures[-1] == 1 and told.met > len(SCALES):
        return "One graph, and then a crossing for each number: take them all at once, or later."
    reasons = dict.fromkeys(LEFT.get(b.break_id, b.what) for b in told.trace.of(GraphBreak))
    if told.places and told.met > len(SCALES):
        return f"Left, in every layer: {'; '.join(reasons)}."
    if told.captures[-1] > 1:
        return "One crossing, with operators on both sides of it: let the report be last."
    return ""


def _inputs() -> Any:
    from ... import tensor

    return tensor([[(5 * n + 3 * k) % 7 / 7 for k in range(SIZE)] for n in range(2)])


def _weights(scale: float) -> list[Any]:
    from ... import tensor

    return [
        tensor([[scale * ((7 * n + 3 * k + layer) % 11 - 4) / 22 for k in range(SIZE)]
                for n in range(SIZE)])
        for layer in range(LAYERS)
    ]  # fmt: skip


def _network(x: Any, weights: list[Any]) -> tuple[list[list[float]], list[float]]:
    """The program as found: its result, and the norms."""
    norms = []
    for w in weights:
        h = (x @ w).relu()
        s = h.abs().max()
        if s > 10:
            h = h / s
        norms.append((h * h).sum().sqrt().item())
        x = x + h
    return x.tolist(), norms


def _number(norm: Any) -> float:
    try:
        return float(norm.item() if hasattr(norm, "item") else norm + 0.0)
    except (TypeError, ValueError, RuntimeError):
        raise Unusable("norms that are numbers, or tensors of one", shown(norm)) from None


def _close(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        same = isinstance(found, list) and len(found) == len(expected)
        return same and all(map(_close, found, expected))
    return isinstance(found, float) and isclose(found, expected, rel_tol=1e-4, abs_tol=1e-4)
