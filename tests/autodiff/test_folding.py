"""Constants computed while compiling."""

from __future__ import annotations

import math

import numpy as np
import pytest

import labcore as torch
from labcore import dtypes, ops, trace
from labcore.autodiff.folding import fold_constants
from labcore.autodiff.simplify import simplify
from labcore.graph import TensorMeta, verify

from .graphs import floats, graph_of, lines


def folded(function, *metas):
    return lines(verify(fold_constants(graph_of(function, *metas))))


def test_operators_on_constants_are_done():
    found = folded(lambda x: ops.add(x, ops.exp(ops.mul(ops.ones((3, 4)), 2.0))), floats(3, 4))
    assert found == [f"add_1 = torch.add(x, {float(np.exp(np.float32(2)))!r})", "return (add_1,)"]


def test_the_eager_kernel_rounds():
    """A third, in float32, is not Python's third."""
    (first, _) = folded(lambda x: ops.mul(x, ops.div(ops.ones((2,)), 3.0)), floats(2))
    assert first == f"mul_1 = torch.mul(x, {float(np.float32(1) / np.float32(3))!r})"


def test_an_output_becomes_one_factory():
    found = folded(lambda x: ops.neg(ops.zeros((2, 2))), floats(2))
    assert found == ["full = torch.full((2, 2), -0.0, torch.float32)", "return (full,)"]


def test_views_of_constants_are_constants():
    function = lambda x: ops.mul(x, ops.expand(ops.unsqueeze(ops.full((4,), 2.0), 0), (3, 4)))
    assert folded(function, floats(3, 4))[0] == "mul_1 = torch.mul(x, 2.0)"


def test_a_factor_may_stand_on_either_side():
    assert folded(lambda x: ops.mul(ops.ones_like(x), x), floats(3))[0] == (
        "mul_1 = torch.mul(x, 1.0)"
    )


def test_choices_take_numbers():
    function = lambda x: ops.where(ops.gt(x, ops.zeros_like(x)), x, ops.full_like(x, math.inf))
    assert folded(function, floats(3)) == [
        "gt_1 = torch.gt(x, 0.0)", "where_1 = torch.where(gt_1, x, inf)", "return (where_1,)",
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.add(x, ops.zeros((3, 4))),  # it makes the result larger
        lambda x: ops.add(x, ops.full((4,), 1.5, dtypes.float64)),  # and this one wider
        lambda x: ops.sub(ops.ones((4,)), x),  # a number cannot come first
        lambda x: ops.matmul(x, ops.ones((4,))),
        lambda x: ops.mul(x, ops.rand_like(x)),
        lambda x: ops.sum(ops.mul(x, 2.0)),
    ],
)
def test_what_is_no_constant_or_does_more_stays(function):
    graph = graph_of(function, floats(4))
    assert lines(fold_constants(graph)) == lines(graph)


WIDE, LARGE = torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int64)


@pytest.mark.parametrize(("compare", "x"), [
    (lambda x: x == torch.full_like(WIDE, 16777216.0), torch.tensor([16777217, 3])),
    (lambda x: x == torch.full((), 16777216.0, dtype=torch.float64), torch.tensor([16777217])),
    (lambda x: x == torch.full_like(WIDE, 0.1), torch.tensor([0.1, 3.0])),
    (lambda x: x < torch.full_like(LARGE, 2**40), torch.tensor([5, 3], dtype=torch.int32)),
    (lambda x: x == torch.full_like(LARGE, 2), torch.tensor([True, False])),
])
def test_comparisons_are_made_in_the_type_that_the_tensors_have_together(compare, x):
    """It is not seen in the result; a number would have taken the type of the other."""
    found = torch.compile(compare, backend="aot_eager")(x)
    assert found.tolist() == compare(x).tolist()


def test_draws_are_kept_also_where_only_their_shape_counts():
    graph = graph_of(lambda x: ops.add(x, ops.zeros_like(ops.exp(ops.rand_like(x)))), floats(3))
    assert lines(fold_constants(graph)) == lines(graph)
    chosen = graph_of(lambda x: ops.neg(ops.where(ops.gt(ops.rand_like(x), 0.5), x, x)), floats(3))
    assert lines(simplify(chosen)) == lines(chosen)


def test_types_are_those_of_the_operators():
    function = lambda x: ops.mul(x, ops._to_copy(ops.gt(ops.ones((2,)), 0.5), dtypes.int64))
    found = folded(function, TensorMeta.contiguous((2,), dtypes.int64))
    assert found[0] == "mul_1 = torch.mul(x, 1)"


def test_folding_is_told():
    with trace.record() as recorded:
        folded(lambda x: ops.mul(x, ops.add(ops.ones((2,)), 1.0)), floats(2))
    assert recorded.text("passes").split("; ")[1:] == [
        "every element is 2.0, whatever the inputs are\nfold_constants: mul = torch.mul(x, full) "
        "became mul_1 = torch.mul(x, 2.0)",
        "a\n    tensor full of one number is as good as the number",
    ]


def test_a_factor_that_is_a_number_of_the_caller_stays_behind_the_tensor():
    """A symbol is no tensor: an operator's first operand has to be one."""
    compiled = torch.compile(lambda n: torch.tensor(2.0) * n, backend="aot_eager")
    assert [compiled(n).item() for n in (1, 2, 3, 4)] == [2, 4, 6, 8]


NUMBERS = {
    "left": lambda x, k: k * x,
    "right": lambda x, k: x * k,
    "difference": lambda x, k: (1 - k) * x,
    "constant": lambda x, k: x + k * torch.zeros(4),
    "average": lambda x, k: k * x + (1 - k) * (x * x),
    "twice": lambda x, k: k * (k * x),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("numbers", [(0.5, 0.25, 0.75, 1.5), (5, 7, 11, 13)])
def test_a_number_that_changes_is_asked_for_nothing(name, numbers):
    """Whether a symbol is among the constants would be a guard on its value."""
    compiled, x = torch.compile(NUMBERS[name]), torch.tensor([1.0, 2.0, -3.0, 4.0])
    with trace.record() as events:
        for k in numbers:
            torch.testing.assert_close(compiled(x, k), NUMBERS[name](x, k))
    assert len(events.of(trace.GraphCaptured)) == 2  # the first value's, and for all others
