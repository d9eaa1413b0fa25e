"""Graphs to loops: layouts, views, outputs, what gets a buffer and why, what stays a call."""

from __future__ import annotations

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.fusion import FusionOptions, LoweringError, count_by_running, lower, realize, schedule
from labcore.fusion.ir import Buffer
from labcore.fusion.verify import verify_program
from labcore.graph import Graph, TensorMeta
from labcore.ops.dispatch import interpreting
from labcore.ops.tracer import Tracer

from .graphs import arrays_for, assert_same, eager, floats, graph_of, softmax


def check(function, *metas, nests=None):
    """Right against eager mode, fused and separate; returns the fused schedule."""
    graph = graph_of(function, *metas)
    rng = np.random.default_rng(0)
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    for fuse in (False, True):
        plan = schedule(verify_program(lower(graph, fuse)), fuse)
        assert_same(count_by_running(plan, inputs)[1].outputs, want)
    if nests is not None:
        assert len(plan.nests) == nests
    return plan


TRANSPOSED = TensorMeta((3, 5), (1, 3), dtypes.float32)


# ---- layouts and views ---------------------------------------------------------------------------


def test_a_transposed_input_gives_a_transposed_output_in_one_flat_loop():
    plan = check(lambda x: ops.add(x, 1.0), TRANSPOSED, nests=1)
    assert [int(s) for s in plan.program.outputs[0].strides] == [1, 3]
    assert [(v, int(s)) for v, s, _ in plan.nests[0].loops] == [("i1", 15)]


def test_mixed_layouts_stay_two_loops():
    plan = check(lambda x, y: ops.add(x, y), floats(3, 5), TRANSPOSED, nests=1)
    assert len(plan.nests[0].loops) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.relu(ops.transpose(x, 0, 1)),
        lambda x: ops.relu(ops.permute(x, (2, 0, 1))),
        lambda x: ops.mul(ops.slice(ops.relu(x), 1, 1, None, 2), 2.0),
        lambda x: ops.mul(ops.select(ops.relu(x), 2, 3), 2.0),
        lambda x: ops.add(ops.unsqueeze(x, 1), ops.unsqueeze(x, 0)),
        lambda x: ops.neg(ops.squeeze(ops.unsqueeze(ops.relu(x), 1))),
        lambda x: ops.neg(ops.expand(ops.relu(ops.select(x, 0, 0)), (2, 3, 4))),
        lambda x: ops.neg(ops.reshape(ops.relu(x), (6, 4))),
        lambda x: ops.neg(ops.flatten(ops.relu(x))),
        lambda x: ops.neg(ops.view(ops.relu(x), (2, 3, 2, 2))),
        lambda x: ops.neg(ops.clone(ops.transpose(x, 0, 2), True)),
    ],
)
def test_views_are_no_steps(function):
    plan = check(function, floats(2, 3, 4), nests=1)
    assert len(plan.program.loops) == 1


def test_views_of_a_square():
    check(lambda x: ops.relu(ops.t(x)), floats(4, 4), nests=1)
    check(lambda x: ops.add(ops.relu(x), ops.t(ops.relu(x))), floats(4, 4), nests=1)


def test_a_reshape_that_needs_division_stores_first():
    plan = check(lambda x, b: ops.neg(ops.reshape(ops.add(x, b), (-1,))), floats(3, 4), floats(4))
    first, second = plan.program.loops
    assert (first.title, first.why) == ("add", "a reshape that merges its axes needs it in memory")
    assert second.title == "neg"


def test_a_scalar_broadcasts_through_a_reshape():
    check(lambda x, s: ops.neg(ops.reshape(ops.add(x, s), (-1,))), floats(3, 4), floats(), nests=1)


@pytest.mark.parametrize(
    "shape", [(), (1,), (1, 1), (0,), (3, 0), (0, 3), (1, 4), (4, 1), (2, 1, 3)]
)
def test_odd_shapes(shape):
    check(lambda x: ops.mul(ops.relu(ops.add(x, x)), 2.0), floats(*shape), nests=1)
    check(lambda x: (ops.sum(x), ops.mean(x, -1), ops.sum(x, 0, True)), floats(*shape))


def test_softmax_over_any_axis():
    for dim in (0, 1, 2, -1):
        check(lambda x, dim=dim: softmax(x, dim), floats(2, 3, 4))


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_over_any_axes(dims, keepdim):
    check(lambda x: ops.sum(ops.relu(x), dims, keepdim), floats(2, 3, 4), nests=1)
    check(lambda x: ops.amin(ops.transpose(x, 0, 2), dims, keepdim), floats(2, 3, 4), nests=1)


# ---- types ---------------------------------------------------------------------------------------


def test_mixed_types():
    whole = TensorMeta.contiguous((4,), dtypes.int64)
    truth = TensorMeta.contiguous((4,), dtypes.bool)
    check(lambda x, i: ops.add(x, i), floats(4), whole, nests=1)
    check(lambda x, i: ops.div(i, 2), floats(4), whole)
    check(lambda i, t: (ops.add(i, t), ops.mul(t, t), ops.add(t, t)), whole, truth)
    check(lambda x, d: ops.add(x, d), floats(4), floats(dtype=dtypes.float64))
    check(lambda x, d: ops.add(x, d), floats(4), floats(4, dtype=dtypes.float64))
    check(lambda x, t: ops.where(t, x, 0.0), floats(4), truth)
    check(lambda t: (ops.sum(t), ops.sum(t, 0, dtype=dtypes.float32)), truth)
    check(lambda x: ops.sum(ops.to(ops.gt(x, 0), dtypes.int32)), floats(4))


def test_every_cast_is_in_the_loop():
    text = str(
        lower(graph_of(lambda x, i: ops.add(x, i), floats(4), floats(4, dtype=dtypes.int64)))
    )
    assert "float32(tmp1)" in text


# ---- what gets a buffer --------------------------------------------------------------------------


def reasons(function, *metas) -> dict[str, str]:
    return {loops.title: loops.why for loops in lower(graph_of(function, *metas)).loops}


def test_cheap_values_are_computed_again():
    found = reasons(lambda x: (ops.neg(ops.relu(x)), ops.sum(ops.relu(x), 0)), floats(4, 4))
    assert found == {"neg": "it is an output", "sum": "it is an output"}


def test_a_dear_value_used_twice_is_stored():
    def function(x):
        e = ops.exp(x)
        return ops.add(e, 1.0), ops.mul(e, 2.0)

    assert reasons(function, floats(4))["exp"] == "exp is dear and it is used 2 times"
    assert len(schedule(lower(graph_of(function, floats(4)))).nests) == 1


def test_a_value_that_reads_much_and_is_used_twice_is_stored():
    def function(x):
        total = ops.select(x, 0, 0)
        for k in range(1, 6):
            total = ops.add(total, ops.select(x, 0, k))
        return ops.neg(total), ops.relu(total)

    assert reasons(function, floats(6, 3))["add_4"] == "it reads 6 values and is used 2 times"


def test_a_long_body_is_cut():
    def function(x):
        for _ in range(100):
            x = ops.add(x, 1.0)
        return x

    found = reasons(function, floats(4))
    assert len(found) == 3 and "its body has 41 operations, the limit is 40" in found.values()


def test_a_chain_of_squares_stays_linear():
    def function(x):
        for _ in range(200):
            x = ops.mul(x, x)
        return x

    assert (
        len(lower(graph_of(function, floats(4))).loops) == 5
    )  # 2 ** 200 turns, if values were not kept


def test_reductions_are_stored():
    found = reasons(lambda x: ops.sub(x, ops.mean(x, 1, True)), floats(3, 4))
    assert found["mean_sum"] == "a reduction is complete only after its last element"


def test_separate_stores_every_operator():
    program = lower(graph_of(softmax, floats(3, 4)), fuse=False)
    assert [loops.title for loops in program.loops] == ["amax", "sub", "exp", "sum", "div"]


def test_dead_steps_are_dropped():
    def function(x):
        ops.exp(ops.amax(x, 0))
        return ops.relu(x)

    assert [loops.title for loops in lower(graph_of(function, floats(4))).loops] == ["relu"]


# ---- extern steps --------------------------------------------------------------------------------


def test_matmul_reads_a_view_without_a_copy():
    plan = check(
        lambda x, w: ops.relu(ops.matmul(x, ops.t(w))), floats(2, 3), floats(4, 3), nests=1
    )
    (call,) = plan.externs
    operand = call.operands[1]
    assert (operand.buffer.name, operand.shape, operand.strides, operand.whole) == (
        "y",
        (3, 4),
        (1, 3),
        False,
    )
    assert call.reason == "a matrix product is left to BLAS, which no printed loop reaches"
    assert str(call).startswith(
        "matmul = matmul(x, y.as_strided((3, 4), (1, 3), 0))  # extern: a matrix"
    )


def test_an_extern_step_gets_its_operands_stored():
    plan = check(
        lambda x, w: ops.matmul(ops.relu(x), ops.t(ops.mul(w, 2.0))), floats(2, 3), floats(4, 3)
    )
    assert {loops.title: loops.why for loops in plan.program.loops} == {
        "relu": "an operator without loops reads it",
        "mul": "an operator without loops reads it",
    }


def test_operators_without_loops_say_why():
    def function(x, y):
        return (
            ops.argsort(x),
            ops.index_select(x, 0, ops.arange(0)),
            ops.rand((4,)),
            ops.floor_divide(ops.to(x, dtypes.int64), ops.to(y, dtypes.int64)),
        )

    program = lower(graph_of(function, floats(4), floats(4)))
    assert [(e.op.name, e.reason) for e in program.externs] == [
        ("argsort", "an order is no single loop"),
        ("index_select", "a loop of no turns would not look at the indices"),
        ("rand", "random numbers come from the eager generator, in the order of the program"),
        (
            "floor_divide",
            "an integer division by zero must raise, and only the eager operator does",
        ),
    ]


def test_random_numbers_are_drawn_even_if_nobody_reads_them():
    def function(x):
        ops.rand((3,))
        return ops.relu(x)

    (call,) = lower(graph_of(function, floats(4))).externs
    assert (
        call.reason == "random numbers come from the eager generator, in the order of the program"
    )


# ---- inputs and outputs --------------------------------------------------------------------------


def test_outputs_follow_the_graph():
    graph = Graph()
    x = graph.placeholder("x", floats(4))
    with interpreting(Tracer(graph)):
        y = ops.relu(x)
    graph.output((y, 3, x, y, None))
    found = lower(graph).outputs
    assert [b.name if isinstance(b, Buffer) else b for b in found] == ["relu", 3, "x", "relu", None]
    assert found[0].role == "output" and found[2].role == "input"


def test_an_output_that_another_reads_is_one_buffer():
    plan = check(lambda x: (ops.exp(x), ops.add(ops.exp(x), 1.0)), floats(4), nests=1)
    assert [b.role for b in plan.program.outputs] == ["output", "output"]


def test_a_view_of_a_computed_value_is_returned_as_a_tensor_of_its_own():
    def function(x):
        y = ops.relu(x)
        return y, ops.transpose(y, 0, 1), ops.slice(y, 1, 1, 3)

    plan = check(function, floats(3, 4))
    assert len({b.storage for b in plan.program.outputs}) == 3


def test_a_view_of_an_input_is_no_output_of_a_compiled_graph():
    with pytest.raises(
        LoweringError, match="output transpose is a view of x: such outputs are made outside"
    ):
        lower(graph_of(lambda x: ops.transpose(x, 0, 1), floats(3, 4)))


def test_a_cast_that_casts_nothing_is_the_input_itself():
    assert lower(graph_of(lambda x: ops.to(x, dtypes.float32), floats(4))).outputs[0].name == "x"


def test_writing_into_an_input_is_refused():
    graph = Graph()
    x = graph.placeholder("x", floats(4))
    with interpreting(Tracer(graph)):
        graph.output((ops.relu_(x),))
    with pytest.raises(
        LoweringError, match="relu_ writes into its input: functionalization comes before"
    ):
        lower(graph)


def test_constants_of_the_graph_are_inputs_by_attribute():
    graph = Graph()
    x, weight = graph.placeholder("x", floats(4)), graph.get_attr("weight", floats(4))
    with interpreting(Tracer(graph)):
        graph.output((ops.mul(x, weight),))
    plan = schedule(verify_program(lower(graph)))
    assert plan.program.constants == {"weight": "weight"}
    ran = count_by_running(
        plan, [np.arange(4, dtype=np.float32)], {"weight": np.full(4, 2, np.float32)}
    )[1]
    np.testing.assert_array_equal(ran.outputs[0], [0, 2, 4, 6])


def test_an_input_without_meta_is_an_internal_error():
    graph = Graph()
    graph.output((graph.placeholder("x"),))
    with pytest.raises(LoweringError, match="placeholder x has no meta"):
        lower(graph)


def test_a_value_and_its_transpose_for_one_call_are_stored_once():
    def gram(x):
        clipped = ops.relu(x)
        return ops.matmul(clipped, ops.t(clipped))

    program = lower(graph_of(gram, floats(3, 4)))
    assert [type(step).__name__ for step in program.steps] == ["Loops", "Extern"]
    assert program.steps[0].why == realize.EXTERN
    left, right = program.steps[1].operands
    assert left.buffer is right.buffer and right.strides == (1, 4)


# ---- computed again, or stored -------------------------------------------------------------------


def gate(u, v):
    """Each element of tanh(v) is used in every row."""
    return ops.mul(ops.unsqueeze(u, 1), ops.unsqueeze(ops.tanh(v), 0))


def test_what_is_dear_and_used_in_every_row_is_stored():
    plan = check(gate, floats(4), floats(4), nests=2)
    tanh, _ = plan.program.loops
    assert tanh.why == "tanh is dear, and mul would compute each of its elements 4 times"


def test_what_is_cheap_is_computed_again():
    cheap = lambda u, v: ops.mul(ops.unsqueeze(u, 1), ops.unsqueeze(ops.add(v, 1.0), 0))
    check(cheap, floats(4), floats(4), nests=1)


def test_what_is_the_same_along_a_row_waits_before_it():
    rows = lambda u, v: ops.mul(ops.unsqueeze(ops.tanh(u), 1), ops.unsqueeze(v, 0))
    check(rows, floats(4), floats(4), nests=1)


def test_a_reduction_repeats_what_it_reads_expanded():
    added = lambda v: ops.sum(ops.expand(ops.unsqueeze(ops.tanh(v), 0), (3, 4)), 0)
    plan = check(added, floats(4))
    assert plan.program.loops[0].why.endswith("sum would compute each of its elements 3 times")


def test_that_may_be_switched_off():
    graph = graph_of(gate, floats(4), floats(4))
    plan = schedule(lower(graph, options=FusionOptions(materialize=False)))
    assert len(plan.nests) == 1
