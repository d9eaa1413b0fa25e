"""Nobody keeps what the user let go of: neither capture nor the traceback of a caught exception.
And where there is a traceback, it has every line that eager's has."""

from __future__ import annotations

import functools
import gc
import itertools
import warnings
import weakref

import pytest

import labcore as torch
from labcore.compiler import disable
from labcore.tensor import Tensor

events: list[str] = []


class Noted:
    def __init__(self, name: str, tensor: Tensor) -> None:
        self.name, self.tensor = name, tensor
        weakref.finalize(self, events.append, f"gone {name}").atexit = False


@disable
def note(text):  # a break: within a region, what is let go of dies at the region's end
    events.append(text)


def fails(x):
    kept = Noted("local", x)
    note("fails")
    raise ValueError(kept.name)


def lets_go(x):
    noted = Noted("first", x)
    note("one")
    y = noted.tensor * 2
    noted = None
    note("two")
    return y


def catches(x):
    try:
        fails(x)
    except ValueError:
        note("caught")
        x = x * 2
    note("after")
    return x


def replaces_a_result(x):
    product = x * 2
    seen = weakref.ref(product)
    note("made")
    product = product + 1
    note(f"gone: {seen() is None}")
    return product


def left_by_an_error(x):
    def numbers():
        try:
            yield 1
        finally:
            events.append("closed")

    try:
        for number in numbers():
            x = x + ""[number]
    except IndexError:
        events.append("caught")
    return x


def callee_that_catches(x):
    try:
        fails(x)
    except ValueError:
        return x * 2


def handles_a_group(x):
    kept = Noted("kept", x)
    try:
        raise len(None)
    except* TypeError:
        note("caught")
    return kept.tensor * 2


def passes_an_error_on(x):
    kept = Noted("kept", x)
    try:
        try:
            note("inner")
            len(None)
        finally:
            note("finally")
    except TypeError:
        note("caught")
    return kept.tensor * 2


def goes_on_after_a_callee_that_catches(x):
    x = callee_that_catches(x)
    kept = Noted("kept", x)
    note("after")
    return kept.tensor


@pytest.mark.parametrize(
    "function",
    [
        handles_a_group,
        passes_an_error_on,
        goes_on_after_a_callee_that_catches,
        lets_go,
        catches,
        replaces_a_result,
        left_by_an_error,
    ],
)
def test_values_die_when_they_die_in_eager(function):
    x = torch.tensor([1.0, 2.0])
    compiled = torch.compile(function, backend="eager")
    runs = []
    gc.collect()
    gc.disable()
    try:
        for call in (function, compiled, compiled):
            events.clear()
            call(x)
            runs.append(list(events))
    finally:
        gc.enable()
    assert runs[0] == runs[1] == runs[2]


def test_an_error_leaves_no_iterator_open():
    def numbers():
        try:
            yield 1
        finally:
            events.append("closed")

    def f(x):
        for number in numbers():
            x = x + ""[number]
        return x

    def g(x):
        return sum(numbers(), None) * x

    def h(x):
        for number in numbers():
            x = {a: number + "" for a in {"a": x}.items()}

    for function, kind in ((f, IndexError), (g, TypeError), (h, TypeError)):
        events.clear()
        with pytest.raises(kind) as caught:
            torch.compile(function, backend="eager")(torch.tensor([1.0]))
        assert events == ["closed"], caught  # which holds the traceback


def failing_generator(x):
    yield x
    raise KeyError("no more")


def iterates(x):
    for t in failing_generator(x):
        x = x + t
    return x


def reduces(x):
    events.append("before")
    return functools.reduce(lambda a, b: a / 0, [1, 2]) * x


@pytest.mark.parametrize("function", [iterates, reduces])
def test_c_code_that_calls_python_leaves_the_caller_in_the_traceback(function):
    def lines(call):  # but the test's own
        with pytest.raises((KeyError, ZeroDivisionError)) as caught:
            call(torch.tensor([1.0]))
        return [(t.name, t.lineno) for t in caught.traceback if str(t.path) == __file__][2:]

    compiled = torch.compile(function, backend="eager")
    assert lines(function) == lines(compiled) == lines(compiled)


class Told:
    """It is told when nobody holds it any more."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        events.append(f"exit {self.name}")

    def __del__(self):
        events.append(f"gone {self.name}")


def deleted(x):
    told = Told("first")
    y = x * len(told.name)
    del told
    events.append("after")
    return y + 1


def given_other_values(x):
    told = Told("first")
    told = Told("second")
    events.append("two")
    told = None
    for name in "pq":
        told = Told(name)
        x = x + 1
        events.append(told.name)
    return x


def of_a_callee(x):
    def inner(y):
        told = Told("inner")
        return y * len(told.name)

    x = inner(x)
    events.append("between")
    x = inner(x + 1)
    events.append("after")
    return x * 2


def held_twice(x):
    told = Told("first")
    other = told
    told = None
    events.append("still there")
    other = 3
    events.append("after")
    return x * other


def left_on_the_stack(x):
    Told("nobody's")
    events.append("after")
    return x * 2


def entered(x):
    with Told("entered") as told:
        x = x * 2
    told = 3
    events.append("after")
    return x * told


def tells_when_it_is_closed(x):
    try:
        for n in range(5):
            yield x * n
    finally:
        events.append("closed")


def started(x):
    numbers = tells_when_it_is_closed(x)
    first = next(numbers)
    numbers = None
    events.append("after")
    return first + 1


def taken_by_a_callee(x):
    take = lambda items, count: [item for _, item in zip(range(count), items)]
    taken = take(tells_when_it_is_closed(x), 2)
    events.append("after")
    return taken


def left_half_done(wrap):
    def loops(x):
        for item in wrap(tells_when_it_is_closed(x)):
            y = item[-1] if type(item) is tuple else item
            if x.shape:
                break
        events.append("after")
        return y + 1

    return loops


WRAPS = [
    enumerate,
    iter,
    lambda items: zip(range(9), items),
    lambda items: map(lambda item: item * 2, items),
    lambda items: filter(lambda item: True, items),
    lambda items: itertools.islice(items, 3),
    lambda items: itertools.chain(items, [1]),
    lambda items: enumerate(map(abs, items)),
]


@pytest.mark.parametrize(
    "function",
    [
        deleted,
        given_other_values,
        of_a_callee,
        held_twice,
        left_on_the_stack,
        entered,
        started,
        taken_by_a_callee,
        *map(left_half_done, WRAPS),
    ],
)
def test_what_is_told_when_it_goes_is_told_before_what_comes_next(function):
    x = torch.tensor([1.0, 2.0])
    compiled = torch.compile(function, backend="eager")
    runs = []
    for call in (function, compiled, compiled):
        events.clear()
        call(x)
        runs.append(list(events))
    assert runs[0] == runs[1] == runs[2]


def test_an_iterator_is_asked_at_each_call_whether_it_closes_a_generator():
    def loops(x, make):
        for item in make(x):
            x = x + item[-1]
            break
        events.append("after")
        return x * 2

    def open_ones(x):
        return zip(tells_when_it_is_closed(x))

    x = torch.tensor([1.0, 2.0])
    compiled = torch.compile(loops, backend="eager")
    for make in (lambda x: iter([[x]]), open_ones, lambda x: enumerate([x]), open_ones):
        runs = []
        for call in (loops, compiled):
            events.clear()
            call(x, make)
            runs.append(list(events))
        assert runs[0] == runs[1]


def prints_two_fields(x):
    for i in range(20):
        print(f"{i:02d}: {x.sum().item():.2f}")
        x = x + 1
    return x


def nested_ranges(x):
    for i in range(20):
        for j in range(i):
            print(j)
            x = x + j
    return x


def names_in_turn(x):
    for name in [f"a{n}" for n in range(20)]:
        print(name.upper() + "!")
        x = x + 1
    return x


@pytest.mark.parametrize("function", [prints_two_fields, nested_ranges, names_in_turn])
def test_texts_and_ranges_that_vary_are_no_variants(function, capsys):
    x = torch.tensor([1.0])
    expected = function(x).tolist(), capsys.readouterr().out
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the recompile limit
        got = torch.compile(function, backend="eager")(x).tolist(), capsys.readouterr().out
    assert got == expected


def last_items(make, x):
    for _ in range(2):
        started = make(x)
        x = next(started)  # another generator is let go of, which stands within its try
    return x * 2


def unzips(make, x):
    first, second = zip(*[(x, x + 1), (x * 2, x)])
    return first[0] + second[1], [*make(x)][0]


def delegates(make, x):
    def all_of(items):
        yield from items

    return sum(all_of([x, x + 1, *make(x)]))


class Key:
    def __hash__(self):
        return 3

    def __eq__(self, other):
        return self is other


def asks_for_hashes(make, x):
    for _ in range(2):
        started = make(x)
        x = next(started)
        x = x * len({Key(), None})
    return x


@pytest.mark.parametrize("program", [last_items, unzips, delegates, asks_for_hashes])
def test_no_cycle_of_capture_holds_what_the_call_was_given(program):
    """A call that was captured lets go of its generators and tensors as an eager one does."""
    closed = []

    def one(x):
        try:
            yield x + 1
        finally:
            closed.append("closed")

    def told(function):
        closed.clear()
        x = torch.ones(2)
        seen = weakref.ref(x)
        function(one, x)
        del x
        return len(closed), seen()

    gc.collect()
    gc.disable()
    try:
        expected = told(program)
        compiled = torch.compile(program, backend="eager")
        assert told(compiled) == told(compiled) == expected
    finally:
        gc.enable()
