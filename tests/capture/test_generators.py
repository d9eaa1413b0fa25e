"""Generators around breaks, let go of half way, thrown into, and leaving the region."""

from __future__ import annotations

import contextlib

import pytest

import labcore as torch
from labcore.compiler import disable
from labcore.compiler._dynamo.testing import CompileCounter

from .differential import strict
from .subjects import x4

LOG = []


@disable
def note(what):
    LOG.append(what)


def steps(x, n=3):
    for i in range(n):
        LOG.append(i)
        yield x * i


def guarded(x):
    try:
        yield x
        yield x + 1
    finally:
        LOG.append("closed")


@contextlib.contextmanager
def managed(x):
    LOG.append("in")
    try:
        yield x * 2
    except ValueError as error:
        LOG.append(str(error))
    finally:
        LOG.append("out")


def break_between_items(x):
    for y in steps(x):
        note("between")
        x = x + y
    return x


def break_inside(x):
    def noting():
        for i in range(2):
            note(i)
            yield i

    for i in noting():
        x = x + i
    return x * 2


def let_go_of(x):
    for y in guarded(x):
        x = x + y
        break
    LOG.append("after")
    return x


def let_go_of_without_a_finally(x):
    for y in steps(x):
        if len(LOG) > 1:
            break
        x = x + y
    return x


def given_out(x):
    return steps(x, 2)


def given_out_half_way(x):
    made = steps(x)
    first = next(made)
    return first + 1, made


def break_in_a_with(x):
    with managed(x) as y:
        x = x + y
        note("inside")
        x = x * y
    return x


def error_in_a_with(x):
    with managed(x) as y:
        x = x + y
        raise ValueError("inside")
    return x * 3


def sends(x):
    def running():
        total = x
        while True:
            total = total + (yield total)

    made = running()
    next(made)
    return [made.send(i) for i in (1, 2)], made.send(x)


def returned(x):
    def inner():
        got = yield 1
        return got

    def outer():
        value = yield from inner()
        yield value

    made = outer()
    return next(made), made.send(x), list(made)


def thrown(x):
    def catching():
        try:
            yield x
        except KeyError as error:
            yield error.args[0]

    made = catching()
    return next(made), made.throw(KeyError("k")), next(made, "end")


def thrown_uncaught(x):
    made = steps(x)
    next(made)
    try:
        made.throw(KeyError)
    except KeyError:
        return x, list(made)


def thrown_into_an_inner(x):
    def outer():
        yield from guarded(x)

    made = outer()
    first = next(made)
    try:
        made.throw(ValueError("in"))
    except ValueError as error:
        return first, str(error)


def closed(x):
    made = guarded(x)
    first = next(made)
    made.close()
    return first, list(made)


def ignores_the_close(x):
    def stubborn():
        try:
            yield x
        except GeneratorExit:
            yield 2

    made = stubborn()
    next(made)
    try:
        made.close()
    except RuntimeError as error:
        return str(error)


def runs_itself(x):
    def selfish():
        yield next(made)

    made = selfish()
    try:
        return next(made)
    except ValueError as error:
        return str(error)


def reads_late(x):
    n = 1
    made = (x * n * i for i in range(2))
    n = 5
    return list(made)


def too_many(x):
    a, b = steps(x, 5)
    return a


def unpacks_with_star(x):
    def f(*args, **named):
        return args, named

    return f(*steps(x), **dict((k, x) for k in "ab"))


def collects(x):
    given = []
    given.extend(y for y in steps(x))
    return given, {i: x for i in range(2)}, sorted((i for i in (2, 1)), key=lambda i: -i)


PROGRAMS = [
    value
    for value in list(vars().values())
    if getattr(value, "__module__", None) == __name__
    and getattr(value, "__code__", None) is not None
    and value.__code__.co_varnames[: value.__code__.co_argcount] == ("x",)
    and not value.__code__.co_flags & 0x20
]


def outcome(function):
    LOG.clear()
    try:
        result = function(x4())
        parts = result if isinstance(result, tuple) else (result,)
        return [list(p) if hasattr(p, "send") else repr(p) for p in parts], list(LOG)
    except Exception as error:
        return repr(error), list(LOG)


@pytest.mark.parametrize("function", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_agrees_with_eager(function):
    expected = repr(outcome(function))
    compiled = torch.compile(function, backend="eager")
    with strict():
        for _ in range(3):
            assert repr(outcome(compiled)) == expected


def test_a_generator_function_itself_runs_eagerly():
    compiled = torch.compile(steps, backend=(counter := CompileCounter()))
    assert repr(list(compiled(x4()))) == repr(list(steps(x4()))) and counter.frame_count == 0
