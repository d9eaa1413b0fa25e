"""Bodies watched while they run: the same questions to every handler, and no answer changed."""
from __future__ import annotations

import numpy as np
import pytest

from labcore import ops
from labcore.codegen import print_kernel
from labcore.fusion import lower, schedule
from labcore.fusion.follow import follow, heard, questions
from labcore.fusion.handlers import Printer, Reads
from labcore.fusion.interpret import Interpreter, run
from labcore.fusion.ir import ops as body_ops, using
from labcore.fusion.ledger import Count, count_nest
from labcore.fusion.show import ShowNest

from .graphs import chain, floats, graph_of

GRAPHS = {
    "chain": (chain, (floats(4), floats(4))),
    "softmax": (lambda x: ops.softmax(x, -1), (floats(2, 4),)),
    "sums": (lambda x: (ops.sum(x, 0), ops.sum(x, 1)), (floats(2, 4),)),
    "transposed": (lambda x: ops.add(ops.transpose(x, 0, 1), x), (floats(3, 3),)),
    "index": (lambda x: ops.add(x, ops.arange(4)), (floats(4),)),
}


def nests(name):
    function, metas = GRAPHS[name]
    return schedule(lower(graph_of(function, *metas)))


def test_the_block_asks_seven_questions():
    (nest,) = nests("chain").nests
    (body,) = questions(nest)
    assert [str(question) for question in body.questions] == [
        'v0 = ops.load("x", i0)',
        'v1 = ops.load("y", i0)',
        "v2 = ops.add(v0, v1)",
        "v3 = ops.relu(v2)",
        "v4 = ops.constant(2.0, float32)",
        "v5 = ops.mul(v3, v4)",
        'ops.store("mul", i0, v5)',
    ]
    assert (body.number, body.level, body.node.name) == (0, "inside", "mul")


@pytest.mark.parametrize("name", GRAPHS)
def test_every_handler_is_asked_the_same(name):
    plan = nests(name)
    _, metas = GRAPHS[name]
    inputs = [np.ones(meta.shape, np.float32) for meta in metas]
    interpreted = heard(Interpreter, lambda: run(plan, inputs), lambda handler, args: handler.nest)
    for nest in plan.nests:
        asked = [question.word for body in questions(nest) for question in body.questions]
        for kind, work in (
            (ShowNest, lambda: str(nest)),
            (Count, lambda: count_nest(nest)),
            (Printer, lambda: print_kernel(nest)),
        ):
            words = [h.args[0] if h.word == "op" else h.word for h in heard(kind, work)]
            assert words == asked, kind
        turns = [h for h in interpreted if h.seen is nest]
        assert len(turns) % len(asked) == 0 or len(nest.passes) > 1


def test_following_changes_no_answer():
    (nest,) = nests("softmax").nests
    plain = str(nest), str(print_kernel(nest)), count_nest(nest).loads
    with follow(lambda *told: None):
        assert (str(nest), str(print_kernel(nest)), count_nest(nest).loads) == plain
    assert body_ops.listener is None


def test_who_is_not_of_that_kind_is_not_listened_to():
    (nest,) = nests("chain").nests

    def work():
        with using(Reads()):
            nest.run(nest.nodes[0])

    assert heard(Count, work) == [] and len(heard(Reads, work)) == 7


def test_an_error_ends_the_following():
    with pytest.raises(ZeroDivisionError):
        heard(Reads, lambda: 1 / 0)
    assert body_ops.listener is None
