"""What a program replaces after it compiled: methods of Tensor, what makes a class abstract, the
`__dict__` of an object; and compile() of a class."""

from __future__ import annotations

import abc
import functools
from typing import Any

import pytest

import labcore as torch
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.tensor import replaced
from tests.capture.differential import captured, check

X = torch.tensor([-1.0, 2.0])
RELU = torch.Tensor.relu


@pytest.fixture(autouse=True)
def restored():
    before = dict(vars(torch.Tensor))
    yield
    for name, value in dict(vars(torch.Tensor)).items():
        if name not in before:
            delattr(torch.Tensor, name)
        elif value is not before[name]:
            setattr(torch.Tensor, name, before[name])
    assert not replaced.is_replaced(*vars(torch.Tensor), *before)


def test_a_method_replaced_after_compile():
    counter = CompileCounter()
    compiled = torch.compile(lambda x: x.relu() + 1, backend=counter)
    assert compiled(X).tolist() == [1.0, 3.0]
    torch.Tensor.relu = lambda self: RELU(self) * 10
    assert compiled(X).tolist() == compiled(X).tolist() == [1.0, 21.0]
    torch.Tensor.relu = torch.Tensor.neg
    assert compiled(X).tolist() == [2.0, -1.0]
    del torch.Tensor.relu
    assert compiled(X).tolist() == [1.0, 3.0]
    assert counter.frame_count == 4
    captured(lambda x: x.relu(), X)


def test_a_new_method_is_read():
    torch.Tensor.twice = lambda self: self * 2
    captured(lambda x: x.twice() + torch.Tensor.twice(x), X)
    del torch.Tensor.twice
    check(lambda x: x.twice(), X)


@pytest.mark.parametrize("name", ["__add__", "__getitem__", "add", "T"])
def test_what_capture_does_itself_is_cpythons_then(name):
    replacement = functools.partial if name == "T" else (lambda self, *args: self * 100)
    setattr(torch.Tensor, name, property(lambda self: 3) if name == "T" else replacement)
    check(lambda x: (x + 1, x[0], x.add(x), x.T, x - 1), X)


@pytest.mark.parametrize("name", ["__len__", "__eq__", "__bool__"])
def test_what_instructions_ask_of_a_tensor(name):
    setattr(torch.Tensor, name, lambda self, *other: 1 == 1 if name == "__bool__" else 7)
    check(lambda x: (len(x), x == x, 3 if x else 4, x * 2), X)


def test_what_another_method_calls():
    torch.Tensor.expand = lambda self, *size: self * 5
    check(lambda x: (x.expand_as(x), x.expand(2, 2)), X)


def test_replaced_on_the_way():
    def patching(x):
        before = x.relu()
        torch.Tensor.relu = lambda self: self * 3
        between = x.relu()
        del torch.Tensor.relu
        return before, between, x.relu()

    check(patching, X)


def test_a_class_of_tensors_of_the_users_own():
    class Own(torch.Tensor):
        pass

    compiled = torch.compile(lambda x: x.relu(), backend="eager")
    assert compiled(X).tolist() == [0.0, 2.0]
    Own.relu = lambda self: 0
    assert compiled(X).tolist() == [0.0, 2.0]


# ---- classes ------------------------------------------------------------------------------------


def test_an_abstract_class_becomes_concrete():
    class Base(abc.ABC):
        @abc.abstractmethod
        def run(self): ...

    def made(x):
        try:
            return Base(), x + 1
        except TypeError:
            return None, x - 1

    compiled = torch.compile(made, backend="eager", fullgraph=True)
    assert compiled(X)[0] is None
    Base.__abstractmethods__ = frozenset()
    assert type(compiled(X)[0]) is Base
    Base.__abstractmethods__ = frozenset({"run"})
    assert compiled(X)[0] is None


def test_compile_of_a_class():
    counter = CompileCounter()

    @torch.compile(backend=counter)
    class Scaled:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return torch.relu(x) * self.by

    assert isinstance(Scaled, type) and isinstance(Scaled(3), Scaled)
    assert Scaled(3)(X).tolist() == Scaled(3)(X).tolist() == [0.0, 6.0]
    assert counter.frame_count == 1

    again = torch.compile(Scaled(4), backend="eager")  # the calls of one that are compiled already
    assert again(X).tolist() == again(X).tolist() == [0.0, 8.0]

    class Silent:
        pass

    with pytest.raises(TypeError, match=r"Silent has no __call__"):
        torch.compile(Silent)


# ---- __dict__ -----------------------------------------------------------------------------------


class Liar(dict):
    """A dict whose methods say something else than what it holds."""

    asked: list[Any] = []

    def __contains__(self, key):
        self.asked.append(key)
        return True

    def __getitem__(self, key):
        self.asked.append(key)
        return 99

    def __setitem__(self, key, value):
        self.asked.append(key)


class Plain:
    shared = 5

    def method(self):
        return 3


class Hooked(Plain):
    def __getattr__(self, name):
        return 12


def reads(x, owner):
    return x * owner.a, owner.shared, owner.method(), getattr(owner, "b", 4), hasattr(owner, "a")


def writes(x, owner):
    owner.b, owner.a = 3, x + 1
    return owner.b, x


@pytest.mark.parametrize("cls", [Plain, Hooked])
@pytest.mark.parametrize("function", [reads, writes])
def test_a_dict_that_stands_in_for_the_objects_own(cls, function):
    compiled = torch.compile(function, backend="eager")
    for kind in (dict, Liar, dict, Liar):
        for names in ({"a": 2}, {"a": 2, "shared": 7}, {"a": 2, "method": lambda: 4}):
            owners = cls(), cls()
            for owner in owners:
                owner.__dict__ = kind(names)
            Liar.asked.clear()
            want, got = (call(X, owner) for call, owner in zip((function, compiled), owners))
            assert str(want) == str(got)
            states = [str(dict.copy(owner.__dict__)) for owner in owners]
            assert states[0] == states[1] and not Liar.asked


def test_globals_that_are_no_plain_dict():
    class Space(dict):
        def __missing__(self, name):
            return 5

    space = Space(torch=torch, __builtins__=__builtins__)
    exec("def f(x):\n    global seen\n    seen = 1\n    return x * unknown, torch.relu(x)", space)
    check(space["f"], X)
