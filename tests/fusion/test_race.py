"""Loop bodies as data: what the access race shows is what the compiler counted."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from labcore import dtypes, ops
from labcore.fusion import count_by_running, ledger, lower, schedule, separate
from labcore.fusion.interpret import rounded
from labcore.fusion.primitives import PRIMITIVES
from labcore.fusion.race import TooLarge, race_plan

from .graphs import chain, floats, graph_of

X, BIAS = np.array([-2, -1, 1, 2], np.float32), np.ones(4, np.float32)


def replay(plan, lane, n):
    """The accesses and the outputs of a lane, by running its bodies."""
    one = {b["name"] for b in plan["buffers"] if b.get("one")}
    memory = {b["name"]: dict(enumerate(map(float, b.get("values", [])))) for b in plan["buffers"]}
    accesses = 0
    for step in lane["passes"]:
        registers: dict[str, float] = {}
        for i in range(n):
            for s in step["body"]:
                if s.get("once") and i:
                    continue
                accesses += s["op"] in ("load", "store")
                dtype, place = dtypes.BY_NAME[s["dtype"]], 0 if s.get("buf") in one else i
                if s["op"] == "load":
                    registers[s["reg"]] = memory[s["buf"]][place]
                elif s["op"] == "store":
                    memory[s["buf"]][place] = registers[s["reg"]]
                elif s["op"] == "const":
                    registers[s["reg"]] = rounded(float(s["value"]), dtype)
                else:
                    fn = PRIMITIVES[s["op"]].fn if s["op"] != "to_dtype" else (lambda v: v)
                    registers[s["reg"]] = rounded(fn(*(registers[a] for a in s["args"])), dtype)
    return accesses, memory


def test_the_block():
    plan = race_plan(
        graph_of(chain, floats(4), floats(4), names=("x", "bias")),
        [X, BIAS],
        "block",
        {"add": "t1", "relu": "t2", "mul": "y"},
    )
    assert plan["function"] == "block"
    assert [(b["name"], b["role"]) for b in plan["buffers"]] == [
        ("x", "input"),
        ("bias", "input"),
        ("t1", "intermediate"),
        ("t2", "intermediate"),
        ("y", "output"),
    ]
    assert plan["buffers"][0]["values"] == [-2, -1, 1, 2]
    apart, together = plan["lanes"]
    assert [p["name"] for p in apart["passes"]] == ["add", "relu", "mul"]
    assert [p["name"] for p in together["passes"]] == ["add · relu · mul"]
    (body,) = [p["body"] for p in together["passes"]]
    assert [(s["op"], s["reg"]) for s in body] == [
        ("load", "tmp0"),
        ("load", "tmp1"),
        ("add", "tmp2"),
        ("relu", "tmp3"),
        ("const", "const0"),
        ("mul", "tmp4"),
        ("store", "tmp4"),
    ]
    assert body[2] == {
        "op": "add",
        "reg": "tmp2",
        "dtype": "float32",
        "args": ["tmp0", "tmp1"],
        "node": "add",
        "line": 2,
    }
    assert body[6]["buf"] == "y"
    for lane, total in ((apart, 28), (together, 12)):
        accesses, memory = replay(plan, lane, 4)
        assert accesses == total and list(memory["y"].values()) == [0, 0, 4, 6]


@pytest.mark.parametrize(
    ("function", "metas"),
    [
        (chain, (floats(5), floats(1))),
        (chain, (floats(5), floats())),
        (lambda x, y: ops.mul(ops.mul(x, x), y), (floats(5), floats(5))),
        (lambda x, y: (ops.exp(x), ops.neg(y)), (floats(5), floats(5))),
        (lambda x, y: ops.where(ops.gt(x, 0), x, ops.mul(y, 0.1)), (floats(5), floats(5))),
        (lambda x, y: ops.add(ops.to(x, dtypes.float64), y), (floats(2, 3), floats(2, 3))),
    ],
)
def test_counts_and_values_are_the_compilers(function, metas):
    graph = graph_of(function, *metas)
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(m.shape).astype(m.dtype.numpy) for m in metas]
    plan = race_plan(graph, inputs)
    json.dumps(plan, allow_nan=False)
    for lane, steps in zip(plan["lanes"], (separate(graph), schedule(lower(graph)))):
        accesses, memory = replay(plan, lane, metas[0].numel)
        assert accesses == int(ledger(steps).accesses)
        outputs = count_by_running(steps, inputs)[1].outputs
        for output, buffer in zip(outputs, steps.program.outputs):
            np.testing.assert_array_equal(list(memory[buffer.name].values()), output.reshape(-1))


def test_numbers_that_json_lacks_are_texts():
    plan = race_plan(
        graph_of(lambda x: ops.maximum(x, float("-inf")), floats(2)),
        [np.array([np.nan, np.inf], np.float32)],
    )
    assert plan["buffers"][0]["values"] == ["NaN", "Infinity"]
    (body,) = [p["body"] for p in plan["lanes"][1]["passes"]]
    assert [s["value"] for s in body if s["op"] == "const"] == ["-Infinity"]


OTHERS = {
    "full sum": (lambda x: ops.sum(x), (floats(4),)),
    "matmul": (lambda x: ops.relu(ops.matmul(x, x)), (floats(2, 2),)),
    "two spaces": (lambda x, y: (ops.neg(x), ops.neg(y)), (floats(4), floats(5))),
    "broadcast": (lambda x, y: ops.add(x, y), (floats(4, 3), floats(3))),
    "one element": (lambda x: ops.neg(x), (floats(1),)),
    "slice": (lambda x: ops.neg(ops.slice(x, 0, 1)), (floats(4),)),
    "index": (lambda x: ops.add(x, ops.arange(4)), (floats(4),)),
    "rows and columns": (lambda x: (ops.sum(x, 0), ops.sum(x, 1)), (floats(2, 4),)),
    "softmax": (lambda x: ops.softmax(x, -1), (floats(2, 4),)),
    "norm": (lambda x: ops.layer_norm(x, (4,)), (floats(2, 4),)),
    "transposed": (lambda x: ops.add(ops.transpose(ops.exp(x), 0, 1), x), (floats(3, 3),)),
    "centred": (lambda x: ops.sub(x, ops.sum(x, 0, True)), (floats(3, 4),)),
    "gather": (lambda x: ops.gather(x, 0, ops.to(ops.gt(x, 0), dtypes.int64)), (floats(4),)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_any_schedule_access_by_access(name):
    """Every access of the ledger, by buffer, and the values that eager mode leaves."""
    function, metas = OTHERS[name]
    graph = graph_of(function, *metas)
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(m.shape).astype(m.dtype.numpy) for m in metas]
    plan = race_plan(graph, inputs)
    json.dumps(plan, allow_nan=False)
    assert plan["fixed"]
    for lane, steps in zip(plan["lanes"], (separate(graph), schedule(lower(graph)))):
        counted = ledger(steps)
        for kind, table in (("read", counted.loads), ("write", counted.stores)):
            found = Counter(s["buf"] for s in lane["steps"] if s["kind"] == kind)
            assert found == {b: int(n.value({})) for b, n in table.items()}
        outputs = count_by_running(steps, inputs)[1].outputs
        for output, buffer in zip(outputs, steps.program.outputs):
            cells = [float(value) for value in lane["memory"][buffer.name]]
            np.testing.assert_array_equal(cells, output.ravel(order="K"))
        for step in lane["steps"]:
            body = lane["passes"][step["pass"]]["body"]
            assert body[step["at"]].get("buf") == step["buf"]
            assert step["regs"][step["reg"]] == step["value"]


def test_a_call_is_a_pass_without_statements():
    function, metas = OTHERS["matmul"]
    plan = race_plan(graph_of(function, *metas), [np.ones((2, 2), np.float32)])
    first, second = plan["lanes"][1]["passes"]
    assert first == {"name": "matmul", "body": [], "extern": True}
    assert [line["op"] for line in second["body"]] == ["load", "relu", "store"]


def test_a_buffer_that_is_written_over_keeps_what_it_had():
    function, metas = OTHERS["matmul"]
    plan = race_plan(graph_of(function, *metas), [np.array([[1, -2], [0, 1]], np.float32)])
    for lane in plan["lanes"]:
        assert lane["memory"]["matmul"] == [1, -4, 0, 1]
        assert lane["memory"]["relu"] == [1, 0, 0, 1]


def test_statements_stand_in_their_loops():
    function, metas = OTHERS["softmax"]
    plan = race_plan(graph_of(function, *metas), [np.ones((2, 4), np.float32)])
    (body,) = [p["body"] for p in plan["lanes"][1]["passes"]]
    heads = [line["heads"] for line in body if "heads" in line]
    assert heads[0] == ["for i0 in range(2):", "  for i1 in range(4):"]
    assert heads[1:] == [["  for i1 in range(4):"]] * 2
    assert {line["depth"] for line in body} == {2}


def test_arrays_that_are_too_large_to_be_shown():
    with pytest.raises(TooLarge, match="up to 64 elements.*at most 32: give it smaller tensors"):
        race_plan(graph_of(lambda x: ops.sum(x, 0), floats(8, 8)), [np.ones((8, 8), np.float32)])
