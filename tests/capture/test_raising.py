"""Programs that raise through callees, with blocks, handlers, generators and breaks: the traceback,
its columns and its chain of contexts are eager's."""

from __future__ import annotations

import contextlib

import pytest

import labcore as torch
from labcore.compiler import disable

from .differential import strict
from .subjects import x4

LOG = []


@disable
def note(what):
    LOG.append(what)


class Mine(Exception):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


class Leaving:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        LOG.append(kind and kind.__name__)


class Failing(Leaving):
    def __exit__(self, kind, error, traceback):
        raise KeyError("exit")


@contextlib.contextmanager
def managed():
    LOG.append("in")
    try:
        yield 3
    finally:
        LOG.append("out")


def fails(x, n):
    y = x * n
    if n:
        raise Mine(n)
    return y


def from_a_callee(x):
    return fails(x + 1, 2)


def from_a_callee_after_a_break(x):
    y = x * 2
    note("before")
    return fails(y, 2)


def through_a_with(x):
    with Leaving(), torch.no_grad():
        return fails(x, 1)


def through_a_with_after_a_break(x):
    with Leaving():
        note("inside")
        return fails(x, 1)


def replaced_by_exit(x):
    with Failing():
        return fails(x, 1)


def through_a_context_function(x):
    with managed() as n:
        return x[n + 9]


def in_a_handler(x):
    try:
        return fails(x, 1)
    except Mine:
        return x.missing


def in_a_handler_after_a_break(x):
    try:
        return fails(x, 1)
    except Mine as error:
        note(str(error))
        return {}["missing"]


def from_another(x):
    try:
        return 1 // 0
    except ZeroDivisionError as error:
        raise ValueError("worse") from error


def from_none(x):
    try:
        return fails(x, 3)
    except Mine as error:
        raise LookupError(error.code) from None


def again(x):
    try:
        return fails(x, 3)
    except Mine as error:
        LOG.append(error.code)
        raise


def again_by_name(x):
    try:
        return fails(x, 3)
    except Mine as error:
        raise error


def wrong_handler(x):
    try:
        return fails(x, 3)
    except (KeyError, ValueError):
        return x


def finally_raises(x):
    try:
        return fails(x, 3)
    finally:
        LOG.append([][0])


def from_a_generator(x):
    def steps():
        yield 1
        raise KeyError("later")

    return [x * n for n in steps()]


def stop_in_a_generator(x):
    def steps():
        yield next(iter(()))

    return list(steps())


def asserts(x):
    assert x.shape == (5,), f"not {x.shape}"


def no_exception(x):
    raise x


def wrong_clause(x):
    try:
        return fails(x, 1)
    except 3:
        return x


def unpacks(x):
    a, b, *c = [x]
    return a, b, c


def deep_inside(x):
    try:
        with Leaving():
            for n in range(3):
                try:
                    fails(x, n)
                finally:
                    LOG.append(n)
    except Mine as first:
        try:
            raise first.__context__ or KeyError(first.code)
        except KeyError:
            with Leaving():
                raise RuntimeError(first.args)


PROGRAMS = [
    value
    for value in list(vars().values())
    if getattr(value, "__module__", None) == __name__
    and callable(value)
    and getattr(value, "__code__", None) is not None
    and value.__code__.co_varnames[: value.__code__.co_argcount] == ("x",)
]


def told(error):
    """Type, text, places with columns, and what was being handled."""
    if error is None:
        return None
    places, entry = [], error.__traceback__
    while entry is not None:
        code = entry.tb_frame.f_code
        if code.co_filename == __file__:
            where = list(code.co_positions())[entry.tb_lasti // 2]
            places.append((code.co_qualname, entry.tb_lineno, where))
        entry = entry.tb_next
    chain = told(error.__context__), told(error.__cause__), error.__suppress_context__
    return type(error).__name__, str(error), places, chain


def outcome(function):
    LOG.clear()
    try:
        return repr(function(x4())), list(LOG)
    except Exception as error:
        name, text, places, chain = told(error)
        return name, text, places[1:], chain, list(LOG)


@pytest.mark.parametrize("function", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_a_traceback_is_eagers(function):
    expected = outcome(function)
    compiled = torch.compile(function, backend="eager")
    with strict():
        for _ in range(3):
            assert outcome(compiled) == expected
