"""Lessons 09, 10 and 10b: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

from labcore.fusion.handlers import Quiet
from labcore.testing import course

PASSED = "Public checks passed."


def mul(ops, i, n):
    ops.store("y", i, ops.mul(ops.load("x", i), ops.load("w", i)))


def relu(ops, i, n):
    ops.store("y", i, ops.relu(ops.load("x", i)))


def flip(ops, i, n):
    ops.store("y", i, ops.load("x", n - 1 - i))


def copy(ops, i, n):
    ops.store("y", i, ops.load("x", i))


def twice(ops, i, n):
    ops.load("x", n - 1 - i)
    flip(ops, i, n)


def every_turn(ops, i, n):
    for k in range(n):
        mul(ops, k, n)


def to_the_end(ops, i, n):
    ops.store("y", n - 1 - i, ops.load("x", i))


def by_python(ops, i, n):
    ops.store("y", i, ops.load("x", i) * ops.load("w", i))


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ((mul, relu, flip), PASSED),
        ((mul, relu, copy), "A view is another index: element i comes from n - 1 - i."),
        ((mul, copy, flip), "relu is one question"),
        ((mul, relu, twice), "One load of each input and one store an element"),
        ((every_turn, relu, flip), "One load of each input and one store an element"),
        ((mul, relu, to_the_end), "Element i of y is what a turn makes"),
        ((by_python, relu, flip), "here the index is a symbol and a value is nothing yet"),
        ((mul, relu, 3), "expected a function, found 3"),
        ((mul, relu, lambda ops, i, n: ops.load("x", n - i)), "x[4] is outside of its 4 elements"),
        ((mul, relu, lambda ops, i, n: ops.load("z", i)), "no buffer 'z': there are x, y"),
        ((mul, relu, lambda ops, i, n: ops.turn(i)), "ops has no turn"),
        ((mul, relu, lambda ops, i, n: ops.load("x", i)), "a body that stores its result"),
        ((mul, relu, lambda ops, i, n: ...), "Not begun"),
    ],
)
def test_bodies(answers, word):
    assert word in repr(course.bodies(*answers))


class Counter(Quiet):
    accesses = 0
    counted = ("load", "store")

    def add(self, word):
        self.accesses += word in self.counted

    def load(self, buffer, at):
        self.add("load")

    def store(self, buffer, at, value):
        self.add("store")

    def op(self, name, *args):
        self.add("op")

    def constant(self, value, dtype):
        self.add("constant")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("load", "store"), PASSED),
        (("load", "store", "constant"), "A constant stands in the code"),
        (("load", "store", "op"), "An operation works on values in hand"),
        (("load", "store", "op", "constant"), "Only loads and stores touch an array"),
        (("load",), "A store is an access as well."),
        (("store",), "A load is an access as well."),
        ((), "Nothing was counted"),
    ],
)
def test_count_ops(words, said):
    kind = type("Mine", (Counter,), {"counted": words})
    assert said in repr(course.count_ops(kind))


def test_count_ops_is_told_what_is_no_handler():
    assert "Not begun" in repr(course.count_ops(...))
    assert "a handler with a number `accesses`" in repr(course.count_ops(type("No", (Quiet,), {
        "load": lambda self, buffer, at: None, "store": lambda self, buffer, at, value: None})))
    assert "No has no `load`, which this loop body asks for" in repr(
        course.count_ops(type("No", (Quiet,), {})))
    assert "expected a class, found" in repr(course.count_ops(Counter()))


def plan(steps):
    """Lowest free array that is no operand's."""
    last = {buffer: k for k, (_, reads) in enumerate(steps) for buffer in reads}
    places, free, count = {}, [], 0
    for k, (made, reads) in enumerate(steps):
        if not free:
            free, count = [count], count + 1
        places[made] = free.pop()
        free += [places[b] for b in reads if b in places and last[b] == k]
    return places


def too_early(steps):
    places, free, count = {}, [], 0
    for made, reads in steps:
        if not free:
            free, count = [count], count + 1
        places[made] = free.pop()
        free += [places[b] for b in reads if b in places and places[b] not in free]
    return places


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (plan, PASSED),
        (too_early, "An array is free only after its last reader"),
        (lambda steps: {made: made for made, _ in steps}, "Nothing was used again"),
        (lambda steps: {made: "one" for made, _ in steps}, "An array is free only after its last"),
        (lambda steps: {made: [] for made, _ in steps}, "t4, y, a name or a number"),
        (lambda steps: {"t1": 0}, "a dict with an array for each of t1, t2, t3, t4, y"),
        (lambda steps: ..., "Not begun"),
    ],
)
def test_memory_plan(fn, word):
    assert word in repr(course.memory_plan(fn))


def test_a_result_over_its_operand():
    def in_place(steps):
        return {made: "a" if made in ("t1", "t2", "t3") else made for made, _ in steps[:3]} | {
            "t4": "b", "y": "c"}

    chain_only = lambda steps: in_place(steps) if len(steps[3][1]) == 1 else plan(steps)
    told = repr(course.memory_plan(chain_only))
    assert "Writing over an operand is right for one element" in told


def rule(a, b, between):
    if a.sizes != b.sizes:
        return "sizes"
    if a.name in b.loads and b.loads[a.name] != a.stores[a.name]:
        return "index"
    common = any(ats & b.loads.get(buffer, set()) for buffer, ats in a.loads.items())
    if a.name not in b.loads and not common:
        return "nothing shared"
    return "between" if between else None


def without(word):
    """The rule that does not ask for `word`."""

    def partial(a, b, between):
        found = rule(a, b, between)
        return None if found == word else found

    return partial


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (rule, PASSED),
        (without("sizes"), "One loop runs over one set of elements"),
        (without("index"), "[-2, 0, 4, 6] for [6, 4, 0, -2]"),
        (without("nothing shared"), "gain nothing from being one"),
        (without("between"), "fusing around it is a circle"),
        (lambda a, b, between: rule(a, b, between) or (
            None if a.name in b.loads else "nothing shared"), "Loops side by side share"),
        (lambda a, b, between: "between" if between else rule(a, b, between), "the order given"),
        (lambda a, b, between: True, "None or one of 'sizes', 'index', 'nothing shared'"),
        (lambda a, b, between: ..., "Not begun"),
    ],
)
def test_may_fuse(fn, word):
    assert word in repr(course.may_fuse(fn))


def test_twelve_pairs_and_every_answer_among_them():
    told = course.may_fuse(rule)
    assert len(told.facts) == 12
    words = {fact.expected for fact in told.facts}
    assert words == {None, "sizes", "index", "nothing shared", "between"}


def cheaper(price, fused, stored):
    return fused[0] + price * fused[1] > stored[0] + price * stored[1]


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (cheaper, PASSED),
        (lambda price, fused, stored: False, "at 1024 x 1024 that is 1,048,576 tanh"),
        (lambda price, fused, stored: True, "cheaper than a trip to memory and back"),
        (lambda price, fused, stored: price > 1, "With one row tanh is computed once"),
        (lambda price, fused, stored: fused[1] > stored[1], "cheaper than a trip to memory"),
        (lambda price, fused, stored: not cheaper(price, fused, stored), "Turned round"),
        (lambda price, fused, stored: fused[0] - stored[0], "expected True or False"),
        (lambda price, fused, stored: ..., "Not begun"),
    ],
)
def test_materialise(fn, word):
    assert word in repr(course.materialise(fn))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, PASSED),
        ({"materialize": True}, PASSED),
        ({"materialize": False}, "tanh is computed 64 times for each element"),
        ({"max_nodes": 1, "materialize": False}, "something forbids to store it"),
        ({"materialise": True}, "unexpected option 'materialise'; known are"),
        ("fast", "a dict of options"),
        (..., "Not begun"),
    ],
)
def test_cheap_gate(options, word):
    assert word in repr(course.cheap_gate(options))


def by_hand(h, w):
    return (h[:, :, None] * w[None]).sum(1).relu()


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda h, w: (h @ w).relu(), PASSED),
        (by_hand, "a loop that no library knows"),
        (lambda h, w: h @ w, "equal to relu(h @ w): expected True, found False"),
        (lambda h, w: ((h * 2).relu() * 0 + h @ w).relu(), PASSED),
        (lambda h, w: h.sum(), "a tensor of 64 x 64"),
        (lambda h, w: ..., "Not begun"),
    ],
)
def test_product(fn, word):
    assert word in repr(course.product(fn))
