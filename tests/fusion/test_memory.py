"""Where buffers lie: written over dead ones, memory used again, the peak."""

from __future__ import annotations

from labcore import ops
from labcore.fusion import lower, plan_memory, schedule
from labcore.fusion.ir import Buffer

from .graphs import floats, graph_of, softmax


def planned(function, *metas):
    fused = schedule(lower(graph_of(function, *metas)))
    return fused, plan_memory(fused)


def test_an_epilogue_is_written_over_the_product():
    fused, plan = planned(lambda x, y: ops.relu(ops.matmul(x, y)), floats(4, 4), floats(4, 4))
    (life,) = plan.lives.values()
    assert life.buffers == {"matmul": 0, "relu": 1} and (life.first, life.last) == (0, 2)
    assert plan.peak({}) == 64
    assert fused.buffers["relu"].storage == "matmul"
    assert fused.program.buffers["relu"].storage == "relu", "the program is not changed"


def test_an_input_is_never_written_over():
    fused, plan = planned(lambda x: ops.relu(x), floats(4))
    assert list(plan.lives) == ["relu"] and fused.buffers["relu"].storage == "relu"


def test_what_is_returned_too_is_not_written_over():
    def function(x, y):
        product = ops.matmul(x, y)
        return product, ops.relu(product)

    _, plan = planned(function, floats(4, 4), floats(4, 4))
    assert list(plan.lives) == ["matmul", "relu"] and plan.peak({}) == 128


def test_what_is_read_at_another_index_is_not_written_over():
    _, plan = planned(
        lambda x, y: ops.add(ops.matmul(x, y), ops.t(ops.matmul(x, y))), floats(4, 4), floats(4, 4)
    )
    (reads,) = [life for life in plan.lives.values() if "add" in life.buffers]
    assert reads.buffers == {"matmul": 0, "add": 2}, "the product that is read straight"


def test_rows_are_written_over_what_a_pass_read_before():
    _, plan = planned(lambda x, y: softmax(ops.matmul(x, y)), floats(4, 4), floats(4, 4))
    (life,) = plan.lives.values()
    assert life.buffers == {"matmul": 0, "div": 1}


def test_a_dead_buffer_is_used_again_where_waiting_costs_nothing():
    def function(x, y):
        a = ops.matmul(ops.exp(x), y)  # exp is dead after this
        return ops.matmul(ops.tanh(ops.add(a, ops.t(a))), y)  # a is read at two places

    _, plan = planned(function, floats(4, 4), floats(4, 4))
    lives = plan.lives
    assert lives["tanh"].reuses == "exp" and lives["exp"].heir == "tanh"
    assert lives["matmul_1"].reuses == "matmul", "BLAS writes where it is told to"
    assert [int(n) for n in plan.live] == [64, 128, 128, 128]


def test_memory_is_not_held_back_where_that_would_raise_the_peak():
    def function(x, y, z):
        a = ops.exp(x)
        big = ops.matmul(ops.matmul(a, y), z)  # larger than all else, while a is dead
        return ops.tanh(ops.slice(big, 1, 0, 2))

    _, plan = planned(function, floats(4, 2), floats(2, 64), floats(64, 3))
    assert all(not life.reuses for life in plan.lives.values())


def test_a_buffer_with_gaps_is_left_alone():
    from labcore.fusion.memory import reusable

    (step,) = schedule(lower(graph_of(lambda x: ops.relu(x), floats(4)))).steps
    assert reusable(step, Buffer.new("a", (4,), floats(4).dtype))
    assert not reusable(step, Buffer.new("a", (4,), floats(4).dtype, strides=(2,)))
    assert not reusable(step, Buffer.new("a", (4,), floats(4).dtype, "output"))
