"""contextlib.ExitStack, and what sys.exc_info() tells."""

from __future__ import annotations

import contextlib
import sys

import pytest

import labcore as torch

from .differential import captured, check

LOG = []
X = torch.tensor([1.0, 2.0])


class Noted:
    def __init__(self, name, swallows=False):
        self.name, self.swallows = name, swallows

    def __enter__(self):
        LOG.append(("in", self.name))
        return self

    def __exit__(self, kind, error, traceback):
        LOG.append(("out", self.name, kind))
        return self.swallows


def entered(x):
    with contextlib.ExitStack() as stack:
        first, second = stack.enter_context(Noted(1)), stack.enter_context(Noted(2))
        stack.callback(LOG.append, 3)
        x = x * 2
    return x, first.name, second.name


def swallowed(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Noted(1, swallows=True))
        raise ValueError(3)
    return x * 2


def left_by_an_error(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Noted(1))
        x = x + 1
        raise ValueError(3)


def told(x):
    try:
        raise KeyError(1)
    except KeyError:
        kind, error, _ = sys.exc_info()
        found = kind, str(error)
    return found, sys.exc_info(), x * 2


@pytest.mark.parametrize("function", [entered, swallowed, told])
def test_without_a_break(function):
    LOG.clear()
    captured(function, X)
    third = len(LOG) // 3
    assert LOG[:third] == LOG[third : 2 * third] == LOG[2 * third :]


def test_an_error_that_leaves_a_stack():
    LOG.clear()
    check(left_by_an_error, X)
    assert LOG == [("in", 1), ("out", 1, ValueError)] * 3


def test_what_the_caller_handles_is_seen():
    compiled = torch.compile(lambda x: (sys.exc_info()[0], x + 1)[0], backend="eager")
    assert compiled(X) is None
    try:
        raise OSError
    except OSError:
        assert compiled(X) is OSError
    assert compiled(X) is None
