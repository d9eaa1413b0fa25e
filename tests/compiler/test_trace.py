"""What a call tells: events in the order in which things happened, and origins that point at the
user's expression."""

from __future__ import annotations

import contextlib

import labcore as torch
from labcore import compiler
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import (
    CacheMiss,
    CallEnd,
    Execute,
    GraphBreak,
    GraphCaptured,
    GuardCheck,
    GuardsInstalled,
    Recorder,
    Stage,
    record,
)


def block(x, bias):
    return torch.relu(x + bias) * 2


def scaled(y, k):
    return y * k


def nested(x):
    total = (
        scaled(x - 1, 2)
        + scaled(x, 3)
    )  # fmt: skip
    return total


def pair(n):
    return torch.ones(n), torch.ones(n)


def kinds(trace):
    return [event.kind for event in trace.events if not isinstance(event, GuardCheck)]


def test_a_first_call_a_hit_and_a_miss():
    compiler.reset()
    compiled = torch.compile(block, backend="eager")
    with record() as first:
        compiled(*pair(4))
    assert kinds(first) == [
        "CallBegin",
        "CacheMiss",
        "Stage",
        "GraphCaptured",
        "GuardsInstalled",
        "RegionCaptured",
        "VariantAdded",
        "Execute",
        "CallEnd",
    ]
    assert first.of(Stage)[0].note == "bytecode to a graph: add, relu, mul, and 10 guards"
    assert first.events[0].inputs == ["float32[4]", "float32[4]"]
    assert [e.compile_id for e in first.of(GraphCaptured)] == ["0/0"]
    with record() as hit:
        compiled(*pair(4))
    assert kinds(hit) == ["CallBegin", "Execute", "CallEnd"]
    checks = hit.of(GuardCheck)
    assert (
        len(checks) == 10
        and all(c.ok for c in checks)
        and [c.index for c in checks] == list(range(10))
    )
    assert [c.text for c in checks] == [g.text for g in first.of(GuardsInstalled)[0].guards]
    with record() as miss:
        compiled(*pair(8))
    failed = [c for c in miss.of(GuardCheck) if not c.ok]
    assert [(c.compile_id, c.expected, c.actual) for c in failed] == [("0/0", "(4,)", "(8,)")]
    assert failed[0].reason == "tensor 'x' size mismatch at index 0. expected 4, actual 8"
    assert failed[0].origin and failed[0].origin.code == "x + bias"
    assert miss.of(CacheMiss)[0].reasons == [f"0/0: {failed[0].reason}"]
    assert [e.result for t in (first, hit, miss) for e in t.of(CallEnd)] == [
        "compiled",
        "hit",
        "compiled",
    ]
    assert [e.hit for t in (first, hit, miss) for e in t.of(Execute)] == [False, True, False]


def test_the_most_recent_variant_is_asked_first():
    compiler.reset()
    compiled = torch.compile(block, backend="eager", dynamic=False)
    for n in (4, 8, 4):
        compiled(*pair(n))
    with record() as trace:
        compiled(*pair(8))
    assert [c.compile_id[-1] for c in trace.of(GuardCheck) if not c.ok] == ["0"]


def test_calls_with_breaks_compile_and_hit_and_errors_end_as_raised():
    compiled = torch.compile(lambda x: x.sum().item(), backend="eager")
    with record() as trace:
        compiled(torch.ones(2))
        compiled(torch.ones(2))
    assert [e.result for e in trace.of(CallEnd)] == ["compiled", "hit"]
    assert len(trace.of(GraphBreak)) == 1 and len(trace.of(GraphCaptured)) == 1
    assert [e.hit for e in trace.of(Execute)] == [False, False, True, True]
    compiled = torch.compile(block, backend="eager")
    with record() as trace:
        for _ in range(2):
            with contextlib.suppress(RuntimeError):
                compiled(torch.ones(2), torch.ones(3))
    assert [e.result for e in trace.of(CallEnd)] == ["raised"] * 2
    assert len(trace.of(GuardsInstalled)) == 1 and not trace.of(GraphBreak)


def test_a_trace_survives_json(tmp_path):
    compiled = torch.compile(block, backend="eager")
    with record() as trace:
        for n in (4, 4, 8):
            compiled(*pair(n))
        torch.compile(lambda x: x.tolist(), backend="eager")(torch.ones(2))
    trace.save(tmp_path / "trace.jsonl")
    assert Recorder.load(tmp_path / "trace.jsonl").events == trace.events


def test_nodes_point_at_their_sub_expressions():
    counter = CompileCounter()
    torch.compile(block, backend=counter)(*pair(2))
    nodes = counter.graphs[0].graph.calls
    assert [n.origin.code for n in nodes] == [
        "x + bias",
        "torch.relu(x + bias)",
        "torch.relu(x + bias) * 2",
    ]
    assert {n.origin.function for n in nodes} == {"block"}
    assert [n.origin.file for n in nodes] == [__file__] * 3


def test_nodes_of_an_inlined_callee_point_into_it():
    counter = CompileCounter()
    torch.compile(nested, backend=counter)(torch.ones(2))
    nodes = counter.graphs[0].graph.calls
    assert [(n.origin.function, n.origin.source.strip()) for n in nodes] == [
        ("nested", "scaled(x - 1, 2)"),
        ("scaled", "return y * k"),
        ("scaled", "return y * k"),
        ("nested", "scaled(x - 1, 2)"),
    ]
    assert nodes[0].origin.code == "x - 1"


def test_a_variant_can_be_read():
    compiled = torch.compile(block, backend="eager")
    with record() as trace:
        compiled(*pair(4))
    source = trace.of(GuardsInstalled)[0].source
    assert source.startswith("def variant(x, bias):\n    # guards\n")
    assert "    if not (Tensor is type(x) and float32_4 is x._layout): return MISS  # " in source
    assert "return MISS  # x.size() == (4,) and x.stride() == (1,)\n" in source
    assert source.endswith(
        "    # graph and result\n    mul, = graph(x, bias)\n    return mul\n"
    )
