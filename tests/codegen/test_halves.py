"""float16 and bfloat16 in kernels: words in memory, float32 where something is computed, and the
bits of eager mode."""

from __future__ import annotations

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.codegen import compile_graph, halves
from labcore.codegen.numba_ir import nothing_remembered
from labcore.fusion import count_by_running, ledger, lower, schedule
from labcore.fusion.cells import rounded
from labcore.tensor import from_numpy

from .graphs import arrays, as_python, eagerly, meta, traced

BOTH = pytest.mark.parametrize("half", dtypes.HALVES, ids=lambda t: t.name)
EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 3.0, 1e-7, -1e-5, 6.5e4, 300.0, 257.0, 0.1]


def words(half: dtypes.dtype) -> np.ndarray:
    """All numbers of a type."""
    return np.arange(2**16, dtype=np.uint16).view(half.numpy)


def between(half: dtypes.dtype) -> np.ndarray:
    """float32 numbers halfway between two neighbours of the type, and on both sides of that."""
    at = words(half).astype(np.float32)
    middle = ((at[:-1].astype(np.float64) + at[1:]) / 2).astype(np.float32)
    far = np.array([65519.996, 65520, 3.39e38, 3.4e38, 1e-45, 1e-40], np.float32)
    at = np.concatenate([at, middle, far, -far])
    return np.concatenate([at, *(np.nextafter(at, np.float32(s * np.inf)) for s in (1, -1))])


def assert_same_bits(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype
    kind = np.dtype(f"u{got.itemsize}")
    with np.errstate(all="ignore"):
        same = (got.view(kind) == want.view(kind)) | ((got != got) & (want != want))
    assert same.all(), (got[~same][:4], want[~same][:4])


@pytest.fixture(params=[True, False], ids=["instructions", "steps"])
def processor(request, monkeypatch):
    """With the processor's instructions for float16, if it has any, and without."""
    if request.param and not halves.converts():
        pytest.skip("the processor has no instructions for float16")
    monkeypatch.setenv("LAB_CACHE", "0")
    monkeypatch.setattr(halves, "converts", lambda: request.param)
    with nothing_remembered():
        yield


@pytest.mark.usefixtures("processor")
@BOTH
def test_every_word_becomes_its_number(half):
    x = from_numpy(words(half).copy())
    call = compile_graph(traced(lambda x: ops.to(x, dtypes.float32), meta(2**16, dtype=half)),
                         "inference")
    assert_same_bits(arrays(call([x]))[0], words(half).astype(np.float32))


@pytest.mark.usefixtures("processor")
@BOTH
def test_every_number_is_rounded_to_the_nearest_word(half):
    with np.errstate(all="ignore"):
        values = between(half)
        want = values.astype(half.numpy)
        call = compile_graph(traced(lambda x: ops.to(x, half), meta(len(values))), "inference")
        assert_same_bits(arrays(call([from_numpy(values)]))[0], want)
        few = slice(None, None, 37)
        alone = np.array([rounded(float(v), half) for v in values[few]], np.float32)
        assert_same_bits(alone, want[few].astype(np.float32))


def random_graph(seed: int):
    """A function of four tensors, of both halves, float32 and int32; steps in one order."""
    rng = np.random.default_rng(seed)
    one = "neg abs relu square sqrt reciprocal floor sign isnan".split()
    two = "add sub mul div maximum minimum lt eq".split()
    plan = [(rng.integers(4), rng.integers(99), rng.integers(99), rng.choice(one), rng.choice(two),
             rng.choice([0.1, 3, 257, -0.5]), dtypes.ALL[rng.integers(5)]) for _ in range(9)]

    def program(*tensors):
        made = list(tensors)
        for step, a, b, first, second, number, dtype in plan:
            x, y = made[a % len(made)], made[b % len(made)]
            if step == 0:
                x = ops.to(x, dtypes.float32) if x.meta.dtype is dtypes.bool else x
                made.append(getattr(ops, first)(x))
            elif step == 1:
                made.append(getattr(ops, "mul" if number == 3 else second)(x, float(number)))
            elif step == 2:
                made.append(getattr(ops, "add" if dtypes.bool in (x.meta.dtype, y.meta.dtype)
                                    else second)(x, y))
            else:
                made.append(ops.to(ops.where(ops.gt(x, 0), x, y), dtype))
        return tuple(made[len(tensors):])

    return program


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_give_the_bits_of_eager_mode(seed, monkeypatch):
    """The interpreter of loops, kernels as Python and kernels as machine code."""
    monkeypatch.setenv("LAB_CACHE", "0")
    program, types = random_graph(seed), (*dtypes.HALVES, dtypes.float32, dtypes.int32)
    rng = np.random.default_rng(seed)
    metas = [meta(3, 14, dtype=t) for t in types]
    with np.errstate(all="ignore"):
        inputs = [from_numpy(np.array([rng.permutation(EDGES) for _ in range(3)]).astype(t.numpy)
                             if t.is_floating_point else rng.integers(-300, 300, (3, 14), np.int32))
                  for t in types]
    graph = traced(program, *metas, names=("x", "y", "z", "w"))
    want = eagerly(program, inputs)
    call = compile_graph(graph, "inference")
    with np.errstate(all="ignore"):
        counted = count_by_running(schedule(lower(graph.graph)), [t.array for t in inputs])[1]
        ways = arrays(call(list(inputs))), arrays(as_python(call.source)(list(inputs)))
    for found in (*ways, counted.outputs):
        for got, expected in zip(found, want, strict=True):
            assert_same_bits(np.ascontiguousarray(got), np.ascontiguousarray(expected))


@BOTH
def test_what_is_summed_is_summed_in_float32(half):
    """A sum of 4,096 ones and many small numbers would stand still in two bytes."""
    x = np.ones((64, 64), half.numpy)
    function = lambda x: (ops.sum(x), ops.sum(x, 0), ops.mean(x, 1), ops.cumsum(x, 1))
    call = compile_graph(traced(function, meta(64, 64, dtype=half)), "inference")
    total, columns, means, running = arrays(call([from_numpy(x)]))
    assert (float(total), float(columns[0]), float(means[0])) == (4096.0, 64.0, 1.0)
    assert float(running[5, -1]) == 64.0 and total.dtype == half.numpy


@BOTH
def test_half_as_many_bytes_are_moved(half):
    def traffic(dtype):
        graph = traced(lambda x, b: ops.relu(ops.add(x, b)), meta(128, dtype=dtype),
                       meta(128, dtype=dtype))
        return ledger(schedule(lower(graph.graph))).bytes

    assert 2 * int(traffic(half)) == int(traffic(dtypes.float32))


@BOTH
def test_kernels_compute_in_float32_and_say_so(half):
    graph = traced(lambda x, b: ops.mul(ops.relu(ops.add(x, b)), 2.0), meta(64, dtype=half),
                   meta(64, dtype=half))
    source = compile_graph(graph, "inference").source
    assert f'x: "{half.name}*"' in source
    assert source.count(f" = {half.name}(") == 3, "each operator rounds its result"
    assert "float64" not in source


def test_a_body_that_computes_in_a_half_is_refused():
    from labcore.fusion.handlers import Dtypes

    kinds = Dtypes({})
    with pytest.raises(TypeError, match="computes in float16, not in float32"):
        kinds.op("add", dtypes.float16, dtypes.float16)
    with pytest.raises(TypeError, match="int64 becomes bfloat16, not by float32"):
        kinds.to_dtype(dtypes.int64, dtypes.bfloat16)
    assert kinds.op("where", dtypes.bool, dtypes.float16, dtypes.float16) is dtypes.float16


@BOTH
def test_products_add_up_in_float32(half):
    x = np.full((2, 512), 1.0, half.numpy)
    function = lambda x, y: ops.matmul(x, y)
    call = compile_graph(traced(function, meta(2, 512, dtype=half), meta(512, 2, dtype=half)),
                         "inference")
    (found,) = arrays(call([from_numpy(x), from_numpy(np.ascontiguousarray(x.T))]))
    assert isinstance(found, np.ndarray) and float(found[0, 0]) == 512.0
