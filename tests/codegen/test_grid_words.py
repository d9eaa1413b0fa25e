"""Words of several elements on a grid: which kernels load them, what they compute, and what they do
with a view that begins in the middle of a word."""

from __future__ import annotations

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.codegen.cuda import choose, form, print_launches
from labcore.codegen.cuda.program import compile_schedule
from labcore.cuda import record
from labcore.tensor.cuda import to_card, to_host
from labcore.tensor.tensor import wrap
from tests.fusion.graphs import (
    arrays_for,
    assert_same,
    eager,
    floats,
    graph_of,
    layer_norm,
    layer_norm_backward,
    softmax,
)

from .grid import check, fused

pytestmark = pytest.mark.usefixtures("card")
HALVES = pytest.mark.parametrize("half", dtypes.HALVES, ids=lambda t: t.name)


def chain(x, b):
    return ops.mul(ops.relu(ops.add(x, b)), 2.1)


def source_of(function, *metas):
    (nest,) = fused(graph_of(function, *metas)).nests
    return print_launches(nest).source


def on_views(function, *metas, first=1):
    """The same graph, with operands that begin `first` elements into their memory."""
    graph = graph_of(function, *metas)
    inputs = arrays_for(graph, np.random.default_rng(0))
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    views = []
    for array in inputs:
        longer = np.concatenate([np.zeros(first, array.dtype), array.reshape(-1)])
        views.append(wrap(to_card(longer)[first:].reshape(array.shape)))
    call = compile_schedule(fused(graph), {}, "inference", check_inputs=True)
    with record() as launches:
        found = call(views)
    assert_same([to_host(t.array) for t in found], want)
    return call, launches


# ---- pointwise, of halves ------------------------------------------------------------------------


@HALVES
@pytest.mark.parametrize("shape", [(2,), (3000,), (3001,), (2048,), (5, 700), (4095,)], ids=str)
def test_halves_go_in_pairs(half, shape):
    metas = [floats(*shape, dtype=half)] * 2
    call = check(chain, *metas)
    (kernel,) = call.launches[0].kernels
    assert "load2(x, i" in kernel.source and "store2(mul" in kernel.source
    assert "two a word" in kernel.reason
    (launch,) = call.launched
    count = int(np.prod(shape))
    assert (launch.traffic["x"].reads, launch.traffic["mul"].writes) == (count, count)
    if count % 2 == 0:
        assert all(traffic.coalesced == 1.0 for traffic in launch.traffic.values())


@HALVES
@pytest.mark.parametrize(("shape", "other"), [
    ((3, 3000), (3000,)), ((2, 300), (300,)), ((3, 1024), (1024,)), ((50, 10), (50, 1)),
    ((4, 3, 8), (3, 8)), ((2, 700), (2, 1)),
], ids=str)
def test_halves_go_in_pairs_along_the_last_axis(half, shape, other):
    call = check(chain, floats(*shape, dtype=half), floats(*other, dtype=half))
    assert "load2(x, " in call.launches[0].kernels[0].source


@HALVES
def test_a_view_may_begin_in_the_middle_of_a_word(half):
    metas = [floats(3000, dtype=half)] * 2
    whole, away = check(chain, *metas).launched[0], on_views(chain, *metas)[1][0]
    requests = [launch.traffic["x"].requests for launch in (whole, away)]
    assert requests == [47, 94], "94 warps have something of 3000 halves one by one, 47 in pairs"
    assert whole.traffic["mul"].requests == away.traffic["mul"].requests, "memory of its own"


@HALVES
def test_halves_that_lie_otherwise_are_loaded_one_by_one(half):
    n, square = floats(1000, dtype=half), floats(40, 41, dtype=half)
    apart = [
        (lambda x, y: ops.add(ops.slice(x, 0, 0, 1000, 2), y), n, floats(500, dtype=half)),
        (lambda x, y: ops.add(ops.slice(x, 0, 1, 1000, 1), y), n, floats(999, dtype=half)),
        (lambda x, y: ops.add(x, y), square, floats(41, dtype=half)),
        (lambda x, y: ops.add(x, y), n, floats(1000)),
        (lambda x, y: ops.add(ops.flip(x, (0,)), y), n, n),
    ]
    for function, *metas in apart:
        assert "load2" not in check(function, *metas).source


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("columns", "words"), [
    (256, 4), (1024, 4), (1000, 4), (702, 2), (701, 1), (128, 4), (96, 2), (40, 1),
])
def test_a_row_in_registers_is_loaded_by_words(columns, words):
    call = check(softmax, floats(5, columns))
    source = call.launches[0].kernels[0].source
    assert ("load" not in source) if words == 1 else (f"load{words}(x, " in source)
    traffic = call.launched[0].traffic["x"]
    assert (traffic.reads, traffic.coalesced) == (5 * columns, 1.0 if columns % 8 == 0
                                                  else traffic.coalesced)
    on_views(softmax, floats(5, columns))


@HALVES
def test_a_row_of_halves_has_words_of_eight(half):
    row = floats(3, 1024, dtype=half)
    assert "load8(x, 1024*i0 + i1, x_r, 8 * k)" in check(softmax, row).source
    on_views(softmax, row)


def test_what_each_row_loads_anew_and_needs_once_takes_no_registers():
    assert "load4" not in source_of(layer_norm, floats(64, 1024), floats(1024), floats(1024))


def test_where_each_of_many_elements_is_asked_for_they_are_no_words():
    assert "load" not in source_of(softmax, floats(4, 20000))
    assert "load4" in source_of(softmax, floats(4, 16384))


# ---- walks over rows -----------------------------------------------------------------------------


def backward(rows, columns):
    return [floats(rows, columns), floats(rows, columns), floats(columns), floats(rows, 1),
            floats(rows, 1)]


@pytest.fixture
def few_blocks(monkeypatch):
    """Two blocks walk over all rows."""
    monkeypatch.setattr(form, "MULTIPROCESSORS", 1)
    monkeypatch.setattr(form, "MOST_BLOCKS", 2)


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(("rows", "columns"), [(7, 256), (3, 1024), (9, 130), (5, 701), (4, 33)])
def test_the_next_row_comes_ahead(rows, columns):
    """Each row is loaded once, also the last one, after which there is none."""
    metas = backward(rows, columns)
    call = check(layer_norm_backward, *metas)
    kernel = call.launches[0].kernels[0]
    assert kernel.reason.endswith("the next row comes ahead") and "x_r_next[" in kernel.source
    traffic = call.launched[0].traffic
    assert [traffic[name].reads for name in "xy"] == [rows * columns] * 2
    assert traffic["z"].reads == 2 * columns, "weights are loaded once a block"
    on_views(layer_norm_backward, *metas)


@pytest.mark.usefixtures("few_blocks")
def test_columns_of_a_batch_beside_rows():
    def function(x, y):
        return ops.sub(x, ops.mean(x, -1, True)), ops.sum(ops.mul(x, y), 1)

    call = check(function, floats(3, 9, 256), floats(3, 9, 256))
    assert call.launches[0].kernels[0].form == "rows, columns"


@pytest.mark.usefixtures("few_blocks")
def test_a_walk_asks_once_for_all_its_arrays():
    source = source_of(layer_norm_backward, *backward(9, 256))
    assert source.count("aligned(x, 16)") == 1 and source.count("else:") == 1
    assert source.index("load4(x, ") < source.index("else:") < source.index("x_r_next[k] = x[")


def test_a_block_of_one_row_has_none_to_come():
    (nest,) = fused(graph_of(layer_norm_backward, *backward(40, 1024))).nests
    assert not choose(nest).ahead


def test_as_many_blocks_walk_as_find_registers():
    """132 multiprocessors; with so many columns a thread holds 80 words at most, beside others."""
    shares = {}
    for columns in (1024, 4096, 8192):
        (nest,) = fused(graph_of(layer_norm_backward, *backward(1 << 16, columns))).nests
        shares[columns] = choose(nest).shares // 132
    assert shares == {1024: 8, 4096: 2, 8192: 1}


# ---- const ---------------------------------------------------------------------------------------


def test_what_is_stored_by_words_is_not_const():
    assert 'x: "const float32*", div: "float32*"' in source_of(softmax, floats(4, 1024))
    source = source_of(chain, *[floats(2048, dtype=dtypes.float16)] * 2)
    assert 'y: "const float16*"' in source and 'mul: "float16*"' in source
