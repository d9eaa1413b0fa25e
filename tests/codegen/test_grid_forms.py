"""Each form of a nest on a grid: which one is chosen, and that it computes what eager mode does.

The simulator fails a kernel that races, reads what nobody wrote, or leaves an array, so a kernel
that passes here has none of these on these inputs.
"""

from __future__ import annotations

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.codegen.cuda import choose, form, print_launches
from labcore.graph import TensorMeta
from tests.fusion.graphs import chain, floats, graph_of, layer_norm, layer_norm_backward, softmax

from .grid import check, forms, fused

pytestmark = pytest.mark.usefixtures("card")


def gelu_backward(g, x, b):
    z = ops.add(x, b)
    inner = ops.mul(ops.add(z, ops.mul(ops.mul(ops.mul(z, z), z), 0.044715)), 0.79788)
    t = ops.tanh(inner)
    slope = ops.mul(ops.sub(1.0, ops.mul(t, t)), ops.add(0.79788, ops.mul(ops.mul(z, z), 0.107)))
    d = ops.mul(g, ops.add(ops.mul(0.5, ops.add(1.0, t)), ops.mul(ops.mul(0.5, z), slope)))
    return d, ops.sum(d, 0)


# ---- pointwise ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 4, 31, 256, 1023, 1024, 1025, 2048, 5000])
def test_pointwise(size):
    call = check(chain, floats(size), floats(size))
    assert forms(call) == ["flat"]
    reads, writes = call.launched[0].reads, call.launched[0].writes
    assert (reads, writes) == (2 * size, size)


@pytest.mark.parametrize("shape", [(3, 5), (2, 300), (3, 1024), (2, 1500), (4, 3, 7)])
def test_pointwise_over_several_axes(shape):
    """Where axes do not merge, a block stays in one row, or the index is divided."""
    call = check(chain, floats(*shape), floats(shape[-1]))
    assert forms(call) == ["flat"]
    assert all(t.coalesced > 0.6 for t in call.launched[0].traffic.values())


def test_a_read_with_a_stride_is_not_coalesced():
    call = check(lambda x, y: ops.add(x, ops.slice(y, 0, 0, 8192, 8)), floats(1024), floats(8192))
    traffic = call.launched[0].traffic
    assert traffic["y"].coalesced < 0.2 < 0.9 < traffic["add"].coalesced
    assert forms(call) == ["flat"]


@pytest.mark.parametrize("type_", [dtypes.float64, dtypes.int64, dtypes.int32, dtypes.bool])
def test_types(type_):
    def function(x, y):
        return ops.where(ops.gt(x, y), x, y), ops.to(x, dtypes.float32), ops.add(x, y)

    check(function, floats(700, dtype=type_), floats(700, dtype=type_))


def test_literals_have_their_type():
    (launches,) = check(lambda x: ops.add(ops.mul(x, 2.1), 1.0), floats(64)).launches
    assert "float32(2.1)" in launches.source and "float32(1.0)" in launches.source


# ---- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns", "block"), [
    (5, 9, (32, 4)), (7, 33, (32, 4)), (4, 512, (32, 4)), (3, 700, (64,)), (2, 1024, (64,)),
    (2, 1100, (128,)), (1, 2000, (128,)),
])
def test_softmax(rows, columns, block):
    call = check(softmax, floats(rows, columns))
    ((kernel,),) = [launches.kernels for launches in call.launches]
    assert (kernel.form, kernel.block) == ("rows", block)
    assert (call.launched[0].reads, call.launched[0].writes) == (rows * columns, rows * columns)
    assert all(t.coalesced > 0.7 for t in call.launched[0].traffic.values())


@pytest.mark.parametrize("columns", [40, 700])
def test_layer_norm(columns):
    call = check(layer_norm, floats(6, columns), floats(columns), floats(columns))
    assert call.launched[0].traffic["x"].reads == 6 * columns


def test_several_reductions_along_a_row():
    def function(x):
        return ops.argmax(x, -1), ops.mean(x, -1), ops.sub(x, ops.amin(x, -1, True))

    for columns in (20, 900):
        assert set(forms(check(function, floats(5, columns)))) == {"rows"}


@pytest.mark.parametrize("kind", ["all", "any", "prod", "amax", "amin", "sum"])
@pytest.mark.parametrize("shape", [(4, 100), (3, 1200), (1, 20000)])
def test_kinds_of_reductions(kind, shape):
    type_ = dtypes.bool if kind in ("all", "any") else dtypes.float64
    check(lambda x: getattr(ops, kind)(x, -1), floats(*shape, dtype=type_))


def test_nan_is_kept():
    def function(x):
        y = ops.where(ops.gt(x, 1.0), float("nan"), x)
        return ops.amax(y, -1), ops.relu(y), ops.maximum(y, 0.5)

    check(function, floats(3, 200))


def test_short_rows_are_one_thread_s(monkeypatch):
    assert forms(check(softmax, floats(600, 6))) == ["thread a row"]
    monkeypatch.setattr(form, "NARROW", 3)
    assert forms(check(softmax, floats(60, 6))) == ["rows"]


def test_rows_too_long_for_registers(monkeypatch):
    monkeypatch.setattr(form, "ROW_LIMIT", 500)
    assert forms(check(softmax, floats(3, 900))) == ["long rows"]
    assert forms(check(layer_norm, floats(3, 900), floats(900), floats(900))) == ["long rows"]


# ---- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [
    (3, 5), (70, 2), (100, 40), (300, 128), (500, 130), (1000, 3), (5, 600),
])
def test_column_sums(rows, columns):
    call = check(lambda x: (ops.sum(x, 0), ops.amax(x, 0)), floats(rows, columns))
    assert set(forms(call)) == {"columns"}
    reads = sum(t.reads for launch in call.launched for n, t in launch.traffic.items() if n == "x")
    assert reads == rows * columns


@pytest.mark.parametrize(("rows", "columns"), [(10, 40), (200, 130)])
def test_a_column_sum_rides_along(rows, columns):
    call = check(gelu_backward, floats(rows, columns), floats(rows, columns), floats(columns))
    assert len(call.launches) == 1 and set(forms(call)) == {"columns"}
    first = call.launched[0]
    assert first.traffic["x"].reads == first.traffic["y"].reads == rows * columns


@pytest.mark.parametrize("shape", [(3, 50, 20), (2, 9, 200), (4, 130, 3)])
def test_columns_of_a_batch(shape):
    assert set(forms(check(lambda x: ops.sum(x, 1), floats(*shape)))) == {"columns"}


def test_batch_norm():
    def function(x):
        centred = ops.sub(x, ops.mean(x, (0, 2), True))
        return ops.mul(centred, ops.rsqrt(ops.add(ops.mean(ops.mul(centred, centred),
                                                           (0, 2), True), 1e-5)))

    check(function, floats(6, 5, 40))


@pytest.mark.parametrize(("rows", "columns"), [(9, 40), (40, 300), (300, 130)])
def test_layer_norm_backward(rows, columns):
    call = check(layer_norm_backward, floats(rows, columns), floats(rows, columns),
                 floats(columns), floats(rows, 1), floats(rows, 1))
    assert forms(call) == ["rows, columns"] * 2
    assert call.launched[0].traffic["x"].reads == rows * columns


def test_columns_beside_rows_too_long_for_registers(monkeypatch):
    monkeypatch.setattr(form, "ROW_LIMIT", 100)
    call = check(layer_norm_backward, floats(30, 90), floats(30, 90), floats(90),
                 floats(30, 1), floats(30, 1))
    assert forms(call) == ["long rows, columns"] * 2


# ---- one row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [17000, 40000])
def test_a_full_sum_is_two_kernels(size):
    call = check(lambda x: (ops.sum(x), ops.mean(x), ops.amax(x)), floats(size))
    assert forms(call) == ["total", "total"]


def test_a_whole_tensor_s_softmax_is_a_kernel_a_pass():
    def function(x):
        e = ops.exp(ops.sub(x, ops.amax(x)))
        return ops.div(e, ops.sum(e))

    assert forms(check(function, floats(150, 130))) == ["total"] * 3


# ---- one after the other ------------------------------------------------------------------------


def test_running_sums():
    assert forms(check(lambda x: ops.cumsum(x, -1), floats(5, 70))) == ["thread a row"]
    assert forms(check(lambda x: ops.cumsum(x, 0), floats(50, 7))) == ["thread a column"]
    assert forms(check(lambda x: ops.cumprod(ops.tanh(x), 1), floats(3, 9, 4))) == [
        "thread a column"]


def test_writes_that_may_meet():
    def function(x, y):
        places = ops.remainder(ops.arange(12), 5)
        return ops.index_add(x, 0, places, y)

    assert "one thread" in forms(check(function, floats(5, 6), floats(12, 6)))


def test_one_element():
    assert forms(check(lambda x: ops.exp(x), floats())) == ["one thread"]


def test_nothing_at_all():
    check(chain, floats(0, 3), floats(3))
    check(lambda x: ops.sum(x, 0), floats(0, 3))


# ---- what is said -------------------------------------------------------------------------------


def test_one_place_repeated_no_times_is_not_read():
    check(chain, TensorMeta((0,), (0,), dtypes.float32), floats(1))


def test_the_reason_of_a_launch():
    (nest,) = fused(graph_of(softmax, floats(8, 4096))).nests
    assert str(choose(nest).reason) == "256 threads a row of 4096: the row stays in registers"
    (kernel,) = print_launches(nest).kernels
    assert kernel.launch == "[8, 256]"


def test_the_program_reads_like_the_cpu_s():
    call = check(softmax, floats(8, 700))
    text = call.source
    assert "@device\ndef leave_sum(v, slots):" in text
    assert "from labcore.tensor.on_card import empty_strided" in text
    assert "[8, 64](x.array, div.array)" in text
    kernel = text.index("@resident(24)\ndef ")
    assert text.index("def warp_sum") < text.index("def take_sum") < kernel


# ---- halves --------------------------------------------------------------------------------------

HALVES = pytest.mark.parametrize("half", dtypes.HALVES, ids=lambda t: t.name)


@HALVES
@pytest.mark.parametrize("shape", [(3000,), (2048,), (5, 700), (2, 3, 4, 5)], ids=str)
def test_a_flat_nest_of_halves_has_eight_elements_a_thread(half, shape):
    """The bits of eager mode, and two bytes for each element that is read or written."""
    call = check(lambda x, b: ops.mul(ops.relu(ops.add(x, b)), 2.1),
                 floats(*shape, dtype=half), floats(*shape, dtype=half))
    (kernel,) = call.launches[0].kernels
    assert "8 elements a thread" in kernel.reason and f'x: "const {half.name}*"' in kernel.source
    count = int(np.prod(shape))
    (launch,) = call.launched
    traffic = launch.traffic["x"]
    assert (traffic.reads, launch.traffic["mul"].writes) == (count, count)
    assert traffic.coalesced > 0.9


@HALVES
def test_a_flat_nest_beside_float32_has_four(half):
    call = check(lambda x, y: ops.add(x, y), floats(3000, dtype=half), floats(3000))
    assert "4 elements a thread" in call.launches[0].kernels[0].reason


@HALVES
@pytest.mark.parametrize("function", [
    softmax, lambda x: ops.sum(x, 0), lambda x: (ops.sum(x), ops.amax(x, 1)), ops.argmax,
    lambda x: ops.cumsum(x, 1), lambda x: ops.cumsum(x, 0), lambda x: ops.layer_norm(x, (96,)),
    lambda x: ops.var(x, 1), lambda x: ops.mean(x, 1), lambda x: ops.flip(x, (1,)),
    lambda x: ops.cat([x, ops.mul(x, 2)], 0), lambda x: ops.where(ops.gt(x, 0.1), x, 0.3),
    lambda x: ops.index_select(x, 0, ops.arange(5)), lambda x: ops.to(x, dtypes.int32),
    lambda x: ops.index_add(x, 0, ops.arange(4), ops.slice(x, 0, 0, 4)),
])
def test_all_forms_of_halves(half, function):
    check(function, floats(40, 96, dtype=half))


@pytest.mark.parametrize("type_", [dtypes.float32, dtypes.float64, dtypes.int64])
def test_many_column_sums_take_turns_in_shared_memory(type_):
    def sums(x):
        return tuple(ops.sum(ops.mul(x, k), 0) for k in range(1, 27))

    call = check(sums, floats(700, 40, dtype=type_))
    assert {launch.form for launches in call.launches for launch in launches.kernels} == {"columns"}
    assert max(launch.shared_bytes for launch in call.launched) <= 48 * 1024
    assert "the cells are used again" in call.source


def test_a_block_has_no_more_shared_memory_than_a_card_gives():
    from labcore.simulator import launch

    body = "    s = cuda.shared.array(13000, float32)\n    s[cuda.threadIdx.x] = x[0]\n"
    with pytest.raises(ValueError, match="49152 bytes of shared memory, not 52000"):
        launch(f"def kernel(x):\n{body}", "kernel", (1,), (32,), [np.ones(1, np.float32)])
