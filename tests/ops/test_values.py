"""What comes out: types by promotion, corner values, in-place results, random numbers."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.graph import TensorMeta
from labcore.ops.arrays import meta_of
from labcore.ops.promote import float_type, result_type
from labcore.ops.random import generator

INF, NAN = math.inf, math.nan


def meta(type_, *shape):
    return TensorMeta.contiguous(shape, type_)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((meta(dtypes.int32, 3), 2), dtypes.int32),
        ((meta(dtypes.int32, 3), 2.0), dtypes.float32),
        ((meta(dtypes.bool, 3), 2), dtypes.int64),
        ((meta(dtypes.bool, 3), True), dtypes.bool),
        ((meta(dtypes.float32, 3), meta(dtypes.float64)), dtypes.float32),
        ((meta(dtypes.float32, 3), meta(dtypes.float64, 1)), dtypes.float64),
        ((meta(dtypes.int32, 3), meta(dtypes.int64)), dtypes.int32),
        ((meta(dtypes.int64, 3), meta(dtypes.float32)), dtypes.float32),
        ((meta(dtypes.int64, 3), meta(dtypes.float64)), dtypes.float64),
        ((meta(dtypes.int32), 2.0), dtypes.float32),
        ((meta(dtypes.bool), meta(dtypes.int32)), dtypes.int32),
        ((1, 2.0), dtypes.float32),
    ],
)
def test_promotion(operands, expected):
    assert result_type(*operands) is expected
    assert result_type(*reversed(operands)) is expected


def test_division_and_functions_of_integers_are_float():
    assert float_type(meta(dtypes.int64, 3), 2) is dtypes.float32
    assert ops.div.kernel(np.arange(3), 2).dtype == np.float32
    assert ops.exp.kernel(np.array([True])).dtype == np.float32


def check(name, args, expected):
    with np.errstate(all="raise"):  # a kernel neither warns nor listens to its caller's settings
        out = ops.OPS[name].kernel(*args)
    expected = np.asarray(expected)
    np.testing.assert_array_equal(out, expected)
    if out.dtype.kind == "f":
        real = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out)[real], np.signbit(expected)[real])


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("relu", (np.array([NAN, -0.0, -1, 2]),), [NAN, -0.0, 0, 2]),
        (
            "maximum",
            (np.array([-0.0, 0.0, NAN, 1]), np.array([0.0, -0.0, 1, 2])),
            [-0.0, 0, NAN, 2],
        ),
        (
            "minimum",
            (np.array([-0.0, 0.0, 1, 1]), np.array([0.0, -0.0, NAN, 2])),
            [-0.0, 0, NAN, 1],
        ),
        ("sign", (np.array([NAN, -0.0, -3, 7]),), [0, 0, -1, 1]),
        ("sign", (np.array([True, False]),), [True, False]),
        ("clamp", (np.array([NAN, -1, 0.5, 2]), 0, 1), [NAN, 0, 0.5, 1]),
        ("clamp", (np.arange(3.0), 5, 1), [1, 1, 1]),
        ("floor_divide", (np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])), [3, -4, -4, 3]),
        ("floor_divide", (np.array([1.0, -1, 0, 7]), 0.0), [INF, -INF, NAN, INF]),
        ("remainder", (np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])), [1, 1, -1, -1]),
        (
            "remainder",
            (np.array([7.0, -7, 1, -1, -0.0]), np.array([2.0, 2, INF, INF, 2])),
            [1, 1, 1, INF, -0.0],
        ),
        ("pow", (np.array([1, -1, 2, 0, -1]), np.array([-1, -1, -1, -1, -2])), [1, -1, 0, 0, 1]),
        ("pow", (np.array([-2.0, -0.0, 0.0]), np.array([0.5, -1, 0])), [NAN, -INF, 1]),
        ("pow", (2, np.array([-1, 2])), [0, 4]),
        ("sub", (2, np.array([0.5, 3])), [1.5, -1]),
        ("sub", (np.array([5.0, 6]), np.array([1.0, 2]), 2), [3, 2]),
        ("add", (np.array([1], np.int32), 2**40), [1]),
        ("isnan", (np.array([NAN, INF, 0]),), [True, False, False]),
        ("log", (np.array([0.0, -1, 1]),), [-INF, NAN, 0]),
        ("rsqrt", (np.array([0.0, -0.0, 4]),), [INF, -INF, 0.5]),
        ("sigmoid", (np.array([-INF, INF, 0, -1000.0]),), [0, 1, 0.5, 0]),
        ("erf", (np.array([0.0, -0.0, INF, -INF, NAN]),), [0, -0.0, 1, -1, NAN]),
        ("square", (np.array([True, False]),), [1, 0]),
        ("bitwise_not", (np.array([1, 2]),), [-2, -3]),
        ("where", (np.array([True, False]), 1, 2.5), [1, 2.5]),
        ("sum", (np.ones(3, np.int32),), 3),
        ("mean", (np.ones((0, 2)), 0), [NAN, NAN]),
        ("amax", (np.array([1, NAN]),), NAN),
        ("any", (np.ones(0),), False),
        ("all", (np.ones(0),), True),
        ("any", (np.array([[0.0, 2]]), ()), [[False, True]]),
        ("to", (np.array([NAN, 0, -0.0, 0.5]), dtypes.bool), [True, False, False, True]),
        ("to", (np.array([-1.7, 2.9]), dtypes.int64), [-1, 2]),
        ("arange", (0, 1, 0.25), [0, 0.25, 0.5, 0.75]),
        ("arange", (5, 0, -2), [5, 3, 1]),
        ("cat", ([np.ones(0), np.arange(4.0).reshape(2, 2)], 1), [[0, 1], [2, 3]]),
        ("slice_scatter", (np.zeros(4), np.ones(2), 0, 1, None, 2), [0, 1, 0, 1]),
        ("matmul", (np.ones((0, 3)), np.ones((3, 2))), np.ones((0, 2))),
    ],
)
def test_corner(name, args, expected):
    check(name, args, expected)


@pytest.mark.parametrize("count", [*range(1, 20), 1000])
def test_signs_of_zero_do_not_depend_on_the_length(count):
    for type_ in (np.float32, np.float64):
        below = np.full(count, -0.0, type_)
        assert np.signbit(ops.relu.kernel(below)).all()
        assert np.signbit(ops.maximum.kernel(below, -below)).all()
        assert not np.signbit(ops.minimum.kernel(-below, below)).any()


def test_erf_is_the_libraries():
    points = np.linspace(-7, 7, 4001)
    exact = np.array([math.erf(x) for x in points])
    assert (np.abs(ops.erf.kernel(points) - exact) <= 2 * np.spacing(np.abs(exact))).all()


def test_in_place_keeps_the_array_and_its_type():
    target = np.array([1.0, -2.0, 3.0], np.float32)
    assert ops.add_.kernel(target, np.array(0.5)) is target
    np.testing.assert_array_equal(ops.clamp_.kernel(target, min=0), [1.5, 0, 3.5])
    np.testing.assert_array_equal(ops.gt_.kernel(target, 1), [1, 0, 1])
    np.testing.assert_array_equal(ops.copy_.kernel(target, np.arange(3)), [0, 1, 2])
    np.testing.assert_array_equal(ops.fill_.kernel(target, 7), [7, 7, 7])
    np.testing.assert_array_equal(ops.zero_.kernel(target), [0, 0, 0])
    assert target.dtype == np.float32


def test_every_in_place_operator_has_a_pure_twin():
    inplace = [op for op in ops.OPS.values() if op.kind == "inplace"]
    assert len(inplace) > 35
    for op in inplace:
        assert op.name.endswith("_") and op.mutates and not op.functional.mutates
        assert op.functional.name in (op.name[:-1], "full_like", "zeros_like")


def test_a_seed_repeats():
    generator.manual_seed(3)
    first, kept = ops.rand.kernel((100,)), generator.state
    normal = ops.randn.kernel((1000,), dtypes.float64)
    generator.state = kept
    np.testing.assert_array_equal(ops.randn.kernel((1000,), dtypes.float64), normal)
    generator.manual_seed(3)
    np.testing.assert_array_equal(ops.rand.kernel((100,)), first)
    assert first.dtype == np.float32 and (first >= 0).all() and (first < 1).all()
    assert abs(normal.mean()) < 0.2 and abs(normal.std() - 1) < 0.2


def test_an_operator_survives_copies():
    assert pickle.loads(pickle.dumps(ops.add)) is ops.add
    assert copy.deepcopy(ops.relu) is ops.relu
    assert repr(ops.relu) == "<operator relu>"


def test_all_operators_are_attributes():
    for name, op in ops.OPS.items():
        assert getattr(ops, name) is op


def test_flatten_of_one_axis_is_the_input_itself():
    """Strides of an axis of one are no reason to make a view: PyTorch returns self."""
    odd = np.lib.stride_tricks.as_strided(np.zeros(2, np.float32), (1, 2), (4, 4))
    assert ops.flatten.kernel(odd, 1) is odd
    assert ops.flatten.meta(meta_of(odd), 1).stride == (1, 1)
    assert ops.flatten.meta(meta_of(odd), 0).stride == (1,)
