"""What eager raises is raised, with the user's line, and nothing is kept of the capture."""

from __future__ import annotations

import math

import pytest

import labcore as torch
from labcore.compiler import disable
from labcore.compiler.compile import state_of

from .differential import check, outcome
from .subjects import CONFIG, helper, x4


@disable
def observe(x):
    return None


def reads_undefined_name(x):
    return x + undefined_name  # noqa: F821


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(),
        lambda f: f(x4(), 1, 2),
        lambda f: f(x4(), nope=1),
        lambda f: f(x4(), x=1),
    ],
)
def test_a_wrong_call_raises_what_eager_raises(call):
    with pytest.raises(TypeError) as expected:
        call(helper)
    with pytest.raises(TypeError) as found:
        call(torch.compile(helper, backend="eager"))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + torch.ones(3),
        lambda x: x @ torch.ones(5, 5),
        lambda x: x[9],
        lambda x: x.view(3),
        lambda x: x.nope,
        lambda x: x(),
        reads_undefined_name,
        lambda x: helper(x, 1, 2, 3),
        lambda x: helper(),
        lambda x: (1, 2)[5],
        lambda x: CONFIG["nope"],
        lambda x: 1 / 0 * x,
        lambda x: [a for a, b in (1, 2)],
        lambda x: x.sum(dim=4),
        lambda x: x & 1.5,
        lambda x: len(3),
        lambda x: "a" + 1,
        lambda x: x[1.5],
        lambda x: x + "a",
        lambda x: x + None,
        lambda x: torch.cat([x, torch.ones(2, 2)]),
        lambda x: helper(x, factor=1, nope=2),
        lambda x: math.nope,
        lambda x: x.relu(1, 2, 3),
        lambda x: iter(5),
        lambda x: x.shape[7],
        lambda x: sum(3),
        lambda x: (x, sum(["a"], "")),
        lambda x: [a for a in zip((x,), (1, 2), strict=True)],
        lambda x: [a for a in zip((1, 2), (x,), strict=True)],
        lambda x: reversed(iter((x,))),
        lambda x: None.a,
        lambda x: x[()][1, 2],
    ],
)
def test_what_eager_raises_is_raised_and_nothing_is_kept(function):
    report = check(function, x4())
    assert not report.breaks and report.counter.frame_count == 0


def test_a_dict_that_grows_while_it_is_iterated():
    def grows(x):
        made = {"a": x}
        for key in made:
            made[key + "b"] = x + 1

    def values_grow(x):
        made = {"a": 1}
        for number in made.values():
            made[str(number)] = 2

    def changes(x):
        made = {"a": x, "b": x}
        for key, value in made.items():
            made[key] = value + 1
        return made

    for function in (grows, values_grow):
        assert not check(function, x4()).breaks
    assert check(changes, x4()).ops == ["add", "add"]


def raiser(x):
    y = x * 2
    if x.shape[0] == 4:
        raise ValueError("four is bad")
    return y


def test_a_raise_statement_raises_with_the_users_line():
    compiled = torch.compile(raiser, backend="eager")
    with pytest.raises(ValueError, match="four is bad") as caught:
        compiled(x4())
    assert str(caught.traceback[-1].path) == __file__
    assert caught.value.__context__ is None
    assert compiled(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_a_name_the_lab_does_not_have_is_the_users_error_under_fullgraph_too():
    misspelled = lambda x: torch.rellu(x)
    for fullgraph in (False, True):
        with pytest.raises(AttributeError, match="labcore' has no attribute 'rellu'") as got:
            torch.compile(misspelled, backend="eager", fullgraph=fullgraph)(torch.ones(2))
        assert (got.value.name, got.value.obj) == ("rellu", torch)


def test_an_error_of_an_iterator_knows_the_one_being_handled():
    def fails(x):
        yield x
        raise KeyError("later")

    def f(x):
        try:
            int("first")
        except ValueError:
            for t in fails(x):
                x = x + t
        return x

    with pytest.raises(KeyError) as caught:
        torch.compile(f, backend="eager")(x4())
    assert repr(caught.value.__context__) == repr(pytest.raises(ValueError, int, "first").value)


def fails_for_some(x, n):
    y = x * n
    observe(y)
    if n > 2:
        raise ValueError(n)
    return y + 1


def test_calls_that_raise_are_captured_once_and_do_not_use_up_the_limit():
    compiled = torch.compile(fails_for_some, backend="eager")
    state = state_of(compiled)
    for n in (3, 4, 5, 6, 1, 2):
        expected, found = (outcome(f, (x4(), n), {}) for f in (fails_for_some, compiled))
        assert repr(expected.error) == repr(found.error)
        assert repr(expected.value) == repr(found.value)
    points = [state.entry, *state.points.values()]
    assert sum(v.raises for point in points for v in point.cache.variants) == 1
    before = [{*point.cache.variants} for point in points]
    outcome(compiled, (x4(), 6), {})
    assert before == [{*point.cache.variants} for point in points]
