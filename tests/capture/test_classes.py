"""What belongs to classes: their attributes and metaclasses, `__dict__`, abstract bases."""

from __future__ import annotations

import abc
import collections.abc
import enum
import functools

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphBreak, record

from .differential import captured, check
from .subjects import x4


class Counted:
    count = 0
    sizes = (1, 2)

    def __init__(self, a):
        self.a = a
        type(self).count += 1

    @functools.cached_property
    def twice(self):
        return self.a * 2

    @property
    def hidden(self):
        return self.__dict__["hidden"]

    @hidden.setter
    def hidden(self, value):
        self.__dict__["hidden"] = value


class Derived(Counted):
    pass


class Single(type):
    made = {}

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.by = cls.__name__
        return made


class Known(metaclass=Single):
    def __init__(self, a):
        self.a = a


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        raise NotImplementedError

    @classmethod
    def unit(cls):
        return cls(1)


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Registered:
    pass


Shape.register(Registered)


class Index:
    def __index__(self):
        return 1


class ByItem:
    def __getitem__(self, index):
        if index > 2:
            raise IndexError(index)
        return index * 2


def forgotten():
    for cls in (Counted, Derived):
        if "count" in vars(cls):
            del cls.count
    Counted.count = 0


def class_attributes(x):
    Counted(x), Derived(x), Derived(x)
    Counted.label = "new"
    return Counted.count, Derived.count, Derived.label, Counted.sizes, x + Derived(x).count


def dictionaries(x):
    c, d = Counted(x), Derived(x)
    c.b = 3
    c.hidden = 4
    d.__dict__["z"] = 1
    d.__dict__.update(y=x)
    return (
        c.twice, c.twice is c.twice, sorted(vars(c)), list(c.__dict__.items())[1][0], d.z, c.hidden,
        "a" in vars(d), len(d.__dict__), [v for v in vars(d).values()][1],
    )  # fmt: skip


def metaclass(x):
    known = Known(x)
    return known.a, known.by, type(known) is Known


def abstract(x):
    square, registered = Square(x), Registered()
    return (
        square.area(), isinstance(square, Shape), issubclass(Square, Shape), Square.unit().area(),
        isinstance(registered, Shape), isinstance(x, Shape), isinstance(square, (int, Shape)),
        isinstance([], collections.abc.Sequence), isinstance(ByItem(), collections.abc.Sized),
    )  # fmt: skip


def odd_protocols(x):
    return [10, 20][Index()], (x, 1)[Index()], 4 in ByItem(), 5 in ByItem(), [i for i in ByItem()]


@pytest.mark.parametrize("function", [dictionaries, metaclass, abstract, odd_protocols])
def test_captured_whole(function):
    captured(function, x4())


def test_class_attributes_are_set_once_a_call():
    runs = []
    compiled = torch.compile(class_attributes, backend="eager", fullgraph=True)
    for run in (class_attributes, compiled):
        forgotten()
        runs.append([repr(run(x4())) for _ in range(3)] + [Counted.count, Derived.count])
    assert runs[0] == runs[1]


def test_a_dictionary_that_leaves_is_the_objects_own():
    def f(x):
        c = Counted(x)
        c.__dict__["more"] = x + 1
        return c, c.__dict__

    made, own = torch.compile(f, backend="eager", fullgraph=True)(x4())
    assert vars(made) is own and list(own) == ["a", "more"]


def test_an_object_from_outside_seen_as_a_dictionary():
    def f(x, c):
        names = sorted(vars(c))
        c.later = x
        return names, vars(c)["later"], c.twice

    compiled = torch.compile(f, backend="eager")
    for _ in range(3):
        assert repr(compiled(x4(), Counted(1))) == repr(f(x4(), Counted(1)))
    counter = CompileCounter()
    compiled = torch.compile(lambda x, c: x * len(vars(c)) + c.a, backend=counter)
    one = Counted(1)
    for count in (1, 2, 2):
        assert compiled(x4(), one).tolist() == (x4() * count + 1).tolist()
        one.__dict__.setdefault("b", 1)


def test_an_abstract_class_refuses_and_registering_counts():
    check(lambda x: Shape(), x4())

    class Late:
        pass

    late = Late()
    compiled = torch.compile(lambda x: x + isinstance(late, Shape), backend="eager")
    assert compiled(x4()).tolist() == x4().tolist()
    Shape.register(Late)
    assert compiled(x4()).tolist() == (x4() + 1).tolist()


def test_a_class_made_inside_is_a_clear_break():
    def f(x):
        class Local:
            k = 2

        return x * Local.k

    compiled = torch.compile(f, backend="eager")
    with record() as trace:
        assert compiled(x4()).tolist() == (x4() * 2).tolist()
    assert [event.break_id for event in trace.of(GraphBreak)] == ["build-class"]


class GivesUp:
    def __get__(self, instance, owner):
        if instance is None:
            raise AttributeError("asked of the class")
        return 1


class Answering(type):
    def __getattr__(cls, name):
        return f"no {name}"


class Answered(metaclass=Answering):
    given_up = GivesUp()


class Silent:
    given_up = GivesUp()


class Tone(enum.Enum):
    LOW = 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2, Answered.given_up, Answered().given_up),
        lambda x: (x * 2, hasattr(Answered, "given_up"), getattr(Answered, "given_up", 4)),
        lambda x: (x * 2, hasattr(Silent, "given_up"), getattr(Silent, "given_up", 4)),
        lambda x: (x * 2, hasattr(Tone, "value"), getattr(Tone, "name", 4)),
    ],
)
def test_a_metaclass_answers_where_a_descriptor_gives_up(function):
    check(function, x4())


def test_what_an_enum_says_of_a_members_attribute():
    def f(x):
        try:
            return x, Tone.value
        except AttributeError as error:
            return x * 2, str(error)

    check(f, x4())
