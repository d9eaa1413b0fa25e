"""Iterators across breaks: what is left of one is taken by the next region, and nothing twice."""

from __future__ import annotations

import itertools

import pytest

import labcore as torch
from labcore import trace

from .differential import check
from .subjects import x4


def enumerated(x, out):
    for n, t in enumerate([x, x + 1, x + 2]):
        y = t * 2
        print(end="")
        out.append((n, y))
    return x - 1


def zipped(x, out):
    for a, b in zip([x, x + 1, x + 2], "abc"):
        y = a * 2
        print(end="")
        out.append((b, y))
    return x - 1


def zip_of_enumerate(x, out):
    for (n, a), b in zip(enumerate([x, x + 1, x + 2], 5), (1, 2, 3, 4)):
        y = a * 2
        print(end="")
        out.append((n, y))
    return x - 1


def backwards(x, out):
    for t in reversed([x, x + 1, x + 2]):
        y = t * 2
        print(end="")
        out.append(y)
    return x - 1


def keys(x, out):
    for key, t in {"a": x, "b": x + 1, "c": x}.items():
        y = t * 2
        print(end="")
        out.append((key, y))
    return x - 1


@pytest.mark.parametrize("program", [enumerated, zipped, zip_of_enumerate, backwards, keys])
def test_a_loop_costs_three_graphs(program) -> None:
    """Before the break, the body, and what comes after the loop."""
    out = check(program, x4(), [])
    assert len(out.counter.graphs) == 3


def shared(x, first, second):
    total = x
    for a in first:
        print(end="")
        total = total + a
        for b in second:
            total = total * b
            break
    return total, list(first), list(second)


@pytest.mark.parametrize("same", [False, True])
def test_iterators_that_share(same) -> None:
    compiled = torch.compile(shared)
    for both in (False, same, False, same):
        results = []
        for function in (shared, compiled):
            it = iter([1, 2, 3, 4, 5])
            results.append(function(x4(), it, it if both else iter([6, 7])))
        assert results[0][1:] == results[1][1:]
        assert results[0][0].tolist() == results[1][0].tolist()


def grows(x):
    items = [1, 2]
    for n, i in enumerate(items):
        print(end="")
        if n < 3:
            items.append(i + 1)
        x = x * i
    return x, items


def dict_grows(x):
    table = {"a": 1}
    for key in table:
        print(end="")
        table[key + "x"] = 1
        x = x + 1
    return x


def opaque(x, out):
    for a in map(abs, itertools.chain([-1, 2], [-3])):
        print(end="")
        out.append(x * a)
    return x


def test_what_is_changed_while_it_is_iterated() -> None:
    check(grows, x4())
    check(dict_grows, x4())
    check(opaque, x4(), [])


# ---- iterators in use where a region ends -------------------------------------------------------

IN_USE = [
    "map(lambda i: i * 2, [1, 2, 3, 4])",
    "map(lambda a, b: a + b, [1, 2, 3], iter((4, 5, 6, 7)))",
    "filter(lambda i: i % 2, range(9))",
    "filter(None, [1, 0, 2, 3])",
    "enumerate('abcd', 3)",
    "zip([1, 2, 3], 'abcd')",
    "zip([1, 2, 3], 'abc', strict=True)",
    "reversed([1, 2, 3])",
    "iter([3, 2, 1, 0].pop, 3)",
    "itertools.chain([1], 'ab', (2,))",
    "itertools.chain.from_iterable([[1], 'ab'])",
    "itertools.islice(iter(range(20)), 1, 9, 3)",
    "itertools.islice('abcdef', 4)",
    "itertools.islice(itertools.count(2), 1, None)",
    "itertools.count(5, 2)",
    "itertools.repeat('a', 3)",
    "itertools.repeat('a')",
    "itertools.takewhile(lambda i: i < 3, [1, 2, 3, 1])",
    "itertools.dropwhile(lambda i: i < 2, [1, 2, 1, 3])",
    "itertools.filterfalse(lambda i: i % 2, range(7))",
    "itertools.starmap(pow, [(2, 1), (2, 2), (2, 3)])",
    "itertools.compress('abcd', [1, 0, 1, 1])",
    "itertools.zip_longest([1, 2, 3], 'a', fillvalue='-')",
    "itertools.accumulate([1, 2, 3])",
    "itertools.accumulate([1, 2, 3], lambda a, b: a * b, initial=4)",
    "itertools.cycle('ab')",
    "itertools.groupby('aabbb')",
    "itertools.pairwise([1, 2, 3, 4])",
    "itertools.product([1, 2], 'ab')",
    "itertools.permutations([1, 2, 3], 2)",
    "itertools.combinations('abcd', 2)",
    "itertools.combinations_with_replacement('abc', 2)",
    "itertools.tee([1, 2, 3])[0]",
    "(i * 2 for i in range(4))",
]
USES = {
    "not_begun": "print(end='')",
    "begun": "first = next(it); print(end='')",
    "twice": "first = next(it), next(it); print(end='')",
    "returned": "return it, x + 1",
    "returned_begun": "first = next(it); return first, it, x + 1",
    "in_a_loop": "for first in it:\n    x = x + 1\n    print(end='')\n    if x[0] > 3: break",
    "ended": "first = [*itertools.islice(it, 9)]; print(end=''); first += [next(it, 'over')]",
}


def plain(value):
    """What is left in an iterator, and its type."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "__next__"):
        return type(value), [plain(item) for item in itertools.islice(value, 9)]
    return value


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", IN_USE)
def test_an_iterator_in_use(made, use) -> None:
    body = USES[use].replace("\n", "\n    ")
    source = f"def f(x):\n    first = None\n    it = {made}\n    {body}\n    return x, first, it\n"
    scope = {"itertools": itertools}
    exec(source, scope)
    compiled = torch.compile(scope["f"])
    for _ in range(2):
        expected, found = scope["f"](torch.ones(2)), compiled(torch.ones(2))
        assert plain(found) == plain(expected)


def test_effects_come_when_an_item_is_wanted() -> None:
    def lazy(x, log):
        note = lambda i: log.append(i) or i
        rows = zip(map(note, [1, 2, 3]), filter(note, [4, 0, 5]), enumerate(map(note, "ab")))
        log.append("made")
        first = next(rows)
        print(end="")
        log.append("between")
        return x * first[0], [*rows], log

    logs = [[], [], []]
    results = [lazy(torch.ones(2), logs[0])]
    compiled = torch.compile(lazy)
    results += [compiled(torch.ones(2), log) for log in logs[1:]]
    assert logs[0] == logs[1] == logs[2]
    assert plain(results[0]) == plain(results[1]) == plain(results[2])


def test_what_a_list_only_keeps_is_not_looked_at() -> None:
    def noted(x, value, out):
        out.append(value)
        return x + 1

    compiled, out = torch.compile(noted), []
    with trace.record() as story:
        for value in (1.5, 2.5, "three"):
            compiled(torch.ones(2), value, out)
    assert out == [1.5, 2.5, "three"]
    assert len(story.of(trace.GraphCaptured)) == 1


WRONG = [
    "itertools.islice([1], -1)", "itertools.islice([1], 0, 1, 0)",
    "itertools.product([1], repeat=-1)",
    "itertools.combinations([1], -1)", "itertools.permutations([1], -1)", "itertools.tee([1], -1)",
    "itertools.repeat(1, 'a')", "list(zip([1], [1, 2], strict=True))", "max([])", "sum(['a'])",
    "next(iter([]))", "list(map(lambda i: 1 // i, [1, 0]))", "enumerate(5)", "zip(5)", "map(5)",
    "sorted([1, 'a'])", "min(1, 'a')", "all(5)", "itertools.starmap(pow, [1]).__next__()",
]  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_in_the_same_words(text) -> None:
    body = f" try: return {text}\n except Exception as e: return type(e), str(e), x + 1"
    source = f"def f(x):\n{body}"
    scope = {"itertools": itertools}
    exec(source, scope)
    expected, found = scope["f"](torch.ones(2)), torch.compile(scope["f"])(torch.ones(2))
    assert plain(found) == plain(expected)


def adds(s, x):
    for key in s:
        x = x + key
        s.add(key + 100)
    return x


def clears(s, x):
    for key in s:
        x = x + key
        s.clear()
    return x


def replaces_after_a_break(s, x):
    for key in s:
        x = x + 1
        print(end="")
        s.discard(key)
        s.add(key + 5)
    return x


@pytest.mark.parametrize("program", [adds, clears, replaces_after_a_break])
def test_a_set_is_changed_while_it_is_iterated(program) -> None:
    compiled = torch.compile(program, backend="eager")
    results = []
    for function in (program, compiled, compiled):
        elements = {1, 2, 3}
        try:
            result = function(elements, x4()).tolist()
        except RuntimeError as error:
            result = str(error)
        results.append((result, list(elements)))
    assert results[0] == results[1] == results[2]


def test_a_loop_over_a_list_is_no_loop_over_a_generator() -> None:
    """Where the second is left, its `finally` runs."""
    events = []

    def numbers():
        try:
            yield 1
            yield 2
        finally:
            events.append("closed")

    def one():
        return [1]

    @torch.compiler.disable
    def made(make):
        return make()

    def first(make, x):
        for number in made(make):
            print(end="")
            x = x + number
            break
        events.append("left")
        return x

    compiled = torch.compile(first, backend="eager")
    for make in (one, numbers, one, numbers):
        compiled(make, x4())
    assert events == ["left", "closed", "left"] * 2


def test_an_exception_leaves_a_loop_over_a_list_or_over_a_generator() -> None:
    """Nobody looked at the iterator since the break: the generator's `finally` runs before the
    handler of the exception all the same."""

    def told(wrap):
        events = []

        def numbers():
            try:
                yield 1
                yield 2
            finally:
                events.append("closed")

        def listed():
            return [1, 2]

        @torch.compiler.disable
        def made(make):
            return make()

        def first(make, x):
            try:
                for number in made(make):
                    print(end="")
                    x = x + number
                    raise ValueError("enough")
            except ValueError:
                events.append("caught")
                return x * 2

        function = wrap(first)
        values = [function(make, x4()).tolist() for make in (listed, numbers, listed, numbers)]
        return values, events

    assert told(lambda function: torch.compile(function, backend="eager")) == told(lambda f: f)
