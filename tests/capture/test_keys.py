"""Keys of dicts and elements of sets that hash and compare by code of the user's."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import pytest

import labcore as torch

from .differential import strict
from .test_effects import both


class Vector:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __eq__(self, other):
        return type(other) is Vector and self.b == other.b

    def __hash__(self):
        return hash(self.b)


class Never(Vector):
    def __eq__(self, other):
        return False

    __hash__ = Vector.__hash__


class Five:
    def __eq__(self, other):
        return other == 5

    def __hash__(self):
        return 5


class Unhashable:
    def __eq__(self, other):
        return True


@dataclass(frozen=True)
class Key:
    n: int
    text: str = "a"


@dataclass(frozen=True)
class Tight:
    """All of them collide."""

    n: int

    def __hash__(self):
        return 1


class Caseless(str):
    def __hash__(self):
        return hash(self.lower())

    def __eq__(self, other):
        return self.lower() == other.lower()


class Broken:
    def __hash__(self):
        raise ValueError("no hash")


class Odd:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return -1

    def __eq__(self, other):
        if other.n == 3:
            raise KeyError("three")
        return self.n == other.n


VECTOR = Vector(1, 2)
TABLE = {1: "x", 5: "y"}
OF_OBJECTS = {Key(1): 3}
NUMBERS = {1, 5}


def x3():
    return torch.tensor([1.0, 2.0, 3.0])


def looked_up(x):
    t = {Vector(x, 1): "one"}
    hit = t[Vector(x, 1)], Vector(x, 2) in t, t.get(Vector(x, 3), "no"), t.setdefault(VECTOR, 4)
    return x, hit, len({VECTOR, Vector(x, 2)}), len(t), hash(VECTOR) == hash(2)


def filled(x):
    d = {}
    d[Key(1)] = x
    d[Key(1)] = x + 1
    d[Key(2)] = 3
    d[Key(1), "k"] = 4
    d[x, Key(3)] = 5
    names = [k.n for k in d if isinstance(k, Key)]
    facts = d[Key(1)], d[Key(1), "k"], d[x, Key(3)], len(d), names, (Key(1),) in d
    return facts, d.pop(Key(2)), d.pop(Key(9), None), [*d.values()]


def among_constants(x):
    d, s = {Five(): 1, 4: 2}, {Never(x, 1), Never(x, 1)}
    return d[5], 5 in d, d[4], len(s), {5: 7}[Five()], {5, 6} & {Five()} == {5}, d.get(6), x


def collisions(x):
    d = {Tight(n): x * n for n in range(5)}
    del d[Tight(1)]
    d[Tight(7)] = x
    d[Tight(3)] = 0
    return [k.n for k in d], d[Tight(4)], Tight(1) in d, len({Tight(n % 3) for n in range(9)})


def sets(x):
    s = set()
    s.add(Key(1))
    s.add(Key(1))
    s |= {Key(2), Key(1)}
    s.discard(Key(2))
    t = s | {Key(5)}
    facts = len(s), len(t), Key(1) in t, t >= s, sorted(k.n for k in t), s == {Key(1)}
    return facts, t - s == {Key(5)}, [k.n for k in t & {Key(5), Key(6)}], x


def derived(x):
    d = {Caseless("Ab"): 1}
    return d[Caseless("aB")], Caseless("AB") in d, {k: 2 for k in d}[Caseless("ab")], x


def comprehensions(x):
    seen = {k: k.n * 2 for k in (Key(1), Key(2), Key(1))}
    return len(seen), seen[Key(2)], len({k for k in (Key(1), Key(1))}), {**seen}[Key(1)], x


def errors(x):
    found = []
    for act in (
        lambda: {Unhashable(): 1},
        lambda: {}[Broken()],
        lambda: {Odd(1): 1}[Odd(3)],
        lambda: {Key(1): 1}[Key(2)],
        lambda: set().remove(Key(2)),
        lambda: {(Key(1), []): 1},
    ):
        try:
            act()
        except (TypeError, ValueError, LookupError) as error:
            found.append(type(error))
    return found, x


def leaving(x):
    d, s = {Key(1): x, Key(2, "b"): x + 1}, {Key(3), Key(4)}
    d[Key(1)] = [d]
    return d, s, {Vector(x, 3): s}, Key(1) in d


def looked_up_outside(x):
    return TABLE[Five()], Five() in TABLE, Five() in NUMBERS, TABLE.get(Key(7), 3), x


PROGRAMS = [
    looked_up, filled, among_constants, collisions, sets, derived, comprehensions, errors, leaving,
    looked_up_outside,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_keys(function):
    both(function, lambda: (x3(),))


@pytest.mark.parametrize(
    "act",
    [
        lambda x: {Key(1): x}[Key(2)],
        lambda x: {x[0], Broken()},
        lambda x: {Odd(1): x, Odd(3): x},
        lambda x: {Unhashable(): x},
    ],
)
def test_an_error_that_leaves(act):
    def f(x):
        y = x + 1
        return act(y)

    both(f, lambda: (x3(),), calls=2)


class Counting:
    def __init__(self, n, log):
        self.n, self.log = n, log

    def __hash__(self):
        self.log.append(("hash", self.n))
        return self.n % 2

    def __eq__(self, other):
        self.log.append(("==", self.n, other.n))
        return self.n == other.n


def test_code_with_effects_is_cpythons():
    def f(x, log):
        keys = [Counting(n, log) for n in (1, 2, 3, 1)]
        d = {k: k.n for k in keys}
        d[keys[0]] = 5
        return d[Counting(3, log)], len(d), len({*keys}), len(log), x + 1

    both(f, lambda: (x3(), []), expected_breaks=["operation"])


def test_outside():
    """A dict from outside that has such keys, and one that is given one, are CPython's."""

    def reads(x):
        return OF_OBJECTS[Key(1)], x + 1

    def writes(x, d):
        d[Key(1)] = x
        return x + 1

    both(reads, lambda: (x3(),), expected_breaks=["operation"])
    both(writes, lambda: (x3(), {}), expected_breaks=["mutation"])


def test_a_key_that_changes_later():
    def f(x):
        key = Vector(x, 1)
        d = {key: 1}
        key.b = 2
        return d, key in d, Vector(x, 1) in d, x + 1

    def eager_again(d):
        return [Vector(0, n) in d for n in (1, 2)]

    compiled = torch.compile(f, backend="eager")
    with strict():
        for _ in range(2):
            found, expected = compiled(x3()), f(x3())
            assert found[1:3] == expected[1:3]
            assert eager_again(found[0]) == eager_again(expected[0])


class Number(int):
    def __add__(self, other):
        return 0


def test_a_number_that_varies():
    def f(x, n):
        table = {1: "one", 2: "two"}
        return table.get(n), {n: 1}.get(3), n == 2, 2 == n, n < 3, x * n

    compiled = torch.compile(f, backend="eager")
    for n in (1, 2, 3, 2, 1, 5):
        with strict():
            assert repr(compiled(x3(), Number(n))) == repr(f(x3(), Number(n)))


def test_the_class_is_guarded():
    class Later:
        pass

    def f(x, key):
        return x * len({key, Later()}), {key: 1}.get(Later())

    compiled = torch.compile(f, backend="eager")
    for _ in range(2):
        assert repr(compiled(x3(), Later())) == repr(f(x3(), Later()))
    Later.__eq__, Later.__hash__ = lambda self, other: True, lambda self: 1
    for _ in range(2):
        assert repr(compiled(x3(), Later())) == repr(f(x3(), Later()))


def test_a_set_made_of_keys_with_hashes_of_their_own():
    def f(x, n):
        numbers = [3, 0, 1]
        return x, set(numbers) - {n}, {3, 0} ^ {n}, {n} & set(numbers), set(numbers) | {n}

    compiled = torch.compile(f, backend="eager")
    for n in (0, 1, 7):
        with strict():
            assert compiled(x3(), Number(n))[1:] == f(x3(), Number(n))[1:]


class Letter(enum.StrEnum):
    A = "a"


def test_a_text_of_a_class_of_its_own_is_another_key():
    def names(x, d, **more):
        return x + 1, [type(key).__name__ for key in (*d, *more)]

    compiled = torch.compile(names, backend="eager")
    for key in ("a", Letter.A, "a", "b"):
        for given, more in (({key: 1}, {}), ({}, {key: 1})):
            assert compiled(x3(), given, **more)[1] == names(x3(), given, **more)[1]
