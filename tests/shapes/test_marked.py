"""`mark_dynamic(x, axis, min=, max=)`: what follows from the range needs no guard, and what does
not work for all of it is an error with the line."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import _dynamo as dynamo
from labcore.compiler import exc
from labcore.trace import GraphCaptured, GuardsInstalled, record


def marked(size, **ends):
    x = torch.randn(size, 3)
    dynamo.mark_dynamic(x, 0, **ends)
    return x


def below_10(x):
    return x * 2 if x.shape[0] < 10 else x + 1


def is_5(x):
    return x * 2 if x.shape[0] == 5 else x + 1


def halves(x):
    return x * 2 if x.shape[0] % 2 == 0 else x + 1


def doubled(x):
    return x * 2


def of_two(x, y):
    return x.sum() + y.sum() if x.shape[0] < y.shape[0] else x.sum() - y.sum()


def test_the_range_is_guarded_and_what_follows_from_it_is_not():
    compiled = torch.compile(below_10, backend="eager")
    with record() as trace:
        for x in (marked(4, min=2, max=8), torch.ones(8, 3), torch.ones(9, 3), torch.ones(12, 3)):
            assert compiled(x).tolist() == below_10(x).tolist()
    said = [[g.text for g in made.guards if "size" in g.text] for made in trace.of(GuardsInstalled)]
    assert said[0] == ["x.size() == (2..8, 3)"]
    assert said[1] == ["x.size() == (>=2, 3)", "x.size()[0] < 10"]
    assert len(trace.of(GraphCaptured)) == 3


def test_the_reason_says_the_range():
    compiled = torch.compile(doubled, backend="eager")
    compiled(marked(4, min=3, max=8))
    answer = torch.compiler.guard_matrix(compiled)(torch.ones(9, 3))
    assert "x.size() == (3..8, 3): expected (3..8, 3), actual (9, 3)" in str(answer)


@pytest.mark.parametrize(
    ("function", "size", "ends", "said"),
    [
        (below_10, 4, {"min": 2, "max": 20}, "as dynamic from 2 to 20 but your code needs"
         " x.size()[0] < 10: not for 20."),
        (below_10, 12, {"min": 2, "max": 20}, "as dynamic from 2 to 20 but your code needs"
         " x.size()[0] >= 10: not for 2."),
        (below_10, 12, {"min": 2}, "as dynamic from 2 but your code needs x.size()[0] >= 10:"
         " not for 2."),
        (below_10, 4, {"max": 10}, "as dynamic to 10 but your code needs x.size()[0] < 10:"
         " not for 10."),
        (is_5, 5, {"min": 2, "max": 8}, "as dynamic from 2 to 8 but your code specialized it to be"
         " a constant (5)."),
        (halves, 4, {"min": 4, "max": 9}, "as dynamic from 4 to 9 but your code needs"),
    ],
)  # fmt: skip
def test_a_condition_that_part_of_the_range_does_not_meet(function, size, ends, said):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(exc.ConstraintViolationError) as caught:
        torch.compile(function, backend="eager")(marked(size, **ends))
    assert f"You marked x.size()[0] {said}" in str(caught.value)
    assert f"test_marked.py:{line} " in str(caught.value)


@pytest.mark.parametrize("size", [0, 1, 9])
def test_a_size_outside_its_range(size):
    compiled = torch.compile(doubled, backend="eager")
    compiled(marked(4, min=2, max=8))
    with pytest.raises(exc.ConstraintViolationError) as caught:
        compiled(marked(size, min=2, max=8))
    assert f"You marked x.size()[0] as dynamic from 2 to 8 but it is {size}." in str(caught.value)
    assert "test_marked.py:" in str(caught.value)


def test_what_is_within_the_range_is_no_violation():
    for function, ends in (
        (below_10, {"max": 9}),
        (below_10, {"min": 2}),
        (is_5, {"min": 4, "max": 4}),
        (doubled, {"min": 0, "max": 4}),
    ):
        x = marked(4, **ends)
        assert torch.compile(function, backend="eager")(x).tolist() == function(x).tolist()


def test_a_size_of_1_is_a_constant_whatever_was_promised():
    with pytest.raises(exc.ConstraintViolationError, match=r"specialized .* a constant \(1\)"):
        torch.compile(doubled, backend="eager")(marked(1, min=0, max=3))


def test_a_condition_on_two_sizes_is_a_guard():
    compiled = torch.compile(of_two, backend="eager")
    x, y = marked(4, min=2, max=8), marked(6, min=2, max=8)
    assert compiled(x, y).item() == pytest.approx(of_two(x, y).item())
    assert compiled(y, x).item() == pytest.approx(of_two(y, x).item())


def test_another_range_is_another_variant_which_is_checked_anew():
    compiled = torch.compile(below_10, backend="eager")
    compiled(marked(4, min=2, max=8))
    with pytest.raises(exc.ConstraintViolationError):
        compiled(marked(4, min=2, max=16))


def test_a_range_without_sizes():
    with pytest.raises(ValueError, match="no size is at least 8 and at most 5"):
        marked(6, min=8, max=5)
