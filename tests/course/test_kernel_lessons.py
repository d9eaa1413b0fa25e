"""Lesson 11: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

from labcore.fusion.handlers import Handler
from labcore.fusion.primitives import PRIMITIVES
from labcore.testing import course

PASSED = "Public checks passed."


class Printed(Handler):
    """Each value is a variable."""

    def __init__(self):
        self.lines = []

    def let(self, text):
        self.lines.append(f"t{len(self.lines)} = {text}")
        return f"t{len(self.lines) - 1}"

    def load(self, buffer, at):
        return self.let(f"{buffer}[{at}]")

    def constant(self, value, dtype):
        return repr(value)

    def op(self, name, *args):
        return self.let(PRIMITIVES[name].text.format(*args))

    def store(self, buffer, at, value):
        self.lines.append(f"{buffer}[{at}] = {value}")


class Nested(Printed):
    """Values are expressions."""

    def let(self, text):
        return f"({text})"


class Stored(Printed):
    """Values go to arrays."""

    def let(self, text):
        self.lines.append(f"t{len(self.lines)}[i0] = {text}")
        return f"t{len(self.lines) - 1}[i0]"


class Forgetful(Printed):
    def store(self, buffer, at, value):
        pass


class Wrong(Printed):
    def constant(self, value, dtype):
        return "3"


class Unspelt(Printed):
    def store(self, buffer, at, value):
        self.lines.append(f"{buffer}[{at}] is = {value}")


class Misspelt(Printed):
    def op(self, name, *args):
        return self.let(f"{name}({', '.join(args)})")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Printed, PASSED),
        (Nested, "A value that is used twice must have a name"),
        (Stored, "A temporary is a local variable"),
        (Forgetful, "the result is stored: each is a line of its own"),
        (Wrong, "NO  relu(x + bias) * 2"),
        (Misspelt, "not callable at `t2 = add(t0, t1)`"),
        (Unspelt, "expected lines of Python, found `mul[i0] is"),
        (type("NoLoad", (Handler,), {}), "NoLoad has no `load`, which this loop body asks for"),
        (Printed(), "expected a class"),
        (type("NoLines", (Printed,), {"__init__": lambda self: setattr(self, "lines", ())}),
         "expected"),
        (..., "Not begun"),
    ],
)
def test_emit(kind, said):
    assert said in repr(course.emit(kind))


def test_a_printed_body_has_two_loads_and_one_store():
    facts = course.emit(Printed).facts
    assert [fact.found for fact in facts] == [
        [0.0, 0.0, 6.0, 10.0], 12, [1.0, 0.0, 9.0, 25.0], 12,
    ]


def right(machine, x):
    if x.shape != (2, 3) or x.strides != (3, 1):
        raise ValueError("printed for 2 by 3, row by row")
    rows, columns = machine.empty(2), machine.empty(3)
    machine.launch("row_sum", x, rows)
    machine.launch("column_sum", x, columns)
    return rows, columns


def trusting(machine, x):
    rows, columns = machine.empty(2), machine.empty(3)
    machine.launch("row_sum", x, rows)
    machine.launch("column_sum", x, columns)
    return rows, columns


def shape_only(machine, x):
    if x.shape != (2, 3):
        raise ValueError
    return trusting(machine, x)


def strides_only(machine, x):
    if x.strides[1] != 1:
        raise ValueError
    return trusting(machine, x)


def asserting(machine, x):
    assert x.shape == (2, 3) and x.strides == (3, 1)
    return right(machine, x)


def late(machine, x):
    out = trusting(machine, x)
    if x.strides != (3, 1):
        raise ValueError
    return out


def wasteful(machine, x):
    machine.empty(6)
    return right(machine, x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (right, PASSED),
        (trusting, "A kernel gets an address, and no strides"),
        (shape_only, "A kernel gets an address, and no strides"),
        (strides_only, "The sizes are printed into the kernel"),
        (asserting, "say it on purpose, with a ValueError"),
        (late, "A check comes before the launch"),
        (wasteful, "one array for each result"),
        (lambda machine, x: machine.launch("sum", x, []), "no kernel 'sum'"),
        (lambda machine, x: machine.launch("row_sum", x, [0.0]), "row_sum writes 2 elements"),
        (lambda machine, x: 7, "a pair of arrays"),
        (lambda machine, x: ..., "Not begun"),
        (..., "Not begun"),
    ],
)
def test_wrapper(call, said):
    assert said in repr(course.wrapper(call))
