"""Single expressions, each against eager."""

from __future__ import annotations

import functools
import sys
import warnings

import pytest

import labcore as torch

from .differential import captured, check, strict
from .subjects import helper, x4


@pytest.mark.parametrize(
    "expression",
    [
        "x + 1",
        "1 - x",
        "x * 2.5",
        "2 / x",
        "x / 3",
        "x // 2",
        "x % 2",
        "x ** 2",
        "2 ** x",
        "-x",
        "abs(x)",
        "x > 0",
        "0 >= x",
        "x == x",
        "x != 1",
        "(x > 0) & (x < 2)",
        "~(x > 0)",
        "(x > 0) | (x < -1)",
        "x @ x",
        "1.0 * x",
        "x[0]",
        "x[-1]",
        "x[1:3]",
        "x[None]",
        "x[..., 0]",
        "x[::2]",
        "x[1:][0]",
        "x[:, None]",
        "x.T",
        "x.sum()",
        "x.mean(dim=0, keepdim=True)",
        "x.view(2, 2)",
        "x.reshape((2, -1))",
        "x.unsqueeze(0).squeeze()",
        "torch.exp(x)",
        "torch.where(x > 0, x, 0.0)",
        "torch.maximum(x, -x)",
        "x.clamp(-1, 1)",
        "x.relu().sigmoid().tanh()",
        "torch.zeros(4) + x",
        "torch.full((2,), 3.0)",
        "torch.ones_like(x) * x",
        "torch.arange(4) * x",
        "x.double()",
        "x.to(torch.int64)",
        "x.to(x.dtype) is x",
        "x.expand(3, 4)",
        "x.amax()",
        "x.new_zeros(3)",
        "x.add(x, alpha=2)",
        "(x, x + 1, [x])",
        "x.T is x",
        "True + x",
        "x * True",
        "x.size()[0]",
        "torch.is_tensor(x)",
        "x.isnan()",
        "[row for row in x.view(2, 2)]",
        "x.numel() * x",
        "torch.get_default_dtype()",
        "len(x.view(2, 2)[0])",
        "x.permute(0)",
        "torch.matmul(x.view(2, 2), x.view(2, 2))",
        "sum([x, x, x])",
        "x + (1 if x.ndim == 1 else 2)",
        "x.size(None)",
        "x.stride(0)",
        "x.size(dim=-1)",
        "x.dim()",
        "x.__len__()",
    ],
)
def test_expression(expression):
    captured(eval(f"lambda x: {expression}", {"torch": torch}), x4())


@pytest.mark.parametrize(
    "value",
    [1, 0, -3, True, False, 2.5, -0.0, float("inf"), "text", None, (1, 2), [], {}, {"a": 1}],
)
def test_arguments_that_are_python_values(value):
    captured(lambda x, v: (x + 1, v, v is None, [v]), x4(), value)


@pytest.mark.parametrize(
    "expression",
    [
        "x == None",
        "x != None",
        "None == x",
        "x == 'a'",
        "x != [1]",
        "(x == ()) is False",
        "max([3, 1, 2])",
        "sorted((3, 1))",
        "partial(x)",
        "partial(x, shift=3)",
        "[1, 2] == [1, 2]",
        "x.shape == (4,)",
        "(lambda: x)",
        "(lambda y, k=2: y)",
        "min([4, 2], [4, 1])",
    ],
)
def test_python_rules_around_tensors(expression):
    scope = {"torch": torch, "partial": functools.partial(helper, factor=5)}
    captured(eval(f"lambda x: {expression}", scope), x4())


@pytest.mark.parametrize(
    "expression",
    [
        "'%s' % x[0]",
        "[1] * torch.arange(3)[2]",
        "(1,) * x",
        "'a' * x",
        "[1] + x",
        "x + [1]",
        "x << 1",
        "x @ 2",
        "'a' + x",
        "x < 'a'",
        "x < None",
        "None + x",
        "'abc' % x",
    ],
)
def test_operands_that_are_no_numbers(expression):
    check(eval(f"lambda x: {expression}", {"torch": torch}), x4())


def test_what_warns_when_it_is_computed_is_computed_by_cpython():
    def inverted(x, flag):
        return x * ~flag

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert torch.compile(inverted, backend="eager")(x4(), True).tolist() == [-2, 4, -6, 0]
    assert len(seen) == (sys.version_info >= (3, 12))
    assert all(warning.filename == __file__ for warning in seen)


def test_a_constant_set_is_asked_and_gone_through():
    def asked(n):
        return n in {None, 2}, n in {1, 2, 3}, [i for i in sorted({3, 1})], sum({4, 5})

    for numbers in ((0, 1, 2, 3), (2, 2.0, None, True)):
        compiled = torch.compile(asked, backend="eager")
        with strict():
            assert [compiled(n) for n in numbers] == [asked(n) for n in numbers]
    captured(lambda x: [x * i for i in {2}] if 2 in {2, 3} else x, x4())


@pytest.mark.parametrize(
    "expression",
    ["t[:]", "t[:9]", "t[-9::1]", "t + ()", "() + t", "t * 1", "1 * t", "tuple(t)", "t[::2]",
     "t[:1]", "t * 2", "(*t,)", "t + (1,)", "tuple(list(t))"],
)  # fmt: skip
def test_a_tuple_that_would_be_the_same_is_itself(expression):
    given = (torch.ones(1), [1])
    function = eval(f"lambda x, t: {expression}")
    compiled = torch.compile(function, backend="eager")
    assert (compiled(0, given) is given) == (function(0, given) is given)
    assert repr(compiled(0, given)) == repr(function(0, given))
