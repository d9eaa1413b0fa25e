"""What a program reads and does not use must be there at the next call, too; what it missed, and
lived with, must be missing."""

from __future__ import annotations

import functools
import types

import pytest

import labcore as torch

MODULE = types.ModuleType("a_module")


class Thing:
    def __init__(self, **own):
        vars(self).update(own)


class Slotted:
    __slots__ = ("q",)


def slotted(**own):
    made = Slotted()
    for name, value in own.items():
        setattr(made, name, value)
    return made


PROGRAM = """
def f(o):
    {read}
    return 1

def g(o):
    try:
        {read}
        return 1
    except (NameError, AttributeError, LookupError):
        return 2
"""
# What is read, and two objects: one has it, the other one does not.
OBJECTS = {
    "o.q": [Thing(q=1), Thing()],
    "x = o.q": [Thing(q=1), Thing()],
    "o.q; o.q = 3": [Thing(q=1), Thing()],
    "del o.q": [Thing(q=1), Thing()],
    "o.q ": [slotted(q=1), slotted()],
    "o['a']": [{"a": 1}, {}],
    "o['a'] = o['a']; o['a'] = 2": [{"a": 1}, {}],
    "del o['a']": [{"a": 1}, {}],
    "o[2]": [[1, 2, 3], [1]],
    "o[2] ": [(1, 2, 3), (1,)],
}


def answers(function, *objects):
    found = []
    for thing in objects:
        try:
            found.append(function(thing))
        except Exception as error:
            found.append((type(error), str(error)))
    return found


def programs(read):
    scope = {"MODULE": MODULE, "Thing": Thing}
    exec(PROGRAM.format(read=read), scope)
    return scope


@pytest.mark.parametrize("read", OBJECTS)
@pytest.mark.parametrize("name", "fg")
@pytest.mark.parametrize("there_first", [True, False])
def test_of_an_object(read, name, there_first):
    there, missing = OBJECTS[read]

    def copies():
        kinds = {dict: dict, list: list, tuple: tuple, Thing: lambda o: Thing(**vars(o))}
        made = [kinds.get(type(o), lambda o: o)(o) for o in (there, missing)]
        return made if there_first else made[::-1]

    function = programs(read)[name]
    compiled = torch.compile(function, backend="eager")
    assert answers(compiled, *copies()) == answers(function, *copies())


def set_global(scope):
    scope["LATER"] = 1


def set_in_module(scope):
    MODULE.later = 1


@pytest.mark.parametrize(
    ("read", "change", "undo"),
    [
        ("LATER", set_global, lambda scope: scope.pop("LATER")),
        ("MODULE.later", set_in_module, lambda scope: delattr(MODULE, "later")),
    ],
)
@pytest.mark.parametrize("name", "fg")
def test_of_a_module(read, change, undo, name):
    runs = []
    for wrap in (lambda f: f, functools.partial(torch.compile, backend="eager")):
        scope = programs(read)
        function = wrap(scope[name])
        found = answers(function, 1)
        change(scope)
        found += answers(function, 1)
        undo(scope)
        found += answers(function, 1)
        runs.append(found)
    assert runs[0] == runs[1]


def test_of_an_outer_variable():
    def outer():
        def inner(o):
            try:
                later
                return 1
            except NameError:
                return 2

        def fill():
            nonlocal later
            later = 1

        def empty():
            nonlocal later
            del later

        if fill is None:
            later = 0
        return inner, fill, empty

    inner, fill, empty = outer()
    compiled = torch.compile(inner, backend="eager")
    assert compiled(0) == 2
    fill()
    assert compiled(0) == 1
    empty()
    assert compiled(0) == 2


def test_asking_whether_it_is_there_does_not_compute_it():
    computed = []

    class Lazy:
        @functools.cached_property
        def cached(self):
            computed.append(self)
            return 1

    def f(o, n):
        o.cached
        return n > 1

    compiled = torch.compile(f, backend="eager")
    first = Lazy()
    for o, n, count in ((first, 1, 1), (first, 1, 1), (Lazy(), 1, 2), (Lazy(), 2, 3)):
        compiled(o, n)
        assert len(computed) == count
