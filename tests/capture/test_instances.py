"""Objects made and changed inside a captured function."""

from __future__ import annotations

import dataclasses

import pytest

import labcore as torch

from .differential import captured, check
from .subjects import x4


def state(value, seen=None):
    """All that can be observed of an object, with its own identities."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen[id(value)]
    if isinstance(value, (list, tuple)):
        seen[id(value)] = f"{type(value).__name__} {len(seen)}"
        return seen[id(value)], [state(item, seen) for item in value]
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if not hasattr(value, "__dict__") and not hasattr(type(value), "__slots__"):
        return repr(value) if type(value) is not object else "object"
    seen[id(value)] = f"{type(value).__qualname__} {len(seen)}"
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    own = {n: state(object.__getattribute__(value, n), seen) for n in names if hasattr(value, n)}
    return seen[id(value)], own


def alike(function, *makers):
    """Eager and compiled give the same objects and leave the same arguments; no break."""

    def both(run):
        args = [make() for make in makers]
        return state([run(x4(), *args), args])

    expected, compiled = both(function), torch.compile(function, backend="eager", fullgraph=True)
    for _ in range(3):
        assert both(compiled) == expected


class Point:
    unit = 1

    def __init__(self, x, y=2):
        self.x, self.y = x, y

    def moved(self, by):
        return type(self)(self.x + by, self.y)


class Named(Point):
    def __init__(self, name, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.name = name


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.b = 1
        self.a = a


class Mixed(Slotted):
    pass


class Watching:
    """Its own `__setattr__`, which the rebuilding must not run."""

    def __init__(self, x):
        self.x = x
        self.n = 1

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Hidden:
    """Keeps its value behind a property of the same name."""

    @property
    def value(self):
        return self.kept

    @value.setter
    def value(self, value):
        self.kept = value + 1

    @value.deleter
    def value(self):
        del self.kept


class Made:
    def __new__(cls, kind):
        if kind == "other":
            return [kind]
        made = super().__new__(cls)
        made.kind = kind
        return made

    def __init__(self, kind):
        self.twice = kind * 2


@dataclasses.dataclass
class Data:
    a: object
    b: int = 3
    c: list = dataclasses.field(default_factory=list)
    d: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        self.d = self.b * 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: int = 3


@dataclasses.dataclass(slots=True, kw_only=True)
class Tight:
    a: object
    b: int = 3


def cyclic(x):
    a, b = Point(x), Point(1)
    a.y, b.y = b, a
    a.x = a
    return a, [b, a]


def setters(x):
    h = Hidden()
    h.value = x
    n = Hidden()
    n.value = 1
    del n.value
    return h, h.value, n


def by_name(x):
    p = Point(x)
    setattr(p, "z", 4)
    setattr(p, "not an identifier", x)
    delattr(p, "y")
    return p, hasattr(p, "y"), getattr(p, "y", None)


def reordered(x):
    p = Point(x)
    del p.x
    p.x = 1
    return p


@pytest.mark.parametrize(
    "function",
    [
        lambda x: Point(x + 1),
        lambda x: [p := Point(x), p, p.moved(1), p.unit],
        lambda x: (Named("n", x, y=5), Slotted(x), Mixed(x), Watching(x)),
        lambda x: (Made(1), Made("other"), Made("ab")),
        lambda x: (Data(x, 1), Data(x).c, Frozen(x, b=2), Tight(a=x)),
        lambda x: (d := Data(x), d.c.append(4))[0],
        lambda x: (object(), Point(x).x),
        cyclic,
        setters,
        by_name,
        reordered,
    ],
)
def test_made_inside(function):
    alike(function)


def change(x, p):
    p.x = p.x + 1
    p.new = x * 2
    p.x = p.x * 3
    del p.y
    return p.x, p, hasattr(p, "y"), p.unit


def change_twice(x, p, q):
    p.x = 1
    q.x = x
    return p.x, q.x


def change_through_a_setter(x, h):
    h.value = x
    return h.value


def leaves_in_a_list(x, made):
    made.append(Point(x))
    made.append(made[0])
    return x + 1


def shadows_its_class(x, p):
    p.unit = 7
    return x * p.unit


@pytest.mark.parametrize(
    ("function", "makers"),
    [
        (change, [lambda: Point(3)]),
        (change, [lambda: Named("n", 3)]),
        (change_twice, [lambda: Point(3), lambda: Point(4)]),
        (change_through_a_setter, [Hidden]),
        (leaves_in_a_list, [list]),
        (shadows_its_class, [lambda: Point(1)]),
        (lambda x, p: setattr(p, "a", x), [lambda: Slotted(1)]),
        (lambda x, p: setattr(p, "n", 4), [lambda: Watching(x4())]),
    ],
)
def test_changed_from_outside(function, makers):
    alike(function, *makers)


def test_one_object_under_two_names():
    compiled = torch.compile(change_twice, backend="eager")
    for same in (False, True, False, True):
        p = Point(0)
        q = p if same else Point(0)
        first, second = compiled(x4(), p, q)
        assert (first is second) == same and q.x is second and p.x is first


def test_frozen_and_slotted_objects_refuse():
    def freeze(x):
        f = Frozen(x)
        f.b = 2

    def beside_the_slots(x):
        s = Slotted(x)
        s.z = 1

    for function in (freeze, beside_the_slots, lambda x: Point(), lambda x: object(x)):
        check(function, x4())


def test_methods_and_supers_leave():
    def f(x):
        p = Named("n", x)
        return p.moved, p

    moved, p = torch.compile(f, backend="eager", fullgraph=True)(x4())
    assert moved.__self__ is p and moved.__func__ is Point.moved


def test_dataclass_replace():
    captured(lambda x: dataclasses.replace(Frozen(x), b=x + 1).b, x4())


class Proxy:
    """Tells the class of what it stands for."""

    def __init__(self, target):
        self.target = target

    @property
    def __class__(self):
        return type(self.target)


class Pretends:
    __class__ = Point


def test_isinstance_believes_what_an_object_says_of_itself():
    def f(x, *objects):
        kinds = (Point, Named, Proxy, Pretends)
        told = [[isinstance(o, kind) for kind in kinds] for o in objects]
        return x + 1, told, isinstance(Proxy(3), (str, int)), isinstance(Proxy(x), torch.Tensor)

    objects = [Proxy(Point(0)), Proxy(Named("n", 1)), Pretends(), Point(0)]
    captured(f, x4(), *objects)
