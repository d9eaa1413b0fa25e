"""A call in words: arguments tell what they hold, and nothing of the user's runs."""

from __future__ import annotations

from typing import Any

import pytest

import labcore as torch
from labcore import nn, trace
from labcore.compiler.guard_matrix import guard_matrix
from labcore.compiler.showing import show_value

X = torch.ones(2, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)
        self.scale = 2.0

    def forward(self, x, options):
        return self.lin(x) * self.scale if options["scaled"] else self.lin(x)


class Secretive:
    """Whoever asks it anything runs the user's code."""

    def __getattribute__(self, name):
        raise AssertionError(f"it was asked for {name}")

    def __repr__(self):
        raise AssertionError("it was asked for its repr")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (X, "float32[2, 4]"),
        (0.5, "0.5"),
        ((X, 1), "(float32[2, 4], 1)"),
        ((X,), "(float32[2, 4],)"),
        ([], "[]"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, … 5 in all]"),
        ({"relu": True, "k": [1]}, "{'relu': True, 'k': list of 1}"),
        (Net(), "Net(lin=Linear, scale=2.0)"),
        (Net, "class Net"),
        (nn, "module labcore.nn"),
        (object(), "object"),
        ({1, 2}, "set of 2"),
        ("a" * 99, "'" + "a" * 58 + "…"),
    ],
)
def test_an_argument_in_a_few_words(value: Any, said: str):
    assert show_value(value) == said


def test_no_code_of_the_users_runs():
    secretive = Secretive()
    object.__setattr__(secretive, "rate", [Secretive()])
    assert show_value(secretive) == "Secretive(rate=list of 1)"


def begun(fn, *args, **kwargs):
    compiled = torch.compile(fn, backend="eager")
    with trace.record() as recorder:
        compiled(*args, **kwargs)
    (call,) = recorder.of(trace.CallBegin)
    asked = guard_matrix(compiled)(*args, **kwargs)
    assert (asked.function, asked.inputs) == (call.function, call.inputs)
    return call


def test_keywords_and_what_is_left_over():
    def mixed(x, *rest, flag=False, **more):
        return x * 2

    call = begun(mixed, X, 1, [2], flag=True, more=3)
    assert call.function.endswith("mixed")
    assert call.inputs == ["float32[2, 4]", "1", "[2]", "flag=True", "more=3"]
    assert call.leaves == {
        "x": "float32[2, 4]",
        "rest[0]": "1",
        "len(rest[1])": "1",
        "rest[1][0]": "2",
        "flag": "True",
        "more": "3",
    }


def test_an_object_is_called_by_its_name():
    call = begun(Net(), X, {"scaled": True})
    assert (call.function, call.inputs) == ("Net", ["float32[2, 4]", "{'scaled': True}"])
    assert call.leaves["args[1]['scaled']"] == "True"


def test_a_method_has_its_self():
    call = begun(Net().forward, X, {"scaled": True})
    assert call.function == "Net.forward" and call.inputs[0] == "Net(lin=Linear, scale=2.0)"
    assert call.leaves["self.scale"] == "2.0" and call.leaves["options['scaled']"] == "True"
