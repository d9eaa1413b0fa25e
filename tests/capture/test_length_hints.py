"""How often, and when, CPython asks an object of the user's how long it is, while it takes all of
its items."""

from __future__ import annotations

import pytest

import labcore as torch

from .differential import strict
from .test_effects import both


class Sized:
    def __init__(self, log):
        self.log, self.n = log, 3

    def __len__(self):
        self.log.append("len")
        return self.n

    def __iter__(self):
        self.log.append("iter")
        return iter(range(self.n))


class Indexed:
    def __init__(self, log):
        self.log = log

    def __len__(self):
        self.log.append("len")
        return 2

    def __getitem__(self, place):
        self.log.append(place)
        if place > 1:
            raise IndexError(place)
        return place


class Hinting:
    def __init__(self, log):
        self.log, self.n = log, 3

    def __iter__(self):
        return self

    def __next__(self):
        self.log.append("next")
        if not self.n:
            raise StopIteration
        self.n -= 1
        return self.n

    def __length_hint__(self):
        self.log.append("hint")
        return 7


class Shown(list):
    def __init__(self, log):
        super().__init__([2, 1])
        self.log = log

    def __len__(self):
        self.log.append("len")
        return super().__len__()

    def __iter__(self):
        self.log.append("iter")
        return super().__iter__()


class Filled(list):
    pass


def collect(*given):
    return given


ACTS = {
    "list": list,
    "starred list": lambda o: [*o],
    "tuple": tuple,
    "starred tuple": lambda o: (*o, 1),
    "sorted": sorted,
    "call": lambda o: collect(*o),
    "call with more": lambda o: collect(1, *o),
    "starred set": lambda o: {*o},
    "set": set,
    "extend": lambda o: [1].extend(o),
    "in place": lambda o: [1].__iadd__(o),
    "fromkeys": dict.fromkeys,
    "sum": sum,
    "max": max,
    "comprehension": lambda o: [i for i in o],
    "iterator": lambda o: list(iter(o)),
    "map": lambda o: list(map(abs, o)),
    "zip": lambda o: list(zip(o, o)),
    "join": lambda o: ",".join(map(str, o)),
    "derived": Filled,
    "unpacked": lambda o: (lambda pair: pair)([*o][:1]),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("cls", [Sized, Indexed, Hinting, Shown])
def test_hints(cls, act):
    def f(x, log):
        found = act(cls(log))
        return found, x + 1

    compiled = torch.compile(f, backend="eager")
    for called in (f, compiled, compiled):
        logs = [], []
        with strict():
            assert repr(called(torch.ones(2), logs[0])) == repr(f(torch.ones(2), logs[1]))
        assert logs[0] == logs[1]


def test_in_place():
    def f(x, log):
        items = [x]
        items += Sized(log)
        items += Hinting(log)
        d = {"a": 1}
        d |= Pairs(log)
        return items, d

    both(f, lambda: (torch.ones(2), []), calls=2)


class Pairs:
    def __init__(self, log):
        self.log = log

    def keys(self):
        self.log.append("keys")
        return ["b", "c"]

    def __getitem__(self, key):
        self.log.append(key)
        return key * 2
