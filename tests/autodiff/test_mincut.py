"""The min-cut partitioner: what it saves, what it never computes again, and the memory budget."""
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

import labcore as torch
from labcore import ops
from labcore.autodiff.joint import Joint, trace_joint
from labcore.autodiff.mincut import min_cut_partition, network_of
from labcore.autodiff.partition import Cut, default_partition
from labcore.autodiff.passes import clean, decompose
from labcore.autodiff.rules import price, rules

from .graphs import floats, graph_of, lines
from .programs import Program, inputs_of, programs


def joint_of(function, *metas, wanted=None, **more) -> Joint:
    graph = decompose(graph_of(function, *metas, **more))
    return trace_joint(graph, wanted or [True] * len(metas)).after(clean)


def saved(cut: Cut) -> list[str]:
    return [value.name for value in cut.saved]


def rule_of(cut: Cut, name: str) -> str:
    return next(d.rule for d in cut.decisions if d.value == name)


def test_tanh_of_sin_computes_the_product_again():
    joint = joint_of(
        lambda x, w: ops.tanh(ops.add(ops.sin(ops.mul(x, w)), 1)), floats(3), floats(3)
    )
    assert saved(default_partition(joint)) == ["primals_1", "primals_2", "mul", "tanh"]
    cut = min_cut_partition(joint)
    assert saved(cut) == ["primals_1", "primals_2", "tanh"] and cut.saved_bytes == 36
    assert cut.recomputed == ["mul"]
    assert rule_of(cut, "tanh") == "output" and rule_of(cut, "mul") == "cheap"
    assert lines(cut.backward)[0].startswith("mul = torch.mul(primals_1, primals_2)")


def test_the_running_example_saves_the_mask():
    joint = joint_of(lambda x, b: ops.mul(ops.relu(ops.add(x, b)), 2), floats(4), floats(4))
    cut = min_cut_partition(joint)
    assert [(s.name, s.nbytes) for s in cut.saved] == [("le", 4)]
    assert lines(cut.forward)[-1] == "return (mul, le)"
    assert cut.recomputed == []


def test_nothing_is_saved_when_nothing_is_read():
    cut = min_cut_partition(joint_of(lambda x: ops.add(x, 1), floats(3)))
    assert cut.saved == cut.decisions == ()


def test_of_equally_small_cuts_that_which_keeps_what_is_alive_anyway():
    cut = min_cut_partition(joint_of(lambda x, y: ops.mul(ops.sin(x), y), floats(3), floats(3)))
    assert saved(cut) == ["primals_1", "primals_2"] and cut.recomputed == ["sin"]


def test_of_equally_small_cuts_that_which_saves_no_input_that_eager_mode_does_not():
    """Whoever writes to x before the backward would get an error."""
    joint = joint_of(lambda x: ops.mul(ops.sin(ops.exp(ops.mul(x, 2))), 3), floats(3))
    assert saved(min_cut_partition(joint)) == ["exp"]


def test_of_equally_small_cuts_that_which_computes_least_again():
    function = lambda x: ops.mul(ops.sin(ops.exp(ops.mul(ops.cat([x, x]), 2))), 3)
    cut = min_cut_partition(joint_of(function, floats(3)))
    assert saved(cut) == ["exp"] and cut.recomputed == []


def test_a_view_is_never_saved():
    joint = joint_of(
        lambda x, w: ops.matmul(ops.exp(x), ops.transpose(w, 0, 1)), floats(2, 3), floats(4, 3)
    )
    assert saved(min_cut_partition(joint)) == ["primals_2", "exp"]


# ---- what is not computed again -----------------------------------------------------------------


def test_a_matmul_is_not_computed_again():
    """sin' reads the product, 64 bytes; the factors, 32, are saved in any case."""
    joint = joint_of(
        lambda x, w: ops.sum(ops.sin(ops.matmul(x, w))), floats(4, 1), floats(1, 4)
    )
    cut = min_cut_partition(joint)
    assert "matmul" in saved(cut) and rule_of(cut, "matmul") == "matmul"
    tight = min_cut_partition(joint, budget=0)
    assert saved(tight) == ["primals_1", "primals_2"] and tight.recomputed == ["matmul"]
    assert rule_of(tight, "matmul") == "memory budget"


def test_a_reduction_is_not_computed_again():
    function = lambda x, y: ops.mul(ops.exp(ops.sum(ops.mul(x, y), 1)), 3)
    cut = min_cut_partition(joint_of(function, floats(2, 8), floats(2, 8)))
    assert "exp" in saved(cut) and "sum" not in cut.recomputed
    function = lambda x, y: ops.mul(ops.sin(ops.sum(ops.mul(x, y), 1)), 3)
    cut = min_cut_partition(joint_of(function, floats(2, 8), floats(2, 8)))
    assert rule_of(cut, "sum") == "reduction"


def test_random_numbers_are_not_drawn_again_whatever_the_budget():
    function = lambda x: ops.mul(ops.sin(x), ops.rand_like(x))
    for budget in (0, 0.5, 1):
        cut = min_cut_partition(joint_of(function, floats(3)), budget)
        assert "rand_like" in saved(cut) and rule_of(cut, "rand_like") == "random"


def test_a_kernel_of_its_own_is_not_called_again():
    function = lambda x, y: ops.sum(ops.sin(ops.cat([x, y])))
    joint = joint_of(function, floats(3), floats(3))
    cut = min_cut_partition(joint)
    assert saved(cut) == ["cat"] and rule_of(cut, "cat") == "fallback"


def test_what_a_matmul_of_the_backward_reads_is_written_anyway():
    """exp(x)^T is multiplied with the gradient: computing it again would write it as well."""
    joint = joint_of(
        lambda x, w: ops.matmul(ops.add(ops.sin(x), 1), w), floats(2, 3), floats(3, 4),
        wanted=[False, True],
    )
    cut = min_cut_partition(joint)
    assert saved(cut) == ["add"] and rule_of(cut, "add") == "materialized"


def test_a_long_chain_is_not_computed_again():
    def function(x):
        for _ in range(150):
            x = ops.add(x, 1)
        return ops.mul(ops.sin(x), 2)

    both = lambda x: ops.add(function(x), ops.mul(ops.sin(x), 3))  # x is saved in any case
    joint = joint_of(both, floats(3))
    named = {node.name: rule.name for node, rule in rules(joint, joint.parts()).items()}
    assert named["add_100"] == "long chain" and "add_99" not in named
    assert min_cut_partition(joint).recomputed == []
    assert len(min_cut_partition(joint, budget=0).recomputed) == 150


def test_a_residual_far_from_its_source_is_not_computed_again():
    def function(x, w):
        h = ops.mul(x, 2)
        return ops.sum(ops.sin(ops.add(h, ops.matmul(ops.tanh(h), w))))

    joint = joint_of(function, floats(4, 4), floats(4, 4))
    named = {node.name: rule.name for node, rule in rules(joint, joint.parts()).items()}
    assert named["add"] == "far apart"
    assert "tanh" not in named or named["tanh"] == "materialized"


def test_prices_are_scalar_operations():
    joint = joint_of(lambda x, w: ops.sum(ops.matmul(x, w)), floats(2, 3), floats(3, 4))
    prices = {node.name: price(node) for node in joint.graph.calls}
    assert prices["matmul"] == 2 * 2 * 3 * 4 and prices["sum"] == 8 and prices["expand"] == 0


# ---- the budget ---------------------------------------------------------------------------------


def deep(x, *weights):
    for w in weights:
        x = ops.tanh(ops.matmul(x, w))
    return ops.sum(ops.sin(x))


def test_less_memory_costs_more_operations():
    joint = joint_of(deep, floats(32, 4), floats(4, 4), floats(4, 4), floats(4, 4))
    cuts = [min_cut_partition(joint, budget / 8) for budget in range(9)]
    bytes_, again = [c.saved_bytes for c in cuts], [len(c.recomputed) for c in cuts]
    assert bytes_ == sorted(bytes_) and again == sorted(again, reverse=True)
    assert len(set(bytes_)) == 3, "there are corners between the ends"
    low, high = bytes_[0], bytes_[-1]
    for budget, nbytes in enumerate(bytes_):
        assert nbytes <= low + budget / 8 * (high - low)


def test_the_frontier_has_what_every_budget_chooses():
    joint = joint_of(deep, floats(32, 4), floats(4, 4), floats(4, 8), floats(8, 4))
    network = network_of(joint)
    frontier = network.frontier()
    sizes = [choice.nbytes for choice in frontier]
    assert sizes == sorted(sizes, reverse=True) and len(frontier) >= 3
    assert [c.cost for c in frontier] == sorted(c.cost for c in frontier)
    chosen = {network.within(budget / 200) for budget in range(201)}
    assert chosen <= set(frontier) and {frontier[0], frontier[-1]} <= chosen


# ---- forcing ------------------------------------------------------------------------------------


def test_a_value_is_saved_or_computed_again_when_it_is_asked_for():
    joint = joint_of(
        lambda x, w: ops.tanh(ops.add(ops.sin(ops.mul(x, w)), 1)), floats(3), floats(3)
    )
    cut = min_cut_partition(joint, save=["mul"])
    assert "mul" in saved(cut) and rule_of(cut, "mul") == "forced"
    cut = min_cut_partition(joint, recompute=["tanh"])
    assert saved(cut) == ["primals_1", "primals_2"]
    assert cut.recomputed == ["mul", "sin", "add", "tanh"]
    assert rule_of(cut, "tanh") == "forced"


def test_what_cannot_be_forced():
    joint = joint_of(lambda x: ops.mul(ops.sin(x), ops.rand_like(x)), floats(3))
    with pytest.raises(ValueError, match="'nothing' is no value of the forward; there are prim"):
        min_cut_partition(joint, save=["nothing"])
    with pytest.raises(ValueError, match="'rand_like' cannot be computed again: a second draw"):
        min_cut_partition(joint, recompute=["rand_like"])
    with pytest.raises(ValueError, match="'primals_1' cannot be computed again: there is nothing"):
        min_cut_partition(joint, recompute=["primals_1"])
    with pytest.raises(ValueError, match="'sin' cannot be computed again: it is to be saved"):
        min_cut_partition(joint, save=["sin"], recompute=["sin"])


# ---- on any graph -------------------------------------------------------------------------------


@given(programs)
def test_a_min_cut_saves_no_more_than_the_default(program: Program) -> None:
    inputs = inputs_of(program)
    graph = decompose(graph_of(program, *[t.meta for t in inputs]))
    joint = trace_joint(graph, [t.requires_grad for t in inputs]).after(clean)
    default, cuts = default_partition(joint), [min_cut_partition(joint, b / 4) for b in range(5)]
    sizes = [cut.saved_bytes for cut in cuts]
    assert sizes[-1] <= default.saved_bytes
    assert sizes == sorted(sizes)
    assert default.recomputed == []
    kinds = {node.name: node.target.kind for node in joint.graph.calls}
    for name in cuts[-1].recomputed:
        assert kinds[name] in ("pointwise", "factory")
    for cut in cuts:
        told = {d.value for d in cut.decisions}
        assert told >= {s.name for s in cut.saved} | set(cut.recomputed)


F = torch.nn.functional
PARTS = [
    lambda x, w: x.sin(), lambda x, w: x * w[0], lambda x, w: x @ w, lambda x, w: x.softmax(-1),
    lambda x, w: x - x.mean(0), lambda x, w: x / (1 + (x * x).sum(1, keepdim=True)),
    lambda x, w: F.layer_norm(x, (4,), w[1]), lambda x, w: F.gelu(x), lambda x, w: x.relu() * 2,
    lambda x, w: x.unsqueeze(0).expand(2, -1, -1).sum(0), lambda x, w: x.T.exp().T.clamp(max=9),
    lambda x, w: torch.cat([x, x * 2]).view(2, -1, 4).mean(0), lambda x, w: x.cumsum(0),
    lambda x, w: x + x.amax(1, keepdim=True), lambda x, w: F.dropout(x, 0.5),
]


@given(st.lists(st.sampled_from(PARTS), min_size=2, max_size=8))
def test_nor_where_sizes_are_symbols(parts: list) -> None:
    def program(x, w):
        for part in parts:
            x = part(x, w)
        return x.tanh()

    def cut_in_two(joint: Joint) -> Cut:
        symbolic.append(bool(joint.graph.numbers))
        default, cut = default_partition(joint), min_cut_partition(joint)
        assert cut.saved_bytes <= default.saved_bytes
        return cut

    symbolic: list[bool] = []
    options = {"partitioner": cut_in_two}
    compiled = torch.compile(program, backend="aot_eager", dynamic=True, options=options)
    x, w = torch.randn(6, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    compiled(x, w).sum().backward()
    assert symbolic == [True]
