"""Change what an attribute's lookup went through, in every way there is, and compare with eager
each time."""

from __future__ import annotations

import types
from collections import namedtuple

import pytest

import labcore as torch

from .watching import Watched


def ones():
    return torch.ones(2)


def family():
    """Fresh classes, as tests change them."""

    class Base:
        gain = 2

        def scale(self, x):
            return x * self.gain

        @property
        def size(self):
            return self.own + 1

        @staticmethod
        def still(x):
            return x + 1

    class Child(Base):
        def __init__(self):
            self.own = 3

    return Base, Child


def changed(lookup, change):
    """The variant is used until `change` happens, and then not."""
    base, child = family()
    one = child()
    watched = Watched(lookup, may_break=True)
    assert not watched(one, ones()) and watched(one, ones()) and watched(child(), ones())
    change(base, child, one)
    assert not watched(one, ones())


class Data:
    def __get__(self, instance, owner):
        return 11

    def __set__(self, instance, value):
        raise AttributeError


def set_class(one, base):
    one.__class__ = type("Other", (base,), {"gain": 5})


@pytest.mark.parametrize(
    "change",
    [
        lambda base, child, one: setattr(base, "gain", 5),
        lambda base, child, one: setattr(child, "gain", 5),
        lambda base, child, one: setattr(one, "gain", 5),
        lambda base, child, one: setattr(base, "gain", property(lambda self: 7)),
        lambda base, child, one: setattr(child, "gain", Data()),
        lambda base, child, one: setattr(base, "gain", 2.0),
        lambda base, child, one: setattr(child, "__getattribute__", lambda self, name: 8),
        lambda base, child, one: set_class(one, base),
        lambda base, child, one: delattr(base, "gain"),
    ],
)
def test_a_class_attribute(change):
    changed(lambda one, x: x * one.gain, change)


@pytest.mark.parametrize(
    "change",
    [
        lambda base, child, one: setattr(one, "own", 4),
        lambda base, child, one: delattr(one, "own"),
        lambda base, child, one: setattr(child, "own", Data()),
        lambda base, child, one: setattr(base, "own", property(lambda self: 3)),
        lambda base, child, one: setattr(base, "__getattribute__", lambda self, name: 8),
    ],
)
def test_an_attribute_of_the_instance(change):
    changed(lambda one, x: x * one.own, change)


@pytest.mark.parametrize(
    "change",
    [
        lambda base, child, one: setattr(base, "scale", lambda self, x: x),
        lambda base, child, one: setattr(child, "scale", lambda self, x: x),
        lambda base, child, one: setattr(one, "scale", lambda x: x - 1),
        lambda base, child, one: setattr(base, "scale", staticmethod(lambda x: x)),
        lambda base, child, one: setattr(base, "scale", classmethod(lambda cls, x: x)),
    ],
)
def test_a_method(change):
    changed(lambda one, x: one.scale(x), change)


def test_a_method_that_becomes_a_staticmethod_of_the_same_function():
    def two(self, x=None):
        return self * 3 if x is None else x * 2

    class Holder:
        method = two

    watched = Watched(lambda h, x: h.method(x))
    assert not watched(Holder(), ones()) and watched(Holder(), ones())
    Holder.method = staticmethod(two)
    assert not watched(Holder(), ones())
    Holder.method = classmethod(two)
    assert not watched(Holder(), ones())
    watched = Watched(lambda x: Holder.method(x))
    Holder.method = two
    assert not watched(ones())
    Holder.method = staticmethod(two)
    assert not watched(ones())


@pytest.mark.parametrize(
    "change",
    [
        lambda base, child, one: setattr(base, "size", property(lambda self: 9)),
        lambda base, child, one: setattr(one, "own", 9),
        lambda base, child, one: setattr(child, "size", 9),
        lambda base, child, one: setattr(
            base.size.fget, "__code__", (lambda self: self.own * 2).__code__
        ),
    ],
)
def test_a_property(change):
    changed(lambda one, x: x * one.size, change)


def test_a_static_method():
    changed(
        lambda one, x: one.still(x),
        lambda base, child, one: setattr(base, "still", staticmethod(lambda x: x - 1)),
    )


def test_a_getattr_that_is_not_asked_while_checking():
    asked = []

    class Asks:
        def __init__(self):
            self.here = 2

        def __getattr__(self, name):
            asked.append(name)
            return 5

    watched = Watched(lambda a, x: x * a.here)
    one = Asks()
    assert not watched(one, ones()) and watched(one, ones())
    del one.here
    assert not watched(one, ones())
    assert set(asked) == {"here"} and len(asked) <= 3


def test_bases_that_are_exchanged():
    base, child = family()
    other = type("Other", (base,), {"gain": 5})
    grown = type("Grown", (child, base), {})
    watched = Watched(lambda one, x: x * one.gain)
    assert not watched(grown(), ones()) and watched(grown(), ones())
    grown.__bases__ = (other,)
    one = grown()
    assert not watched(one, ones())


def test_a_data_descriptor_whose_class_changes():
    class Late:
        def __get__(self, instance, owner):
            return 3

    class Holder:
        late = Late()

    one = Holder()
    one.__dict__["late"] = 4
    watched = Watched(lambda h, x: x * h.late)
    assert not watched(one, ones()) and watched(one, ones())
    Late.__set__ = lambda self, instance, value: None
    assert not watched(one, ones())


def test_methods_that_operators_ask():
    class Odd:
        def __add__(self, other):
            return other * 2

    watched = Watched(lambda o, x: o + x, may_break=True)
    assert not watched(Odd(), ones()) and watched(Odd(), ones())
    Odd.__add__ = lambda self, other: NotImplemented
    assert not watched(Odd(), ones())
    Odd.__add__ = lambda self, other: other - 1
    assert not watched(Odd(), ones())
    watched = Watched(lambda o, x: x * (o == 1))
    assert not watched(Odd(), ones())
    Odd.__eq__ = lambda self, other: True
    assert not watched(Odd(), ones())


def test_two_objects_that_become_one():
    watched = Watched(lambda a, b, x: x * (a == b) + a.own * b.own)
    child = family()[1]
    one, other = child(), child()
    assert not watched(one, other, ones()) and watched(one, other, ones())
    assert not watched(one, one, ones())


def test_named_tuples_are_guarded_by_class_and_what_is_read():
    pair, other = namedtuple("Pair", "a b"), namedtuple("Other", "b a")
    watched = Watched(lambda p, x: x * p.a)
    assert not watched(pair(2, 3), ones()) and watched(pair(2, 4), ones())
    assert not watched(pair(3, 3), ones())
    assert not watched(other(2, 3), ones())
    pair.a = property(lambda self: 9)
    assert not watched(pair(2, 3), ones())


def test_an_attribute_that_is_only_asked_for():
    def f(one, x):
        one.own
        return x + 1

    child = family()[1]
    watched = Watched(f)
    one = child()
    assert not watched(one, ones()) and watched(child(), ones())
    del one.own
    assert not watched(one, ones())


def test_what_sets_but_does_not_get_comes_after_the_instance():
    class Sets:
        def __set__(self, instance, value):
            raise AttributeError

    class Box:
        field = Sets()

    box = Box()
    watched = Watched(lambda x: (box.field == 3, x + 1))
    assert not watched(ones())
    box.__dict__["field"] = 3
    assert not watched(ones()) and watched(ones())
    Sets.__get__ = lambda self, instance, owner: 4
    assert not watched(ones())
    del Sets.__get__
    assert watched(ones())


def test_the_truth_of_a_class_is_its_metaclasses():
    class Meta(type):
        def __len__(cls):
            return 2

    class Box(metaclass=Meta):
        pass

    watched = Watched(lambda x: x + 1 if Box else x - 1)
    assert not watched(ones()) and watched(ones())
    Meta.__len__ = lambda cls: 0
    assert not watched(ones())
    Meta.__bool__ = lambda cls: True
    assert not watched(ones())
    del Meta.__bool__, Meta.__len__
    assert not watched(ones())
    plain = Watched(lambda x: x + 1 if Base else x - 1)
    Base, _ = family()
    assert not plain(ones()) and plain(ones())


def test_an_item_of_a_class_may_be_its_own_affair():
    class Meta(type):
        def __getitem__(cls, key):
            return key

    class Box(metaclass=Meta):
        def __class_getitem__(cls, key):
            return key * 2

    watched = Watched(lambda x: x * Box[2], may_break=True)
    assert not watched(ones()) and watched(ones())
    del Meta.__getitem__
    assert not watched(ones())
    del Box.__class_getitem__
    watched(ones())  # CPython's own error


def test_a_module_that_is_given_another_class():
    class Answering(types.ModuleType):
        gain = property(lambda self: 7)

    settings = types.ModuleType("settings")
    settings.gain = 2
    watched = Watched(lambda x: x * settings.gain, may_break=True)
    assert not watched(ones()) and watched(ones())
    settings.__class__ = Answering
    assert not watched(ones())


def test_a_method_that_is_only_known_to_be_there():
    class Both:
        def __get__(self, instance, owner):
            return 2

        def __set__(self, instance, value):
            raise AttributeError

    class Box:
        field = Both()

        def __call__(self):
            return None

    box = Box()
    box.__dict__["field"] = 5
    watched = Watched(lambda x: x * box.field)
    assert not watched(ones()) and watched(ones())
    del Both.__set__
    assert not watched(ones())
    asks = Watched(lambda x: (callable(box), x + 1))
    assert not asks(ones()) and asks(ones())
    del Box.__call__
    assert not asks(ones())
    assert asks.reasons == ["class Box has no attribute '__call__' any more"]


def test_what_python_says_of_an_index_and_of_in():
    class Key:
        def __index__(self):
            return self.place

    key = Key()
    key.place = 1
    watched = Watched(lambda x: x + [1, 2][key], may_break=True)
    assert not watched(ones())
    key.place = "1"
    with pytest.raises(TypeError, match="__index__ returned non-int"):
        watched.compiled(ones())
    inside = torch.compile(lambda x: x + (1 in key), backend="eager")
    with pytest.raises(TypeError, match="^argument of type 'Key' is not iterable$"):
        inside(ones())
