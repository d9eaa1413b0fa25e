"""How often exp, tanh and their like are computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from labcore import ops
from labcore.fusion import (
    FusionOptions,
    count_by_running,
    evaluations,
    ledger,
    lower,
    schedule,
    separate,
    traffic,
)
from labcore.fusion.primitives import PRIMITIVES
from labcore.fusion.traffic import total

from .graphs import arrays_for, floats, graph_of, layer_norm, softmax
from .test_lowering import gate


def counted(plan):
    return {name: int(times) for name, times in evaluations(plan).items()}


def test_the_gate_saves_accesses_or_tanh():
    """The course's example: 48 accesses and 16 tanh, or 56 and 4."""
    graph = graph_of(gate, floats(4), floats(4))
    stored = schedule(lower(graph))
    again = schedule(lower(graph, options=FusionOptions(materialize=False)))
    loads = {b: int(n) for b, n in ledger(again).loads.items()}
    assert loads == {"x": 4, "y": 16}, "u is read once a row"
    assert (int(ledger(again).accesses), counted(again)) == (36, {"tanh": 16})
    assert (int(ledger(stored).accesses), counted(stored)) == (44, {"tanh": 4})


def test_a_value_in_hand_is_not_computed_again():
    plan = schedule(lower(graph_of(softmax, floats(4, 6))))
    assert counted(plan) == {"exp": 24}
    assert counted(separate(graph_of(softmax, floats(4, 6)))) == {"exp": 24}


def test_what_is_the_same_along_a_row_is_computed_once_a_row():
    plan = schedule(lower(graph_of(layer_norm, floats(4, 6), floats(6), floats(6))))
    assert counted(plan) == {"rsqrt": 4}


@pytest.mark.parametrize(
    "function",
    [softmax, lambda x: ops.tanh(ops.exp(x)), lambda x: ops.mul(ops.exp(x), ops.exp(x))],
)
def test_running_evaluates_as_often(function, monkeypatch):
    """The interpreter, which computes at every turn what a body says, agrees on single loops."""
    graph = graph_of(function, floats(4, 6))
    plan, seen = separate(graph), Counter()

    def watched(name):
        def fn(a):
            seen[name] += 1
            return plain[name].fn(a)

        return replace(plain[name], fn=fn)

    plain = {name: PRIMITIVES[name] for name in ("exp", "tanh")}
    for name in plain:
        monkeypatch.setitem(PRIMITIVES, name, watched(name))
    count_by_running(plan, arrays_for(graph, np.random.default_rng(0)))
    assert counted(plan) == dict(seen)


def test_traffic_is_the_footprint():
    """A broadcast is moved once, a product's operands count, what stays in hand does not."""
    graph = graph_of(lambda x, y, b: ops.relu(ops.add(ops.matmul(x, y), b)),
                     floats(4, 8), floats(8, 6), floats(6))
    plan = schedule(lower(graph))
    call, kernel = traffic(plan)
    assert {b: int(n) for b, n in call.items()} == {"matmul": 96, "x": 128, "y": 192}
    assert {b: int(n) for b, n in kernel.items()} == {"matmul": 96, "relu": 96, "z": 24}
    assert int(total(traffic(plan))) == 632


def test_traffic_of_overlapping_reads_is_bounded_by_the_buffer():
    shifted = lambda x: ops.sub(ops.slice(x, 0, 1, 9), ops.slice(x, 0, 0, 8))
    (moved,) = traffic(schedule(lower(graph_of(shifted, floats(9)))))
    assert int(moved["x"]) == 36 and int(moved["sub"]) == 32
