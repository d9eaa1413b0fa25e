"""Pointwise operators: values at the edges, types, strides, errors."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import NAMES, check, pair

EDGES = [-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.5, 3.0, np.inf, np.nan]
WHOLE = [-7, -3, -1, 0, 1, 2, 5, 7]

UNARY = ["relu", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "erf", "tanh", "sigmoid", "abs",
         "neg", "sign", "reciprocal", "isnan", "square", "logical_not"]
BINARY = ["add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "maximum", "minimum",
          "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor"]


def values(dtype: str) -> list:
    if "float" in dtype:
        return EDGES
    return [False, True, True] if dtype == "bool" else WHOLE


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: str) -> None:
    check(lambda m, x: getattr(m, name)(x), pair(values(dtype), dtype), ulps=8)


@pytest.mark.parametrize("name", ["relu", "neg", "abs", "sign", "square"])
def test_unary_signs_of_zero(name: str) -> None:
    check(lambda m, x: getattr(m, name)(x), pair(EDGES, "float32"), ulps=0)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: str) -> None:
    column, row = pair(np.array(values(dtype))[:, None], dtype), pair(values(dtype), dtype)
    check(lambda m, x, y: getattr(m, name)(x, y), column, row, ulps=16)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", BITWISE)
def test_bitwise(name: str, dtype: str) -> None:
    column = np.array(values(dtype))[:, None]
    check(lambda m, x, y: getattr(m, name)(x, y), pair(column, dtype), pair(values(dtype), dtype))


@pytest.mark.parametrize("dtype", NAMES)
def test_bitwise_not(dtype: str) -> None:
    check(lambda m, x: m.bitwise_not(x), pair(values(dtype), dtype))


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("number", [2, -3, 0, 1.5, True], ids=repr)
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**", "==", "<", ">="])
def test_number_on_the_right(sign: str, number: object, dtype: str) -> None:
    if (sign, number, dtype) == ("**", True, "bool"):
        pytest.skip("PyTorch copies for an exponent of one before it looks at the type")
    program = eval(f"lambda m, x: x {sign} {number!r}")
    check(program, pair(values(dtype), dtype), ulps=8)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("number", [2, 1.5, True], ids=repr)
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**"])
def test_number_on_the_left(sign: str, number: object, dtype: str) -> None:
    program = eval(f"lambda m, x: {number!r} {sign} x")
    check(program, pair(values(dtype), dtype), ulps=8)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize(
    "limits", [(0, 1), (None, 1), (-1.5, None), (2, 1), (None, None)], ids=repr)
def test_clamp(limits: tuple, dtype: str) -> None:
    check(lambda m, x: m.clamp(x, *limits), pair(values(dtype), dtype))


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_where(dtype: str, other: str) -> None:
    column, row = pair([[True], [False]]), pair(values(dtype)[:3], dtype)
    check(lambda m, c, x, y: m.where(c, x, y), column, row, pair([1, 0, 1], other))


@pytest.mark.parametrize("number", [0, 0.0, 2.5, True], ids=repr)
@pytest.mark.parametrize("dtype", NAMES)
def test_where_with_a_number(dtype: str, number: object) -> None:
    mask, row = pair([True, False, True]), pair(values(dtype)[:3], dtype)
    check(lambda m, c, x: m.where(c, x, number), mask, row)


def test_where_wants_a_bool() -> None:
    check(lambda m, c, x: m.where(c, x, x), pair([1, 0]), pair([1.0, 2.0]))


@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("alpha", [2, 0.5, True], ids=repr)
def test_alpha(name: str, dtype: str, alpha: object) -> None:
    check(lambda m, x: getattr(m, name)(x, x, alpha=alpha), pair(values(dtype), dtype))


# ---- strides ------------------------------------------------------------------------------------

LAYOUTS = {
    "rows": lambda m, x: x,
    "transposed": lambda m, x: x.transpose(0, 2),
    "permuted": lambda m, x: x.permute(1, 2, 0),
    "strided": lambda m, x: x[:, ::2],
    "expanded": lambda m, x: x[:, :1].expand(2, 3, 4),
    "one row": lambda m, x: x[:1],
    "swapped pieces": lambda m, x: x[:, 1:].transpose(0, 1),
}


@pytest.mark.parametrize("first", LAYOUTS, ids=str)
@pytest.mark.parametrize("second", LAYOUTS, ids=str)
def test_strides_of_a_result(first: str, second: str) -> None:
    def program(m, x, y):
        a, b = LAYOUTS[first](m, x), LAYOUTS[second](m, y)
        return m.add(a, b) if a.ndim == b.ndim else a

    array = np.arange(24.0).reshape(2, 3, 4)
    check(program, pair(array, "float32"), pair(array + 1, "float32"))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("text", [
    "m.relu(x)", "x * 2", "x + m.ones(x.shape)", "x.clone()", "x.contiguous()", "m.zeros_like(x)",
    "x.to(m.float64)", "x > 1", "m.where(x > 1, x, 0.0)", "x + x[..., :1]",
    "m.ones(4, 1, 1, 1) * x",
])
def test_strides_after_a_step(layout: str, text: str) -> None:
    step = eval(f"lambda m, x: {text}")
    cube = pair(np.arange(24.0).reshape(2, 3, 4), "float32")
    check(lambda m, x: step(m, LAYOUTS[layout](m, x)), cube)


# ---- shapes that do not fit ---------------------------------------------------------------------

@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 3), (3, 2)), ((2, 3), (2, 1, 4))], ids=repr)
@pytest.mark.parametrize("name", ["add", "mul", "maximum", "eq"])
def test_sizes_that_do_not_match(shapes: tuple, name: str) -> None:
    check(lambda m, x, y: getattr(m, name)(x, y), *[pair(np.zeros(s), "float32") for s in shapes])


def test_empty_tensors() -> None:
    empty = pair(np.zeros((2, 0)), "float32")
    check(lambda m, x: (m.relu(x), x + 1, x * x, x.sum(), x.exp().reshape(0)), empty)
