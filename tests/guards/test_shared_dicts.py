"""Objects that begin to share one `__dict__` after a variant was made."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore.trace import CacheMiss, record


class Counted:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Plain:
    """Its attributes may lie in the object itself, without a dict."""

    def __init__(self):
        self.count = 3


class Slotted:
    __slots__ = ("count",)

    def __init__(self):
        self.count = 3


def writes_and_reads(a, b, x):
    a.count = a.count + 1
    return x * b.count


def deletes(a, b, x):
    del a.count
    return x * getattr(b, "count", 7)


def only_reads(a, b, x):
    return x * a.count + b.count


def counted():
    return Counted(count=3), Counted(count=3)


def one_holds_the_dict_of_the_other():
    a, b = counted()
    return a, Counted(count=3, held=vars(a))


def shared():
    a, b = counted()
    b.__dict__ = a.__dict__
    return a, b


def plain():
    return Plain(), Plain()


def shared_plain():
    a, b = plain()
    b.__dict__ = a.__dict__
    return a, b


def slotted():
    return Slotted(), Slotted()


MAKERS = [counted, one_holds_the_dict_of_the_other, plain, slotted, shared, shared_plain]


def seen(function, make):
    a, b = make()
    result = function(a, b, torch.ones(2)).tolist()
    return result, getattr(a, "count", None), getattr(b, "count", None)


@pytest.mark.parametrize("function", [writes_and_reads, deletes, only_reads])
@pytest.mark.parametrize("first", MAKERS)
def test_as_eager_whichever_comes_first(function, first):
    compiled = torch.compile(function, backend="eager")
    for make in (first, *MAKERS, first):
        assert seen(compiled, make) == seen(function, make)


def test_the_reason():
    compiled = torch.compile(writes_and_reads, backend="eager")
    seen(compiled, counted)
    with record() as trace:
        seen(compiled, shared)
    (miss,) = trace.of(CacheMiss)
    assert miss.reasons[0].endswith("a, b: two share their __dict__ now")


def test_what_is_only_read_may_share():
    compiled = torch.compile(only_reads, backend="eager")
    seen(compiled, counted)
    with record() as trace:
        seen(compiled, shared)
    assert not trace.of(CacheMiss)
