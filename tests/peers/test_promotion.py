"""Which type comes out: every pair of types, with dimensions, without, and Python numbers."""
from __future__ import annotations

import pytest

from labcore.ops import promote

from .pairs import NAMES, check, lab, pair, torch

ONE = {"0-d": 1, "1-d": [1]}


@pytest.mark.parametrize("first_shape", ONE)
@pytest.mark.parametrize("second_shape", ONE)
@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_two_tensors(first: str, second: str, first_shape: str, second_shape: str) -> None:
    tensors = pair(ONE[first_shape], first), pair(ONE[second_shape], second)
    for name in ("add", "mul", "div", "maximum", "eq", "floor_divide", "pow", "sub"):
        check(lambda m, x, y: getattr(m, name)(x, y), *tensors)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_the_rule_itself(first: str, second: str) -> None:
    for first_shape in ONE:
        for second_shape in ONE:
            (x, tx), (y, ty) = pair(ONE[first_shape], first), pair(ONE[second_shape], second)
            assert str(promote.result_type(x.meta, y.meta)) == str(torch.result_type(tx, ty))
    assert promote.can_cast(x.dtype, y.dtype) == torch.can_cast(tx.dtype, ty.dtype)


@pytest.mark.parametrize("dtype", NAMES)
def test_reductions(dtype: str) -> None:
    for name in ("sum", "mean", "amax", "amin", "any", "all"):
        check(lambda m, x: getattr(m, name)(x), pair([1, 0, 1], dtype))


@pytest.mark.parametrize(
    "value", [1, 1.0, True, [1, 2], [1, 2.0], [True, False], [True, 2], [[1], [2]], []], ids=repr)
def test_type_of_new_tensors(value: object) -> None:
    check(lambda m: m.tensor(value))


@pytest.mark.parametrize("text", [
    "m.arange(3)", "m.arange(3.0)", "m.arange(1, 2, 0.25)", "m.full((2,), 1)", "m.full((2,), True)",
    "m.full((2,), 0.5)", "m.zeros(2)", "m.ones(2, 3)", "m.zeros((2, 3), dtype=m.int64)",
    "m.zeros_like(m.arange(3))", "m.full_like(m.ones(2), 3)",
    "m.ones_like(m.ones(2), dtype=m.int32)", "m.arange(5, 1, -2)", "m.arange(0)", "m.full((), 7)",
    "m.empty(2, 3).shape",
])
def test_factories(text: str) -> None:
    check(eval(f"lambda m: {text}"))


def test_numbers_that_overflow() -> None:
    check(lambda m: m.tensor([1], dtype=m.int32) + 2**40)
    check(lambda m: m.full((1,), 2**40, dtype=m.int32))


def test_names_are_those_of_torch() -> None:
    for name in NAMES:
        assert repr(getattr(lab, name)) == repr(getattr(torch, name))
