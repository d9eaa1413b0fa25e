"""Squares turned in shared memory: when they are chosen, and that warps touch neighbours only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import labcore as torch
from labcore import dtypes, ops
from labcore.codegen.cuda import across, choose
from labcore.codegen.cuda.options import ON_CARD
from labcore.fusion import lower, schedule
from labcore.fusion.verify import verify_program
from tests.fusion.graphs import RandomGraph, arrays_for, assert_same, eager, floats, graph_of

from .grid import check, forms, fused, on_card, on_grid

pytestmark = pytest.mark.usefixtures("card")
FEW = max(15, settings.default.max_examples // 3)


def plus_turned(x, y):
    return ops.add(x, ops.transpose(y, 0, 1))


def turned(x):
    return ops.clone(ops.transpose(x, 0, 1), True)


def lost_to_banks(launch):
    return sum(lost for _, lost in launch.shared.values())


def nothing_lost(call):
    """The fewest sectors, and no thread waits for a bank."""
    (launch,) = call.launched
    assert forms(call) == ["tiles"] and launch.barriers == 1 and lost_to_banks(launch) == 0
    assert all(t.sectors == t.fewest for t in launch.traffic.values())
    return launch


def test_a_transposed_operand_is_read_along_its_own_rows():
    launch = nothing_lost(check(plus_turned, floats(64, 96), floats(96, 64)))
    assert (launch.grid, launch.block, launch.shared_bytes) == ((6,), (32, 8), 32 * 33 * 4)
    assert {name: t.sectors for name, t in launch.traffic.items()} == dict.fromkeys(
        ("x", "y", "add"), 64 * 96 // 8)


def test_a_transposed_copy():
    launch = nothing_lost(check(turned, floats(96, 64)))
    assert (launch.reads, launch.writes) == (64 * 96, 64 * 96)


@pytest.mark.parametrize("type_", [
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.bool])
def test_types(type_):
    def function(x, y):
        return ops.where(ops.gt(x, ops.transpose(y, 0, 1)), x, ops.transpose(y, 0, 1))

    nothing_lost(check(function, floats(64, 32, dtype=type_), floats(32, 64, dtype=type_)))


@pytest.mark.parametrize(("rows", "columns"), [
    (16, 100), (100, 16), (31, 31), (32, 33), (33, 32), (50, 70), (64, 17)])
def test_squares_at_the_edges(rows, columns):
    for call in (check(plus_turned, floats(rows, columns), floats(columns, rows)),
                 check(turned, floats(rows, columns))):
        (launch,) = call.launched
        assert forms(call) == ["tiles"] and lost_to_banks(launch) == 0
        assert all(t.reads + t.writes == rows * columns for t in launch.traffic.values())


def test_each_operand_across_has_a_square_and_all_else_is_read_directly():
    def function(x, y, z, column, row):
        across_ = ops.mul(ops.transpose(y, 0, 1), ops.transpose(z, 0, 1))
        return ops.add(ops.add(ops.add(x, across_), column), row)

    launch = nothing_lost(check(function, floats(64, 96), floats(96, 64), floats(96, 64),
                                floats(64, 1), floats(96)))
    assert set(launch.shared) == {"y_tile", "z_tile"}


def test_an_operand_beside_its_own_transpose():
    launch = nothing_lost(check(lambda x: ops.add(x, ops.transpose(x, 0, 1)), floats(64, 64)))
    assert launch.traffic["x"].reads == 2 * 64 * 64


@pytest.mark.parametrize(("shape", "order"), [
    ((3, 64, 32), (0, 2, 1)), ((32, 3, 64), (2, 1, 0)), ((2, 32, 4, 16), (0, 2, 3, 1)),
    ((2, 3, 32, 64), (0, 1, 3, 2)), ((32, 2, 3, 32), (3, 1, 2, 0))])
def test_batches(shape, order):
    call = check(lambda x: ops.clone(ops.permute(x, order), True), floats(*shape))
    launch = nothing_lost(call)
    assert (launch.reads, launch.writes) == (np.prod(shape), np.prod(shape))


def test_backwards_is_beside_too():
    nothing_lost(check(lambda x, y: ops.add(x, ops.flip(ops.transpose(y, 0, 1), (0, 1))),
                       floats(64, 96), floats(96, 64)))


def test_what_does_not_fit_is_read_directly():
    def function(x, *others):
        for y in others:
            x = ops.add(x, ops.transpose(y, 0, 1))
        return x

    call = check(function, *[floats(32, 32)] * 8)
    (launch,) = call.launched
    assert len(launch.shared) == 5 and launch.shared_bytes <= across.ROOM


def test_what_gains_nothing_stays_flat():
    def column(x, y):
        return ops.add(x, y)

    assert forms(check(column, floats(64, 96), floats(64, 1))) == ["flat"]
    assert forms(check(turned, floats(15, 96))) == ["flat"]
    assert forms(check(lambda x, y: ops.add(x, ops.slice(y, 1, 0, 128, 2)), floats(64, 64),
                       floats(64, 128))) == ["flat"]
    # what is stored lies as the operand does
    assert forms(check(lambda x: ops.mul(ops.transpose(x, 0, 1), 2.0), floats(64, 96))) == ["flat"]


def test_the_reason():
    (nest,) = fused(graph_of(plus_turned, floats(64, 64), floats(64, 64))).nests
    assert choose(nest).reason == (
        "squares of y are turned in shared memory: they lie across what is stored")


@pytest.mark.parametrize(("rows", "columns"), [(64, 96), (50, 70), (3, 100)])
def test_sizes_that_are_symbols(rows, columns):
    compiled = torch.compile(lambda x, y: x * 2 + y.t(), dynamic=True)
    for more in (0, 7):
        x, y = torch.randn(rows + more, columns), torch.randn(columns, rows + more)
        with torch.cuda.record() as launches:
            found = compiled(x.cuda(), y.cuda())
        assert found.tolist() == (x * 2 + y.t()).tolist()
        assert launches[-1].block == (64, 8) and lost_to_banks(launches[-1]) == 0


@pytest.mark.parametrize("size", [64, 50])
def test_in_place(size):
    """What is written over has been read before, by the same block."""
    def function(x, y):
        x.add_(y.t())
        y.t().mul_(x)
        return y

    def call(fn, *given):
        return [fn(*given).tolist(), *(g.tolist() for g in given)]

    x, y = torch.randn(size, size), torch.randn(size, size)
    on_card_ = [x.cuda(), y.cuda()]
    assert call(torch.compile(function), *on_card_) == call(function, x, y)


# ---- random -------------------------------------------------------------------------------------


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(st.data())
def test_random_shapes_orders_and_types(data):
    """Operands that lie in any order of three axes."""
    shape = data.draw(st.tuples(st.integers(2, 5), st.integers(2, 40), st.integers(2, 40)))
    orders = data.draw(st.lists(st.permutations(range(3)), min_size=1, max_size=3))
    type_ = data.draw(st.sampled_from([dtypes.float32, dtypes.float64, dtypes.int32]))

    def function(*given):
        total = 1
        for x, order in zip(given, orders):
            total = ops.add(ops.permute(x, order), total)
        return ops.clone(total, True)

    metas = [floats(*(shape[order.index(k)] for k in range(3)), dtype=type_) for order in orders]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(across, "LEAST", data.draw(st.sampled_from([2, 16])))
        check(function, *metas)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_random_graph_equals_eager_mode(seed):
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    plan = schedule(verify_program(lower(on_card(graph), options=ON_CARD)),
                    priority=lambda *_: rng.random(), options=ON_CARD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(across, "LEAST", 2)
        found, _ = on_grid(plan, inputs)
    assert_same(found, want)
