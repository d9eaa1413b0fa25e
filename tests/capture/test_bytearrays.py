"""bytearray inside and outside; defaultdict with a factory of the user's."""

from __future__ import annotations

from collections import defaultdict

import pytest

import labcore as torch

from .differential import strict
from .test_effects import both


def x3():
    return torch.tensor([1.0, 2.0, 3.0])


def made(x, b):
    data = bytearray(b"abc")
    data.append(100)
    data.extend(b"ef")
    data += b"gh"
    data[0] = 65
    data[1:3] = b"xyz"
    del data[-1]
    data.insert(1, 66)
    taken = data.pop(), data.pop(0)
    data.reverse()
    other = data + b"!", b"." + data, data * 2, data[1], data[1:3], data.upper(), data.find(b"y")
    facts = len(data), bool(data), b"x" in data, 66 in data, data == bytes(data), [*data], str(data)
    more = bytearray(3), bytearray("é", "utf8"), bytes(data), bytearray(data)
    return x * len(data), data, taken, other, facts, more


def iterated(x, b):
    data = bytearray([3, 1])
    for number in data:
        x = x + number
        if len(data) < 5:
            data.append(number)
    return x, data, bytearray(n for n in range(3)), sum(data), max(data), type(data), bytearray()


def errors(x, b):
    found = []
    for act in (
        lambda: bytearray().pop(),
        lambda: bytearray([300]),
        lambda: bytearray(b"a")[4],
        lambda: bytearray(b"a").append("b"),
        lambda: {bytearray(): 1},
        lambda: bytearray(b"a").remove(9),
        lambda: bytearray(b"a") + "text",
    ):
        try:
            act()
        except (LookupError, ValueError, TypeError) as error:
            found.append(str(error))
    return x, found


def from_outside(x, b):
    b.append(1)
    b[0] = 7
    b += b"zz"
    b *= 2
    del b[1]
    b.reverse()
    return x * b[0], b, b[1:], len(b), b"z" in b, b.decode("latin")


@pytest.mark.parametrize("function", [made, iterated, errors, from_outside])
def test_bytearrays(function):
    both(function, lambda: (x3(), bytearray(b"begin")))


def test_other_bytes_are_another_variant():
    def f(x, b):
        return x * b[0], b == b"ab"

    compiled = torch.compile(f, backend="eager")
    for given in (b"ab", b"ac", b"ab", b""):
        with strict():
            runs = []
            for called in (f, compiled):
                try:
                    runs.append(repr(called(x3(), bytearray(given))))
                except IndexError as error:
                    runs.append(str(error))
        assert runs[0] == runs[1]


class Box:
    def __init__(self):
        self.items = []


def of_functions(x, d, log):
    def make():
        log.append(len(d))
        return x + len(log)

    own = defaultdict(make, a=1)
    boxes = defaultdict(Box)
    boxes["k"].items.append(own["q"])
    nested = defaultdict(lambda: defaultdict(int))
    nested["a"]["b"] += 1
    nested["a"]["c"] += 2
    d["new"].append(x)
    d["old"].append(own["q"])
    return own, boxes["k"].items, nested, own["a"], "z" in own, own.get("z"), d, d["old"] is own


def of_none(x, d, log):
    own = defaultdict(None, a=1)
    try:
        own["b"]
    except KeyError as error:
        log.append(error.args)
    return own["a"], x


def that_fails(x, d, log):
    def make():
        raise ValueError("no default")

    own = defaultdict(make)
    try:
        own["a"]
    except ValueError as error:
        log.append(str(error))
    return own, len(own), x


@pytest.mark.parametrize("function", [of_functions, of_none, that_fails])
def test_factories(function):
    both(function, lambda: (x3(), defaultdict(lambda: ["first"], old=[1]), []))


def test_what_is_read_is_not_made_by_a_guard():
    def f(x, d):
        return x * d.pop("a"), len(d)

    compiled = torch.compile(f, backend="eager")
    for given in ({"a": 1}, {"a": 1}, {"b": 2}, {"a": 3}):
        runs = []
        for called in (f, compiled):
            d = defaultdict(int, given)
            try:
                runs.append(repr(called(x3(), d)))
            except KeyError as error:
                runs.append(repr(error))
            runs.append(repr(d))
        assert runs[:2] == runs[2:]
