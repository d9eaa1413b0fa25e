"""A kernel gives what the eager kernel gives: every operator, every dtype, at the edges.

Bit for bit, the sign of a zero included; only what libm and numpy compute each in their own way may
differ, by a few units in the last place.
"""

from __future__ import annotations

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.codegen import compile_graph
from labcore.tensor import empty_strided

from .graphs import arrays, as_python, eagerly, filled, meta, traced

EDGES = {
    "f": [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1e-40,
        1e30,
        -1e30,
        3.0,
        -7.5,
        88.9,
        1e-5,
    ],
    "i": [0, 1, -1, 2, -7, 100, None, None, -(2**31) + 1, 5, -5, 63, 64, 17, -17, 3],
    "b": [0, 1] * 8,
}
UNARY = (
    "logical_not neg relu exp log sqrt rsqrt sin cos erf tanh sigmoid abs sign reciprocal "
    "isnan square bitwise_not clone"
).split()
BINARY = (
    "add sub mul div floor_divide remainder pow maximum minimum eq ne lt le gt ge logical_and "
    "logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
).split()
LIBM = set("exp log sin cos erf tanh sigmoid pow".split())
CHUNK = 16


def edges(dtype: dtypes.dtype) -> np.ndarray:
    values = EDGES["f" if dtype.is_floating_point else dtype.numpy.kind]
    if dtype.numpy.kind == "i":
        limits = np.iinfo(dtype.numpy)
        values = [
            limits.max if k == 6 else limits.min if k == 7 else v for k, v in enumerate(values)
        ]
    with np.errstate(all="ignore"):  # some are too large for a half
        return np.array(values).astype(dtype.numpy)


def calls():
    """(name, function of two tensors) of everything to try."""
    for name in UNARY:
        yield name, lambda x, y, op=getattr(ops, name): op(x)
    for name in BINARY:
        yield name, lambda x, y, op=getattr(ops, name): op(x, y)
        for number in (3, -1, 0, 2.5) + ((0.5, -0.5, 2, -2) if name == "pow" else ()):
            yield f"{name} {number}", lambda x, y, op=getattr(ops, name), n=number: op(x, n)
    for dtype in dtypes.ALL:
        yield f"to {dtype.name}", lambda x, y, t=dtype: ops.to(x, t)
    yield "clamp", lambda x, y: ops.clamp(x, -1, 2)
    yield "where", lambda x, y: ops.where(ops.gt(x, y), x, y)
    yield "add alpha", lambda x, y: ops.add(x, y, alpha=3)


def legal(dtype, x, y):
    """What this dtype allows and these values do not make raise."""
    for name, function in calls():
        try:
            traced(function, meta(16, 16, dtype=dtype), meta(16, 16, dtype=dtype))
            function(x, y)
        except (RuntimeError, TypeError):
            continue
        yield name, function


def differ(name: str, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where two results are not the same."""
    if got.dtype.itemsize == 2:
        return halves_differ(name, got, want)
    if got.dtype.kind != "f":
        return got != want
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if name.split()[0] in LIBM:
            same |= np.abs(got - want) <= 4 * np.spacing(np.abs(want))
        return ~(same & (np.isnan(got) | (np.signbit(got) == np.signbit(want))))


def halves_differ(name: str, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where neither all bits are the same, nor both are nan; a function of libm may lie in the
    other half's reach."""
    with np.errstate(all="ignore"):
        other = got.view(np.int16) != want.view(np.int16)
        if name.split()[0] in LIBM:
            other &= abs(got.view(np.int16).astype(int) - want.view(np.int16)) > 1
        return other & ~(np.isnan(got) & np.isnan(want))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda t: t.name)
def test_every_operator_at_the_edges(dtype, monkeypatch):
    monkeypatch.setenv("LAB_CACHE", "0")
    x, y = (empty_strided((16, 16), (16, 1), dtype) for _ in range(2))
    x.array[...], y.array[...] = np.meshgrid(edges(dtype), edges(dtype))
    found = list(legal(dtype, x, y))
    assert len(found) > 90
    for first in range(0, len(found), CHUNK):
        names, functions = zip(*found[first : first + CHUNK])
        together = lambda x, y: tuple(f(x, y) for f in functions)
        call = compile_graph(
            traced(together, meta(16, 16, dtype=dtype), meta(16, 16, dtype=dtype)), "inference"
        )
        want = eagerly(together, [x, y])
        for how in (call, as_python(call.source)):
            for name, g, w in zip(names, arrays(how([x, y])), want):
                assert g.dtype == w.dtype
                bad = differ(name, g, w)
                assert not bad.any(), (
                    f"{name}({x.array[bad][0]}, {y.array[bad][0]}) is {w[bad][0]}, not {g[bad][0]}"
                )


OVERFLOWS = [
    lambda x, low: ops.gt(ops.add(x, 1), x),
    lambda x, low: ops.lt(ops.sub(x, 1), x),
    lambda x, low: ops.floor_divide(ops.mul(x, 2), 2),
    lambda x, low: ops.ge(ops.abs(x), 0),
    lambda x, low: ops.gt(ops.pow(x, 5), 0),
    lambda x, low: ops.add(x, low),
    lambda x, low: ops.eq(x, low),
    lambda x, low: ops.neg(ops.clamp(x, low)),
]


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64], ids=lambda t: t.name)
def test_integers_wrap_round(dtype):
    """The compiler may conclude nothing from an overflow."""
    limits = np.iinfo(dtype.numpy)
    x = empty_strided((4,), (1,), dtype)
    x.array[...] = limits.max, 5, limits.min, -1
    together = lambda x: tuple(f(x, int(limits.min)) for f in OVERFLOWS)
    call = compile_graph(traced(together, meta(4, dtype=dtype)), "inference")
    with np.errstate(all="ignore"):
        for how in (call, as_python(call.source)):
            for got, want in zip(arrays(how([x])), eagerly(together, [x])):
                np.testing.assert_array_equal(got, want)


REDUCTIONS = {
    "rows": lambda op, x: op(x, -1),
    "rows kept": lambda op, x: op(x, -1, True),
    "columns": lambda op, x: op(x, 0),
    "middle": lambda op, x: op(x, 1),
    "outer two": lambda op, x: op(x, (0, 2)),
    "all": lambda op, x: op(x, (0, 1, 2)),
}


@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda t: t.name)
def test_reductions(dtype, how):
    """Sums of integers and bools are exact; extremes keep a nan."""
    rng = np.random.default_rng(1)
    x = empty_strided((3, 4, 5), (20, 5, 1), dtype)
    x.array[...] = (
        rng.integers(0, 2, x.shape) if dtype is dtypes.bool else rng.integers(-9, 9, x.shape)
    )
    if dtype.is_floating_point:
        x.array[1, 2, 3] = np.nan
    names = ["sum", "amax", "amin"] + (["mean"] if dtype.is_floating_point else [])
    together = lambda x: tuple(REDUCTIONS[how](getattr(ops, name), x) for name in names)
    call = compile_graph(traced(together, meta(3, 4, 5, dtype=dtype)), "inference")
    assert not call.schedule.externs
    want = eagerly(together, [x])
    for run in (call, as_python(call.source)):
        for g, w in zip(arrays(run([x])), want):
            assert g.dtype == w.dtype
            np.testing.assert_allclose(g, w, rtol=1e-6)


def test_any_and_all():
    together = lambda x: (ops.any(x), ops.all(x, 0), ops.any(x, 1, True))
    x = empty_strided((4, 6), (6, 1), dtypes.bool)
    x.array[...] = np.random.default_rng(0).integers(0, 2, (4, 6))
    call = compile_graph(traced(together, meta(4, 6, dtype=dtypes.bool)), "inference")
    for g, w in zip(arrays(call([x])), eagerly(together, [x])):
        np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_float32_sums_are_as_good_as_pairwise_ones(dim):
    """Along rows, along columns and in all: no worse than numpy's, against float64."""
    x = empty_strided((500, 400), (400, 1), dtypes.float32)
    x.array[...] = np.random.default_rng(0).random((500, 400))
    call = compile_graph(traced(lambda x: ops.sum(x, dim), meta(500, 400)), "inference")
    (got,) = arrays(call([x]))
    exact = x.array.sum(axis=dim, dtype=np.float64)
    assert np.abs(got - exact).max() <= np.abs(x.array.sum(axis=dim) - exact).max()
    assert np.abs(got / exact - 1).max() <= 6e-8  # rounded once, at the end


def test_empty_and_zero_dimensional_tensors():
    together = lambda x, y: (ops.add(x, 1.0), ops.sum(x, 0), ops.sum(x), ops.mul(y, y), ops.sum(y))
    call = compile_graph(traced(together, meta(0, 3), meta()), "inference")
    inputs = [empty_strided((0, 3), (3, 1), dtypes.float32), empty_strided((), (), dtypes.float32)]
    inputs[1].array[...] = 1.5
    got = call(list(inputs))
    assert [tuple(t.shape) for t in got] == [(0, 3), (3,), (), (), ()]
    assert [t.array.tolist() for t in got] == [[], [0, 0, 0], 0, 2.25, 1.5]


def test_inputs_of_any_layout():
    """Transposed, sliced with a step, expanded: read where they lie; results as in eager mode."""
    base = empty_strided((8, 10), (10, 1), dtypes.float32)
    base.array[...] = np.arange(80).reshape(8, 10)
    views = [
        ops.transpose(base, 0, 1),
        ops.slice(ops.slice(base, 1, 1, 9), 0, 0, 8, 2),
        ops.expand(ops.slice(base, 0, 3, 4), (4, 10)),
    ]
    for view in views:
        function = lambda x: (ops.mul(x, 2.0), ops.sum(x, 0))
        call = compile_graph(traced(function, view.meta), "inference")
        for got, want in zip(call([view]), function(view)):
            np.testing.assert_array_equal(got.array, want.array)
            assert got.stride() == want.stride()


def test_what_is_written_into_a_copy_stays_where_the_copy_is():
    """The copy may lie in memory that is used again; the parts go into the copy."""

    def program(x):
        y = ops.exp(x)
        row = ops.mul(ops.slice(y, 0, 1, 2), 2)
        y = ops.index_add(y, 0, ops.zeros((1,), dtypes.int64), row)
        return (ops.slice_scatter(y, ops.slice(y, 0, 0, 1), 0, 1, 2),)

    x = filled(meta(2, 3))
    (got,) = compile_graph(traced(program, x.meta), "inference")([x])
    np.testing.assert_allclose(got.array, program(x)[0].array, rtol=1e-6)
