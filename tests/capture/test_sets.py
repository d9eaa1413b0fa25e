"""Sets that leave a region: made anew as they were made, so that they go through their elements in
the order of the eager ones, now and after what happens to them later."""

from __future__ import annotations

import pytest

import labcore as torch

from .differential import strict
from .test_effects import both

WORDS = [f"word {n}" for n in range(60)]


def literal(x, s):
    made = {"b", "a", "c"}
    made.add("zz")
    made.discard("a")
    return made


def of_texts(x, s):
    made = set("what a long text this is")
    other = made | {"1", "2"}
    made -= set("abc")
    return made, other, made ^ other, made & other, other - {"1"}, {*"bcde"}, {c for c in "hgfe"}


def large_once(x, s):
    made = {*WORDS}
    copy = made.copy()
    for word in WORDS[:58]:
        made.discard(word)
    made.add("late")
    return made, copy


def of_others_that_change(x, s):
    first, second = set("abc"), set("abd")
    both_of_them = first.union("ff", second)
    first.add("d")
    first.clear()
    first.add("q")
    second.intersection_update("ab")
    second.symmetric_difference_update({"z": 1})
    return first, second, both_of_them


def of_dicts(x, s):
    d = {word: 1 for word in WORDS}
    return set(d), d.keys() | {"c"}, d.keys() - WORDS[2:], {"z", *WORDS[:3]} & d.keys(), set("q")


def of_frozen(x, s):
    return set(frozenset("abcdefgh")), {"k"} | frozenset("xyz"), {*frozenset("jklm"), 3}


def from_outside(x, s):
    return s | {"new"}, s.copy(), s - {"word 3"}, {"new"} ^ s


def changed_outside(x, s):
    s.update({*WORDS[20:30]}, WORDS[3:5], dict.fromkeys("ab"))
    s.difference_update(set(WORDS[22:28]), "a")
    s -= {"word 3"}
    return s


PROGRAMS = [
    literal, of_texts, large_once, of_others_that_change, of_dicts, of_frozen, from_outside,
    changed_outside,
]  # fmt: skip


def orders(value, more):
    """Where the elements of all sets are, now and when more were put in."""
    sets = [v for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, set)]
    now = [list(s) for s in sets]
    for s in sets:
        s.update(more)
    return now, [list(s) for s in sets]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_order(function):
    both(function, lambda: (torch.ones(3), {*WORDS[:10]}), calls=1)
    compiled, more = torch.compile(function, backend="eager"), [*"pqrstuvw", *range(12)]
    for _ in range(3):
        expected = orders(function(torch.ones(3), {*WORDS[:10]}), more)
        with strict():
            assert orders(compiled(torch.ones(3), {*WORDS[:10]}), more) == expected


def test_made_of_one_from_outside_that_changes_then():
    def f(x, s):
        made = s | {"new"}
        s.add("late")
        return made, x + 1

    both(f, lambda: (torch.ones(3), {"a", "b"}), expected_breaks=["operation"])


def test_of_objects():
    def f(x, y):
        made = {x, y, "text"}
        made.discard(y)
        return made, x + y

    found = torch.compile(f, backend="eager")(x := torch.ones(3), torch.ones(3))[0]
    assert len(found) == 2 and x in found and "text" in found
