"""Functions for the races: pointwise, as a learner might write them, with what the lab must count
for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import labcore as torch


@dataclass(frozen=True)
class Program:
    """`separate` and `fused` are the counts for N elements, as text."""

    fn: Callable[..., Any]
    inputs: tuple[Any, ...]
    separate: str
    fused: str


def block(x, bias):
    return (x + bias).relu() * 2


def square(x):
    return x * x


def scaled(x, scale):
    return (x * scale).tanh() + x


def gate(hidden, weight):
    left = torch.sigmoid(hidden * weight)
    return left * hidden, left


def pick(x, limit):
    return torch.where((x > 0) & (x < limit), x.exp(), -x).clamp(-1, 3)


def widen(count, x):
    return count * x + count


def long(x, a, b, c):
    t = (x * a + b).sigmoid()
    u = (t - c).abs().sqrt()
    return (u / (t + 1)).maximum(x), u, (t * t * u - a).relu()


X = torch.tensor([-2.0, -1.0, 1.0, 2.5])
ONES = torch.ones(4)
PROGRAMS = {
    "block": Program(block, (X, ONES), "7N", "3N"),
    "square": Program(square, (X,), "2N", "2N"),
    "scaled": Program(scaled, (X, torch.tensor([0.75])), "7N + 1", "2N + 1"),
    "gate": Program(gate, (X, ONES * 0.5), "8N", "4N"),
    "pick": Program(pick, (X, ONES * 2), "18N", "3N"),
    "widen": Program(widen, (torch.arange(4), X.double()), "6N", "3N"),
    "long": Program(long, (X, ONES * 0.5, ONES, ONES * 0.25), "33N", "7N"),
}
