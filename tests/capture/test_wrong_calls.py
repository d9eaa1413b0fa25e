"""Builtins called as nobody may call them: CPython says what is wrong."""

from __future__ import annotations

import operator

import pytest

import labcore as torch

from .differential import captured, check
from .subjects import x4

CALLS = [
    "abs(x, 1)",
    "ascii()",
    "callable()",
    "callable(1,2)",
    "delattr(x)",
    "format()",
    "getattr(x)",
    "getattr(x,5)",
    "getattr(x,'shape',1,2)",
    "hasattr(x)",
    "hasattr(x,5)",
    "hash(x,1)",
    "id()",
    "isinstance(1)",
    "issubclass(int)",
    "iter([1],key=2)",
    "len()",
    "len([],[])",
    "list([],[])",
    "max()",
    "max(key=len)",
    "min()",
    "next()",
    "repr([],n=1)",
    "reversed()",
    "round(n=1)",
    "setattr(x,'a')",
    "setattr(x,1,2)",
    "sorted()",
    "sum()",
    "sum([1],zork=2)",
    "tuple(a=1)",
    "zip([],zork=1)",
    "operator.add(error)",
    "operator.is_(1)",
    "{1}.isdisjoint([],a=1)",
    "{1}.discard({2})",
    "{1}.remove({2})",
    "({2}in{1})",
    "{1}.remove(later)",
    "{}.pop(later)",
    "{}[later]",
]


@pytest.mark.parametrize("text", CALLS)
def test_it_is_the_error_that_cpython_raises(text):
    call = eval(f"lambda x, error, later: {text}", {"operator": operator})

    def tries(x):
        later = lambda: x
        try:
            return x + 1, call(x, ValueError("e"), later)
        except (TypeError, KeyError) as error:
            words = str(error) if type(error) is TypeError else "a key"
            return x * 2, type(error), words

    check(tries, x4())


def test_is_between_equal_numbers_is_not_answered_by_the_library_version():
    large = [1000, int("1000")]
    check(lambda x: (x + 1, operator.is_(*large), operator.is_not(*large)), x4())
    captured(lambda x: (x + 1, operator.is_(x, x), operator.is_not(x, None)), x4())


def test_small_integers_are_one_object_each():
    numbers = [0, -5, 256, 1]
    captured(lambda x: (x + 1, [n is k for n in numbers for k in (0, 256, -5, True)]), x4())


def test_what_would_be_raised_is_not_printed_while_capturing():
    shown = []

    class Key:
        def __repr__(self):
            shown.append("repr")
            return "key"

    key = Key()

    def misses(x):
        try:
            return {}[key]
        except KeyError:
            return x + 1

    compiled = torch.compile(misses, backend="eager")
    for _ in range(2):
        compiled(x4())
    assert not shown
