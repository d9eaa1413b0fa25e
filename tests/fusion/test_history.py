"""How schedules came about: the last moment is the schedule, and every count is a ledger's."""
from __future__ import annotations

import pytest

from labcore import ops
from labcore.fusion import ledger, lower, schedule, separate
from labcore.fusion.history import history

from .graphs import chain, floats, graph_of

GRAPHS = {
    "chain": (chain, (floats(4), floats(4))),
    "softmax": (lambda x: ops.softmax(x, -1), (floats(2, 4),)),
    "norm": (lambda x: ops.layer_norm(x, (4,)), (floats(2, 4),)),
    "sums": (lambda x: (ops.sum(x, 0), ops.sum(x, 1), ops.sum(x)), (floats(2, 4),)),
    "matmul": (lambda x, y: ops.relu(ops.add(ops.matmul(x, y), 1)), (floats(2, 4), floats(4, 3))),
    "shifted": (lambda x: ops.add(ops.exp(x), ops.slice(ops.exp(x), 0, 0, 1)), (floats(4),)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_last_moment_is_the_schedule(name):
    function, metas = GRAPHS[name]
    program = lower(graph_of(function, *metas))
    plan, moments = schedule(program), history(program)
    assert len(moments[0].groups) == len(program.steps) and moments[0].trial is None
    loops = [group for group in moments[-1].groups if group.extern is None]
    names = [{node.title for node in group.nodes} for group in loops]
    assert all({node.title for node in nest.nodes} in names for nest in plan.nests)
    assert len(names) == len(plan.nests)
    assert str(moments[-1].ledger) == str(ledger(plan))
    tried = [moment.trial.verdict for moment in moments[1:]]
    assert tried == plan.verdicts[len(program.decisions) :]


def test_what_is_not_fused_changes_nothing():
    program = lower(graph_of(lambda x: (ops.sum(x), ops.sum(x, 0)), floats(2, 4)))
    first, second = history(program)
    assert not second.trial.verdict.ok and second.trial.fused is None
    assert second.groups == first.groups and str(second.ledger) == str(first.ledger)


def test_a_refusal_names_its_rule():
    plan = schedule(lower(graph_of(lambda x: (ops.sum(x), ops.sum(x, 0)), floats(2, 4))))
    (verdict,) = plan.verdicts
    assert (verdict.ok, verdict.refused_by) == (False, "different_spaces")
    fused = schedule(lower(graph_of(lambda x: (ops.add(x, 1), ops.mul(x, 2)), floats(4))))
    assert [v.refused_by for v in fused.verdicts if v.ok] == [""]


def test_only_the_named_operators_are_inlined():
    graph = graph_of(chain, floats(4), floats(4))
    titles = [[step.title for step in lower(graph, names).steps]
              for names in ((), ("add",), ("add", "relu"))]
    assert titles == [["add", "relu", "mul"], ["relu", "mul"], ["mul"]]
    assert str(ledger(schedule(lower(graph, ("add", "relu"))))) == str(
        ledger(schedule(lower(graph)))
    )
    assert str(ledger(schedule(lower(graph, ()), fuse=False))) == str(ledger(separate(graph)))
