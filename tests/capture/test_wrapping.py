"""functools and named tuples: what the standard library makes of functions and tuples."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections import namedtuple
from typing import NamedTuple

import pytest

import labcore as torch

from .differential import captured, check
from .subjects import x4

Pair = namedtuple("Pair", "left right", defaults=[3])
PAIR = Pair(1, 2)
SEEN = []


class Typed(NamedTuple):
    a: object
    b: int = 4

    def product(self):
        return self.a * self.b

    @property
    def twice(self):
        return self.b * 2


def scaled(a, b=2, *, c=1):
    """Text."""
    return a * b + c


PARTIAL = functools.partial(scaled, c=4)


@functools.lru_cache
def cached(n):
    return n * 2


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.lru_cache
def noted(n):
    SEEN.append(n)
    return n + 1


@functools.lru_cache
def listed(n):
    return [n]


class Holder:
    def scale(self, k, t):
        return t * k

    twice = functools.partialmethod(scale, 2)

    @staticmethod
    @functools.lru_cache
    def triple(n):
        return n * 3


def deco(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) + 1

    wrapper.extra = 3
    return wrapper


def partials(x):
    add = functools.partial(operator.add, x)
    nested = functools.partial(functools.partial(scaled, c=3), x)
    return (
        add(1), nested(5), nested(b=1), PARTIAL(x), PARTIAL.keywords["c"], nested.args[0] is x,
        nested.func is scaled, Holder().twice(x), scaled.__get__(x)(2),
    )  # fmt: skip


def wraps_inside(x):
    @deco
    @deco
    def inner(t):
        "doc"
        return t * 2

    inner.more = 1
    return (
        inner(x), inner.__name__, inner.__doc__, inner.__wrapped__(x), inner.extra, inner.more,
        deco(scaled)(x), deco(scaled).__name__, deco(scaled).__wrapped__ is scaled,
    )  # fmt: skip


def caches(x):
    return x * cached(3), fibonacci(10), Holder.triple(2), cached.__wrapped__(2)


def named_tuples(x, p):
    q, t = Pair(x * 2), Typed(x)
    a, *b = q
    return (
        q, q.left + q[1], len(q), t.product(), t, t.twice, Pair(1, 2) == (1, 2), t._fields, p[0],
        Typed._fields, p.left * x, isinstance(p, tuple), isinstance(t, Typed), type(t).__name__,
        t[0:1], q + (1,), 4 in Pair(1, 4), Pair._make([1, 2]), PAIR._asdict(), p is PAIR, p, a, b,
    )  # fmt: skip


@pytest.mark.parametrize("function", [partials, wraps_inside, caches])
def test_functools(function):
    captured(function, x4())


def test_named_tuples():
    captured(named_tuples, x4(), Pair(5, 6))


def test_a_partial_that_leaves():
    def f(x):
        return functools.partial(scaled, x, c=2), deco(scaled)

    made, wrapper = torch.compile(f, backend="eager", fullgraph=True)(x4())
    assert made.func is scaled and made.keywords == {"c": 2}
    assert made(3).tolist() == scaled(x4(), 3, c=2).tolist()
    assert (wrapper.__name__, wrapper.__doc__, wrapper.extra) == ("scaled", "Text.", 3)
    assert wrapper.__wrapped__ is scaled and wrapper.__module__ == __name__


def test_a_cache_is_kept_where_leaving_it_out_would_show():
    SEEN.clear()
    compiled = torch.compile(lambda x: (x + noted(1), listed(2)), backend="eager")
    first, second = compiled(x4())[1], compiled(x4())[1]
    assert first is second and SEEN == [1]
    for function in (lambda x: cached([1]), lambda x: functools.partial(3), lambda x: Pair()):
        check(function, x4())


def test_names_that_hide_in_the_dictionary_of_what_is_wrapped():
    def named(x):
        return x

    vars(named)["__name__"] = "hidden"

    def wraps(x):
        @functools.wraps(named)
        def inner(x):
            return x

        return vars(inner), inner.__name__

    x = torch.ones(2)
    assert torch.compile(wraps, backend="eager")(x) == wraps(x)


def wraps_operators(x):
    first, second, third = deco(torch.relu), deco(len), deco(deco(torch.relu))
    return (
        first(x), second([x]), third(x), first.__name__, second.__name__, third.__name__,
        second.__doc__, first.__wrapped__ is torch.relu,
        third.__wrapped__.__wrapped__ is torch.relu, hasattr(first, "kernel"),
        first.__module__ == third.__module__,
    )  # fmt: skip


@functools.singledispatch
def shown(value, times=1):
    return value * times


@shown.register
def _(value: int, times=1):
    return value + times


@shown.register(list)
def _(value, times=1):
    return [shown(item, times) for item in value]


class Reader:
    @functools.singledispatchmethod
    def read(self, value):
        return value

    @read.register
    def _(self, value: int):
        return self, value + 100


def dispatches(x):
    return shown(3), shown([1, x]), shown(x, 4), shown(2.5), shown(True), x + 1


def methods_made(x):
    def scale(self, other):
        return self["n"] * other

    method = types.MethodType(scale, {"n": 3})
    return method(x), method.__self__["n"], method.__func__ is scale, types.MethodType(pow, x)(2)


def decorated_by_a_block(x):
    @torch.no_grad()
    def once(t):
        return t * 2

    @torch.set_grad_enabled(True)
    def again(t):
        return once(t) + t

    return again(x), once.__name__, inspect.isgeneratorfunction(once)


@pytest.mark.parametrize("function", [wraps_operators, dispatches, decorated_by_a_block])
def test_more_of_the_library(function):
    captured(function, x4())


def test_methods_made():
    (stop,) = check(methods_made, x4()).breaks
    assert stop.break_id == "new-object"  # of the method of a builtin


def test_a_method_that_dispatches():
    reader = Reader()
    report = check(lambda x: (reader.read(1)[1], reader.read(x)), x4())
    assert len(report.counter.graphs) <= 1


def test_another_implementation_is_registered():
    @functools.singledispatch
    def told(value):
        return "something"

    compiled = torch.compile(lambda x, value: (told(value), x + 1)[0], backend="eager")
    assert compiled(x4(), 3) == "something"
    told.register(int, lambda value: "a number")
    assert compiled(x4(), 3) == "a number"
    assert compiled(x4(), 2.5) == "something"


def test_a_block_refuses_to_decorate_a_generator():
    def refused(x):
        def items():
            yield x

        return torch.no_grad()(items)

    check(refused, x4())


class Callable:
    def __call__(self, x):
        return x * 3


@pytest.mark.parametrize("function", [PAIR, x4(), Typed, Callable(), object(), {}, "text", len])
def test_a_partial_is_of_what_can_be_called(function):
    def f(x):
        try:
            made = functools.partial(function, x)
        except TypeError as error:
            return x * 2, str(error)
        return x * 2, made.args, callable(function)

    check(f, x4())
