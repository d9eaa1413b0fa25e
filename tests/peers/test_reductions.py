"""Reductions, matmul and joins: values, types, shapes, errors."""
from __future__ import annotations

import numpy as np
import pytest

from .pairs import NAMES, check, pair

CUBE = np.random.default_rng(0).integers(-4, 5, (2, 3, 4))
DIMS = [None, 0, 1, -1, (0, 1), (0, 2), (-1, 0), (0, 1, 2)]


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "any", "all"])
def test_over_dims(name: str, dtype: str) -> None:
    for dim in DIMS:
        for keepdim in (False, True):
            if dim is None and keepdim:
                continue
            given = () if dim is None else (dim, keepdim)
            check(lambda m, x: getattr(m, name)(x, *given), pair(CUBE, dtype), ulps=16)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "any", "all"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)], ids=repr)
def test_of_nothing(name: str, shape: tuple) -> None:
    check(lambda m, x: getattr(m, name)(x), pair(np.zeros(shape), "float32"))
    check(lambda m, x: getattr(m, name)(x, 0), pair(np.zeros(shape), "float32"))


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_with_nan(name: str) -> None:
    array = [[1.0, np.nan, 2.0], [np.inf, 1.0, -np.inf]]
    check(lambda m, x: getattr(m, name)(x, 1), pair(array, "float32"))


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_with_a_type(name: str) -> None:
    check(lambda m, x: getattr(m, name)(x, dtype=m.float64), pair(CUBE, "float32"))
    check(lambda m, x: getattr(m, name)(x, 0, dtype=m.float32), pair(CUBE, "int64"))


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "any", "all"])
def test_of_a_number_tensor(name: str) -> None:
    for given in ((), (0,), (-1, True)):
        check(lambda m, x: getattr(m, name)(x, *given), pair(2.5, "float32"))


def test_of_a_transposed_tensor() -> None:
    check(lambda m, x: x.transpose(0, 2).sum(0), pair(CUBE, "float32"))
    check(lambda m, x: x.transpose(0, 2).sum(1, keepdim=True), pair(CUBE, "float32"))
    check(lambda m, x: x.permute(1, 2, 0).amax(-1), pair(CUBE, "float32"))


# ---- matmul -------------------------------------------------------------------------------------

SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((2, 1, 2, 3), (4, 3, 2)),
    ((0, 3), (3, 2)), ((2, 0), (0, 3)),
]
WRONG = [
    ((2, 3), (4, 5)), ((3,), (4,)), ((2, 3), (2,)), ((3,), (2, 4)), ((5, 2, 3), (4, 3, 2)),
    ((5, 2, 3), (5, 2, 4)), ((), (3,)),
]


@pytest.mark.parametrize("shapes", SHAPES + WRONG, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_matmul(shapes: tuple, dtype: str) -> None:
    generator = np.random.default_rng(1)
    tensors = [pair(generator.integers(-3, 4, s), dtype) for s in shapes]
    check(lambda m, x, y: m.matmul(x, y), *tensors)
    check(lambda m, x, y: x @ y, *tensors)


def test_matmul_of_mixed_types() -> None:
    check(lambda m, x, y: x @ y, pair([[1.0]], "float32"), pair([[1.0]], "float64"))
    check(lambda m, x, y: x @ y, pair([[True]], "bool"), pair([[True]], "bool"))


def test_matmul_of_transposed() -> None:
    first, second = pair(CUBE[0], "float32"), pair(CUBE[1], "float32")
    check(lambda m, x, y: (x.t() @ y, y.t() @ x, (x.t() @ y).t()), first, second)


# ---- joins --------------------------------------------------------------------------------------

@pytest.mark.parametrize("dim", [0, 1, -1, 2, 5])
@pytest.mark.parametrize("name", ["cat", "stack"])
def test_joins(name: str, dim: int) -> None:
    mixed = pair(CUBE[0], "float32"), pair(CUBE[1], "int64")
    check(lambda m, x, y: getattr(m, name)([x, y], dim), *mixed)
    cubes = pair(CUBE, "float32"), pair(CUBE[::-1], "float32")
    check(lambda m, x, y: getattr(m, name)((x, x, y), dim), *cubes)


def test_joins_that_do_not_fit() -> None:
    first = pair(np.ones((2, 3)), "float32")
    for shape in ((2, 4), (3,), (0,), (0, 3)):
        check(lambda m, x, y: m.cat([x, y]), first, pair(np.ones(shape), "float32"))
        check(lambda m, x, y: m.stack([x, y]), first, pair(np.ones(shape), "float32"))
    check(lambda m, x: m.cat([x, x]), pair(1.0, "float32"))
    check(lambda m: m.cat([]))
