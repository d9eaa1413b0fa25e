"""Every rule of fusing and of keeping apart, in the words that students read."""

from __future__ import annotations

import pytest

from labcore import dtypes, ops
from labcore.fusion import FusionOptions, lower, schedule, why_not
from labcore.fusion.ir import Buffer, Expr, Loops, index, ops as body_ops
from labcore.fusion.program import Program

from .graphs import floats, graph_of, layer_norm, layer_norm_backward, softmax


def verdicts(function, *metas, fuse=True):
    return schedule(lower(graph_of(function, *metas), fuse), fuse=True).verdicts


def find(found, rule):
    hits = [v for v in found if v.rule == rule]
    assert hits, [str(v) for v in found]
    return hits[0]


def test_a_chain_is_inlined_and_says_so():
    first, second = verdicts(
        lambda x, y: ops.mul(ops.relu(ops.add(x, y)), 2.0), floats(4), floats(4)
    )
    assert (first.first, first.second, second.first, second.second) == (
        "add",
        "relu",
        "relu",
        "mul",
    )
    assert (
        first.ok
        and first.rule == "producer and consumer"
        and int(first.saved) == int(second.saved) == 32
    )
    assert str(first) == (
        "add | relu: fuse, producer and consumer (saves 32 bytes). relu computes add itself "
        "instead of loading it: the value stays in a register, and add needs no buffer."
    )


def test_the_savings_of_a_chain_add_up_to_the_ledger():
    found = verdicts(lambda x, y: ops.mul(ops.relu(ops.add(x, y)), 2.0), floats(10), floats(10))
    assert sum(int(v.saved) for v in found) == 4 * (70 - 30)


def test_the_scheduler_fuses_loops_that_were_stored():
    found = verdicts(
        lambda x, y: ops.mul(ops.relu(ops.add(x, y)), 2.0), floats(4), floats(4), fuse=False
    )
    hit = find(found, "producer and consumer")
    assert (hit.first, hit.second, int(hit.saved)) == ("add", "relu", 32)
    assert hit.detail == "relu reads add where it was just computed, over (4,)."


def test_shared_reads():
    hit = find(verdicts(lambda x: (ops.add(x, 1), ops.mul(x, 2)), floats(4)), "shared reads")
    assert (
        hit.ok
        and int(hit.saved) == 16
        and hit.detail == "both read x at the same index, over (4,)."
    )


def test_a_row_stays_near():
    hit = find(verdicts(softmax, floats(4, 8)), "producer and consumer, row stays near")
    assert hit.ok and "over (4,) rows of (8,)" in hit.detail


def test_a_column_sum_rides_along():
    found = verdicts(lambda x: (ops.relu(x), ops.sum(ops.relu(x), 0)), floats(4, 8))
    assert find(found, "shared reads, column sum rides along").ok


@pytest.mark.parametrize(
    ("function", "metas"),
    [
        (softmax, (floats(4, 8),)),
        (softmax, (floats(8),)),
        (layer_norm, (floats(4, 8), floats(8), floats(8))),
        (layer_norm_backward, (floats(4, 8), floats(4, 8), floats(8), floats(4, 1), floats(4, 1))),
        (lambda x, y: ops.mean(ops.square(ops.sub(x, y))), (floats(4, 8), floats(4, 8))),
        (lambda x: (ops.sum(x, 0), ops.amax(x, 0)), (floats(4, 8),)),
        (lambda x: ops.sum(ops.relu(x), (0, 2)), (floats(2, 3, 4),)),
    ],
)
def test_one_nest(function, metas):
    assert len(schedule(lower(graph_of(function, *metas))).nests) == 1


def test_different_iteration_space():
    graph = graph_of(lambda x, y: (ops.neg(x), ops.neg(y)), floats(4), floats(6))
    hit = why_not(schedule(lower(graph)), "neg", "neg_1")
    assert not hit.ok and hit.rule == "different iteration space"
    assert hit.detail == "neg runs over (4,), neg_1 over (6,)."
    assert hit.flip == "the shapes, or the axes reduced, agreed"


def test_full_reduction_beside_a_partial_one():
    hit = find(
        verdicts(lambda x: (ops.sum(x), ops.sum(x, 1)), floats(4, 6)),
        "full reduction beside a partial one",
    )
    assert hit.detail == "sum reduces everything in one row, sum_1 needs rows of (6,)."


def test_reduced_axes_in_the_middle():
    found = verdicts(lambda x: (ops.sum(x, (0, 2)), ops.relu(x)), floats(2, 3, 4))
    hit = find(found, "reduced axes in the middle")
    assert "sum reduces axes that lie between or around kept ones" in hit.detail
    assert hit.flip == "the kept axes were first or last"


def test_reduction_not_finished():
    hit = find(
        verdicts(lambda x: ops.sub(x, ops.sum(x, 0)), floats(4, 6)), "reduction not finished"
    )
    assert hit.detail == "sub needs sum, which is complete only after the last row."


def test_index_mismatch():
    def function(x):
        e = ops.exp(x)
        return e, ops.add(e, ops.transpose(e, 0, 1))

    hit = find(verdicts(function, floats(6, 6)), "index mismatch")
    assert hit.detail.startswith("exp is written at [6*i0 + i1] and read by add at [i0 + 6*i1]")


def test_row_statement_needs_a_whole_row():
    def function(x):
        e = ops.exp(x)
        return e, ops.sum(e, 1), ops.relu(ops.select(e, 1, 0))

    hit = find(verdicts(function, floats(4, 6)), "row statement needs a whole row")
    assert hit.detail == "relu runs once a row and reads exp at one column."


def test_a_node_lies_between():
    def function(x, y):
        a = ops.exp(x)
        b = ops.matmul(a, y)
        return a, ops.add(ops.mul(a, 2.0), b)

    hit = find(verdicts(function, floats(4, 4), floats(4, 4)), "a node lies between")
    assert (hit.first, hit.second) == (
        "exp",
        "add",
    ) and hit.detail == "matmul needs exp and feeds add."


def test_extern_operator():
    hit = find(
        verdicts(lambda x, y: ops.relu(ops.matmul(x, y)), floats(4, 4), floats(4, 4)),
        "extern operator",
    )
    assert hit.detail == (
        "matmul calls the eager operator matmul: a matrix product is left to BLAS, which no "
        "printed loop reaches."
    )


def test_pairs_that_share_nothing_are_judged_on_demand():
    plan = schedule(lower(graph_of(lambda x, y: (ops.neg(x), ops.neg(y)), floats(4), floats(4))))
    assert plan.verdicts == []
    hit = why_not(plan, "neg", "neg_1")
    assert not hit.ok and hit.rule == "nothing shared"
    assert hit.detail == "neg and neg_1 touch no common data."


def test_one_buffer_at_two_places_is_nothing_shared():
    halves = lambda x: (ops.neg(ops.slice(x, 0, 0, 4)), ops.neg(ops.slice(x, 0, 4, 8)))
    hit = find(verdicts(halves, floats(8)), "nothing shared")
    assert hit.detail == "neg and neg_1 use x, but at different places: [i0] and [i0 + 4]."
    assert hit.flip == "both used it at the same index"


def many_of_one(count):
    """Results of one input."""
    return graph_of(lambda x: tuple(ops.add(x, float(k)) for k in range(count)), floats(4))


def test_too_many_nodes():
    found = schedule(lower(many_of_one(12)), options=FusionOptions(max_nodes=8))
    hit = find(found.verdicts, "too many nodes")
    assert hit.detail == "together they are 12, the limit is 8."
    assert hit.flip == "the limit max_nodes were larger"
    assert len(found.nests) == 2


def test_too_many_arrays():
    """A core follows so many streams of memory; see `FusionOptions` for what it costs."""
    found = schedule(lower(many_of_one(40)))
    hit = find(found.verdicts, "too many arrays")
    assert "more than the 40 that one loop should follow at a time" in hit.detail
    assert all(len(nest.arguments) <= 40 for nest in found.nests) and len(found.nests) == 2
    assert len(schedule(lower(many_of_one(40)), options=FusionOptions(max_arrays=41)).nests) == 1


def test_what_stays_in_hand_is_no_array():
    def function(x):
        for k in range(40):
            x = ops.add(x, float(k))
        return x

    program = lower(graph_of(function, floats(4)), fuse=False)
    assert len(schedule(program).nests) == 1


def in_place(read_at: Expr) -> Program:
    """x[1:] = x[read_at], as two loops over one storage: the source first, then the write."""
    x = Buffer.new("x", (9,), dtypes.float32, "input")
    source = Buffer.new("source", (8,), dtypes.float32)
    written = Buffer.new("written", (9,), dtypes.float32, "output", storage="x")
    copy = Loops(
        source,
        (Expr.of(8),),
        (0,),
        "pointwise",
        lambda idx: body_ops.load("x", read_at.subs({"i0": idx[0]})),
        lambda idx: idx[0],
        title="source",
    )
    write = Loops(
        written,
        (Expr.of(8),),
        (0,),
        "pointwise",
        lambda idx: body_ops.load("source", idx[0]),
        lambda idx: idx[0] + 1,
        title="written",
        order=1,
    )
    return Program([copy, write], {b.name: b for b in (x, source, written)}, [x], {}, [written])


def test_in_place_hazard():
    hit = find(schedule(in_place(index(0))).verdicts, "in-place hazard")
    assert hit.detail == "written overwrites x[i0 + 1] while source uses it at [i0]."
    assert len(schedule(in_place(index(0))).nests) == 2


def test_in_place_at_one_index_may_fuse():
    assert len(schedule(in_place(index(0) + 1)).nests) == 1


def asked(function, *metas):
    """The schedule's answer on any two nodes of a function."""
    plan = schedule(lower(graph_of(function, *metas)))
    return lambda first, second: why_not(plan, first, second)


def test_on_demand_a_node_without_loops_is_answered_for():
    ask = asked(lambda x, y: ops.mul(ops.relu(ops.add(x, y)), 2.0), floats(4), floats(4))
    assert ask("add", "relu").rule == "producer and consumer"
    assert ask("add", "mul").rule == "one loop" and ask("mul", "add").ok
    with pytest.raises(KeyError, match="sub: the steps are mul"):
        ask("add", "sub")


def test_on_demand_nodes_of_one_nest_are_fused():
    ask = asked(softmax, floats(4, 8))
    assert ask("amax", "exp").ok and ask("amax", "sum").rule == "same nest by way of others"
    assert ask("amax", "sum").detail == (
        "alone they would stay apart (nothing shared); each fits exp, sum_inverse, div."
    )


def test_on_demand_the_company_may_be_what_keeps_apart():
    def function(x, y):
        a = ops.exp(x)
        return a, ops.add(ops.mul(a, 2.0), ops.matmul(a, y))

    ask = asked(function, floats(4, 4), floats(4, 4))
    assert ask("exp", "add").rule == "a node lies between"
    assert ask("exp", "matmul").rule == "extern operator"


def test_every_verdict_names_nodes_of_the_graph():
    graph = graph_of(layer_norm, floats(4, 8), floats(8), floats(8))
    names = {n.name for n in graph.nodes}
    for v in schedule(lower(graph)).verdicts:
        for name in f"{v.first}+{v.second}".split("+"):
            assert name.removesuffix("_about_pivot") in names
