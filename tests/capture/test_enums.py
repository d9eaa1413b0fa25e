"""Members of enums beside tensors, and iteration over an enum."""

from __future__ import annotations

import enum
import operator
from collections import deque

import pytest

import labcore as torch

from .differential import captured


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
    LEAST = 1  # another name of LOW


class Share(float, enum.Enum):
    HALF = 0.5


class Letter(enum.StrEnum):
    A = "a"
    B = "b"


class Flags(enum.Flag):
    ONE = 1
    TWO = 2


class Own(enum.IntEnum):
    """Answers to some operators itself, when it is asked."""

    ONE = 1

    def __mul__(self, other):
        return 7

    def __rmul__(self, other):
        return 8

    def __lt__(self, other):
        return 9

    def __gt__(self, other):
        return 10


def arithmetic(x):
    return (
        x * Level.HIGH, Level.HIGH * x, x + Level.LOW, x**Level.HIGH, x // Level.HIGH,
        Level.HIGH - x, x % Level.HIGH, x < Level.HIGH, Level.LOW <= x, x == Level.LOW,
        x * Share.HALF, Share.HALF + x,
        operator.mul(x, Level.HIGH), operator.lt(Level.LOW, x), pow(x, Level.HIGH),
    )  # fmt: skip


def in_place(x):
    y = x * 1
    same = y
    same += Level.HIGH
    same **= Level.HIGH
    return same is y, y


def arguments(x):
    return (
        torch.mul(x, Share.HALF), torch.add(x, Level.HIGH), x.mul(Level.HIGH), x.sum(Level.LOW - 1),
        x.clamp(Level.LOW, Level.HIGH), torch.full((Level.HIGH,), Level.LOW), x[Level.LOW],
        x.reshape(Level.LOW, 3), torch.stack([x, x], Level.LOW), torch.where(x > 0, x, Level.HIGH),
    )  # fmt: skip


def iteration(x):
    for level in Level:
        x = x * level
    return (
        x, [level.name for level in Level], [*Flags], list(reversed(Letter)), tuple(Level),
        {level: x for level in Level}, [*zip(Level, "ab")], max(Level), sorted(Level), len(Level),
        [letter.value for letter in Letter],
    )  # fmt: skip


def places(x):
    one, sizes = Level.LOW, range(Level.HIGH)
    return (
        x * x.shape[one - 1], [10, 20, 30][Level.HIGH], (x, 1)[one], "abc"[one], b"abc"[one],
        {Level.LOW: x, 2: 3}[one], {1: x}[one], deque([x, 5])[one], [x * n for n in sizes],
        range(5)[Level.HIGH], range(Level.LOW, 3), x[Level.LOW],
    )  # fmt: skip


def texts(x):
    return x * 2, Letter.A.upper(), Letter.B.startswith("b"), Letter.A + "x"


def own_methods(x):
    return Own.ONE * x, x * Own.ONE, Own.ONE < x, x < Own.ONE, x + Own.ONE


PROGRAMS = [arithmetic, in_place, arguments, iteration, places, texts, own_methods]


@pytest.mark.parametrize("function", PROGRAMS)
def test_members(function):
    captured(function, torch.tensor([-1.5, 0.5, 2.0]))
