"""Operators, items and builtins on objects of the user's classes: their methods, inlined."""

from __future__ import annotations

import abc
import enum
import operator

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check
from .subjects import x4

LOG = []


@torch.compiler.disable
def log(value):
    """A break."""
    LOG.append(value)


class Vector:
    """Says who was asked."""

    rank = 1

    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return ("add", self.a) if isinstance(other, Vector) else NotImplemented

    def __radd__(self, other):
        return ("radd", self.a * 2)

    def __iadd__(self, other):
        self.a = self.a + 1
        return self

    def __sub__(self, other):
        return NotImplemented

    def __pow__(self, other):
        return ("pow", self.a)

    def __neg__(self):
        return Vector(-self.a)

    def __eq__(self, other):
        return isinstance(other, Vector) and self.rank == other.rank

    def __hash__(self):
        return -1

    def __lt__(self, other):
        return self.rank < other.rank if isinstance(other, Vector) else NotImplemented

    def __getitem__(self, index):
        return (self.a, index)

    def __setitem__(self, index, value):
        self.a = value

    def __delitem__(self, index):
        self.a = index

    def __contains__(self, item):
        return item

    def __len__(self):
        return 3

    def __abs__(self):
        return self.a.relu()

    def __index__(self):
        return 1

    def __float__(self):
        return 2.5

    def __bool__(self):
        return self.rank > 1

    def __str__(self):
        return f"vector of {self.rank}"

    def __repr__(self):
        return f"<{self.rank}>"

    def __format__(self, spec):
        return f"[{spec}]"


class Reflecting(Vector):
    rank = 2

    def __radd__(self, other):
        return "mine"

    def __rsub__(self, other):
        return "rsub"


class Inheriting(Vector):
    rank = 3


class Plain:
    pass


class Ordered:
    """Only what `object` has."""

    def __init__(self, n):
        self.n = n

    def __gt__(self, other):
        return "gt"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Color(enum.Enum):
    RED = 1
    BLUE = "b"

    def __lt__(self, other):
        return self.name < other.name


class Mode(enum.Flag):
    A = 1
    B = 2


class Counted(abc.ABCMeta):
    def __len__(cls):
        return 5

    def __getitem__(cls, key):
        return key * 2


class Kind(metaclass=Counted):
    pass


PLAIN, OTHER = Plain(), Plain()


def arithmetic(x):
    v, r, i = Vector(x), Reflecting(x), Inheriting(x)
    results = [v + v, v + r, v + i, r + v, 1 + v, x + v, v + 1, v - r, v**2, (-v).a, [1] + v]
    v += 5
    return results, v.a, operator.add(v, v), operator.neg(v).a, operator.iadd(v, 1) is v


def comparisons(x):
    v, r = Vector(x), Reflecting(x)
    return [
        v == v, v == r, v != r, v == 3, 3 != v, v < r, r > v, v == x, PLAIN == PLAIN,
        PLAIN == OTHER, PLAIN != 3, Ordered(1) < Ordered(2), operator.lt(v, r), None is v,
        Ordered(1) == Ordered(1), PLAIN is PLAIN,
    ]  # fmt: skip


def items(x):
    v = Vector(x)
    v[0] = x + 1
    kept = v[0], v[1:2], v[:]
    del v[2]
    return kept, v.a, 0 in v, 5 in v, 0 not in v


def builtins_(x):
    v = Vector(x)
    return [
        len(v), abs(v), int(v), float(v), bool(v), hash(v), str(v), repr(v), format(v, "x"),
        f"{v} {v!r} {v!s:>14} {v:abc}", not v, 1 if Reflecting(x) else 2, v and 3,
        operator.index(v),
    ]  # fmt: skip


def enums(x):
    return [
        x * Level.HIGH, Level.LOW + x, Level.LOW + 1, Level.LOW < Level.HIGH, Level.LOW == 1,
        Color("b") is Color.BLUE, Color["RED"].value, Color.RED == Color.BLUE, len(Color),
        Color.BLUE < Color.RED, (Mode.A | Mode.B).value, Mode.A in (Mode.A | Mode.B), Mode(3).value,
        f"{Color.RED} {Level.LOW} {Mode.A!r} {Level.HIGH:>4}", int(Level.HIGH), not Level.LOW,
        1 if Color.RED else 2, hash(Color.RED) == hash(Color.RED), Color.RED in Color, -Level.HIGH,
    ]  # fmt: skip


def metaclasses(x):
    return x, len(Kind), Kind["a"], isinstance(Kind, Counted)


@pytest.mark.parametrize(
    "function", [arithmetic, comparisons, items, builtins_, enums, metaclasses]
)
def test_methods_are_asked_as_in_cpython(function):
    captured(function, x4())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: Vector(x) - Vector(x),
        lambda x: Vector(x) - 1,
        lambda x: Plain() + 1,
        lambda x: -Plain(),
        lambda x: Plain() < Plain(),
        lambda x: Plain()[0],
        lambda x: Color("none"),
        lambda x: Color["none"],
        lambda x: Level.LOW + "a",
    ],
)
def test_what_nobody_answers_raises(function):
    assert not check(function, x4()).breaks


def test_a_method_that_breaks_runs_once_and_whole():
    class Telling(Vector):
        def __add__(self, other):
            log("asked")
            return self.a * 2

    def f(x):
        y = x.relu()
        return (Telling(y) + 1) * 3

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    LOG.clear()
    for _ in range(3):
        assert compiled(x4()).tolist() == [6.0, 0.0, 18.0, 0.0]
    assert LOG == ["asked"] * 3 and counter.frame_count == 2


def test_what_only_cpython_knows():
    def f(x):
        return x + 1, repr(PLAIN), hash(PLAIN)

    for function in (f, lambda x: len(Plain()), lambda x: float(Plain())):
        check(function, x4())
