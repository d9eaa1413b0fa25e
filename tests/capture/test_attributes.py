"""Attributes of objects and classes, found as CPython finds them."""

from __future__ import annotations

import abc
import enum
import functools

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import captured, check
from .subjects import x4


class Doubling:
    """A descriptor that is no data: the instance comes first."""

    def __get__(self, instance, owner):
        return owner.step if instance is None else instance.base * 2


class Stored(Doubling):
    """A data descriptor: it comes before the instance."""

    def __set__(self, instance, value):
        instance.base = value


def plain(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 1

    wrapper.mark = 5
    return wrapper


class Root:
    step = 3
    double, stored = Doubling(), Stored()

    def __init__(self):
        self.base, self.own = 5, 7
        self.__dict__["stored"] = "hidden"

    @property
    def area(self):
        return self.base * self.step

    @staticmethod
    def still(x):
        return x + 1

    @classmethod
    def of(cls, x):
        return x * cls.step

    @plain
    def wrapped(self, x):
        return x * self.base

    def method(self, x):
        return x - self.base


class Leaf(Root, abc.ABC):
    step = 4

    def method(self, x):
        return x + self.area


class Asked:
    here = 1

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 2


class Meta(type):
    origin = 9

    def build(cls):
        return cls.size + 1


class Made(metaclass=Meta):
    size = 6


class Color(enum.Enum):
    RED = 1
    BLUE = "b"

    def describe(self):
        return self.name + "!"

    @property
    def is_red(self):
        return self is Color.RED


ROOT, LEAF, ASKED, SLOTTED = Root(), Leaf(), Asked(), Slotted()
METHOD = LEAF.method


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x, ROOT.area, LEAF.area),
        lambda x: (x, ROOT.double, Root.double, Leaf.double, LEAF.double),
        lambda x: (x, ROOT.stored, LEAF.own, LEAF.step),
        lambda x: ROOT.still(x) + Root.still(x) + LEAF.of(x) + Leaf.of(x) + Root.of(x),
        lambda x: LEAF.method(x) + Root.method(LEAF, x) + METHOD(x),
        lambda x: ROOT.wrapped(x) * ROOT.wrapped.mark,
        lambda x: (x, Root.wrapped.__name__, ROOT.method.__name__, ROOT.method.__self__ is ROOT),
        lambda x: (x, ASKED.four, ASKED.here, ASKED.sixsix),
        lambda x: (x, SLOTTED.a, hasattr(SLOTTED, "b"), hasattr(SLOTTED, "c")),
        lambda x: (x, Made.size, Made.origin, Made.build(), Meta.origin),
        lambda x: (x, Color.RED.name, Color.BLUE.value, Color.BLUE.describe(), Color.RED.is_red),
        lambda x: (x, LEAF.__class__ is Leaf, Leaf.__name__, type(LEAF).__mro__[1] is Root),
        lambda x: (x, getattr(ROOT, "area"), getattr(ROOT, "none", 3), hasattr(ROOT, "none")),
        lambda x: [(m := LEAF.method)(x), m.__func__(ROOT, x)],
    ],
)
def test_attributes(function):
    captured(function, x4())


def test_an_attribute_error_of_a_property_asks_getattr():
    class Odd:
        def __getattr__(self, name):
            return 7

        @property
        def broken(self):
            return self.missing.there

        @property
        def worse(self):
            raise AttributeError

    odd = Odd()
    check(lambda x: (x + odd.worse), x4())
    check(lambda x: x + odd.plain, x4())


def test_missing_attributes_raise():
    for function in (
        lambda x: ROOT.nothing,
        lambda x: Root.nothing,
        lambda x: SLOTTED.b,
        lambda x: ASKED._no,
        lambda x: Color.GREEN,
        lambda x: len.nothing,
    ):
        check(function, x4())


def test_a_break_inside_of_a_property_leaves_the_work_around_it_compiled():
    class Telling:
        @property
        def size(self):
            seen.append("asked")
            return 3

    seen, counter, telling = [], CompileCounter(), Telling()

    def f(x):
        y = x + 1
        return y.relu() * telling.size

    compiled = torch.compile(f, backend=counter)
    for calls in (1, 2):
        assert compiled(x4()).tolist() == [6.0, 0.0, 12.0, 3.0] and len(seen) == calls


@pytest.mark.parametrize(
    "value", [1, 2.5, "a", None, [1], (1,), {"a": 1}, {1}, range(3), torch.Size([2]), x4()]
)
def test_the_class_of_a_value(value) -> None:
    def f(x, value):
        return x + 1, value.__class__ is type(value), value.__class__.__name__

    check(f, x4(), value)


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}])
def test_a_container_has_no_hash(value) -> None:
    check(lambda x, value: (x + 1, value.__hash__ is None), x4(), value)


def test_what_a_class_has_as_an_object_its_instances_do_not_have():
    def f(x):
        def made(value: int) -> int:
            return value

        names = "__name__", "__qualname__", "__dict__", "__annotations__"
        return x + 1, [hasattr(x, name) for name in names], getattr(made, "__annotations__", None)

    check(f, torch.ones(2))


def test_what_is_made_with_nothing_around_it_has_no_closure():
    compiled = torch.compile(lambda x: (x + 1, lambda: 1), backend="eager")
    assert compiled(torch.ones(2))[1].__closure__ is None


def test_the_method_of_a_number_leaves():
    compiled = torch.compile(lambda x: (x + 1, (3).__add__, (-3).__abs__), backend="eager")
    assert [call(*given) for call, given in zip(compiled(torch.ones(2))[1:], [(4,), ()])] == [7, 3]
