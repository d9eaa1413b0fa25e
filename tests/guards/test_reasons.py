"""Why no variant fits a call: the guard that failed, what it wanted and saw, and the user's line
that used the value, in callees and behind breaks too."""

from __future__ import annotations

import contextlib
import linecache

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler.exc import RecompileForbidden
from labcore.trace import CacheMiss, GuardsInstalled, record

SOURCE = """
FACTOR, TABLE = 2, {"a": 1}

class Gain:
    low = 3

gain = Gain()
gain.k = 1

def make():
    n2 = 5
    def inner(x):
        return x + n2
    def put(value):
        nonlocal n2
        n2 = value
    return inner, put

inner, put = make()

def scaled(x):
    y = x * FACTOR
    return y + gain.k

def program(x):
    a = inner(scaled(x))
    print(end="")
    b = a * TABLE["a"]
    return b + gain.low
"""
PATH = "<reasons>"

CHANGES = {
    "FACTOR = 's'": ("value 'FACTOR' changed. expected 2, actual 's'", "y = x * FACTOR"),
    "gain.k = 's'": ("value 'gain.k' changed. expected 1, actual 's'", "return y + gain.k"),
    "del gain.k": ("'gain.k' cannot be read any more (AttributeError", "return y + gain.k"),
    "put('s')": ("value 'n2' changed. expected 5, actual 's'", "return x + n2"),
    "TABLE['a'] = 's'": ("changed. expected 1, actual 's'", 'b = a * TABLE["a"]'),
    "TABLE = 3": ("type of 'TABLE' changed. expected dict, actual int", 'b = a * TABLE["a"]'),
    "Gain.low = 's'": ("expected int, actual str", "return b + gain.low"),
    "gain.low = 4": ("'gain' now has its own attribute 'low'", "return b + gain.low"),
    "Gain.low = property(lambda self: 4)": ("expected int, actual prop", "return b + gain.low"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_line_is_the_one_that_used_it(change):
    linecache.cache[PATH] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), PATH)
    scope = {"torch": torch}
    exec(compile(SOURCE, PATH, "exec"), scope)
    compiled = torch.compile(scope["program"], backend="eager")
    compiled(torch.ones(2))
    exec(change, scope)
    reason, line = CHANGES[change]
    with compiler.set_stance("fail_on_recompile"), pytest.raises(RecompileForbidden) as caught:
        compiled(torch.ones(2))
    told = str(caught.value).splitlines()[-1]
    assert reason in told and f"  # {line} ({PATH}:" in told
    with record() as trace:
        try:
            compiled(torch.ones(2))
        except (TypeError, AttributeError):
            pass  # eager raises too
    miss = trace.of(CacheMiss)[0]
    assert reason in miss.reasons[0] and miss.places[0].startswith(f"{line} ({PATH}:")
    assert f"{miss.reasons[0]}  # {miss.places[0]}" in trace.text("recompiles")


class Box:
    pass


def adds(x, y):
    return x + y


def writes(x, y):
    x.add_(1)
    return x + y


def appends(a, b):
    a.append(1)
    return len(b)


def sets_attributes(a, b):
    a.k = 1
    b.k = 2
    return a.k


def sets_an_item(o, d):
    d["k"] = 1
    return hasattr(o, "k")


def takes(a, b):
    return next(a) + next(b)


PAIRS = [
    (adds, lambda: torch.ones(2)),
    (writes, lambda: torch.ones(2)),
    (appends, list),
    (sets_attributes, Box),
    (takes, lambda: iter([1])),
]


@pytest.mark.parametrize(("function", "make"), PAIRS)
def test_one_object_given_twice_is_told_with_the_line_that_met_it_again(function, make):
    compiled = torch.compile(function, backend="eager")
    with record() as trace:
        compiled(make(), make())
        with contextlib.suppress(StopIteration):
            compiled(*[make()] * 2)
    reasons, places = trace.of(CacheMiss)[1].reasons, trace.of(CacheMiss)[1].places
    assert "a, b: " in reasons[0] or "x, y: " in reasons[0], reasons
    assert f"in {function.__name__})" in places[0]


@pytest.mark.parametrize(
    ("function", "args"),
    [*((function, (make(), make())) for function, make in PAIRS), (sets_an_item, (Box(), {}))],
)
def test_every_guard_but_that_on_modes_has_a_line(function, args):
    with record() as trace:
        torch.compile(function, backend="eager")(*args)
    guards = [guard for told in trace.of(GuardsInstalled) for guard in told.guards]
    assert {guard.type for guard in guards if guard.origin is None} <= {"GRAD_MODE"}
