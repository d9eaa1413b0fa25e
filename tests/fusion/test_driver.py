"""The stage as a whole: its events and its texts."""

from __future__ import annotations

from labcore import ops, trace
from labcore.fusion import fuse_graph, lower, schedule

from .graphs import chain, floats, graph_of, softmax

PRE = """\
add: float32[4]  # stored: nothing is fused
    for i0 < 4:
        tmp0 = load x[i0]                     # add, model.py:2
        tmp1 = load bias[i0]
        tmp2 = tmp0 + tmp1
        store add[i0] = tmp2

relu: float32[4]  # stored: nothing is fused
    for i0 < 4:
        tmp0 = load add[i0]                   # relu, model.py:3
        tmp1 = relu(tmp0)
        store relu[i0] = tmp1

mul: float32[4]  # stored: it is an output
    for i0 < 4:
        tmp0 = load relu[i0]                  # mul, model.py:4
        tmp1 = tmp0 * 2.0
        store mul[i0] = tmp1"""

POST = """\
add + relu + mul: reads x, bias; writes mul
    for i0 < 4:
        tmp0 = load x[i0]                     # add, model.py:2
        tmp1 = load bias[i0]
        tmp2 = tmp0 + tmp1
        tmp3 = relu(tmp2)                     # relu, model.py:3
        tmp4 = tmp3 * 2.0                     # mul, model.py:4
        store mul[i0] = tmp4"""

ROWS = """\
amax + sub + exp + sum + div: reads x; writes div
    for i0 < 4:
        for i1 < 8:
            tmp0 = load x[8*i0 + i1]          # amax, model.py:2
            amax amax <- tmp0
        for i1 < 8:
            tmp1 = load x[8*i0 + i1]          # sub, model.py:3
            tmp2 = tmp1 - amax
            tmp3 = exp(tmp2)                  # exp, model.py:4
            row exp[8*i0 + i1] = tmp3
            sum sum <- tmp3                   # sum, model.py:5
        tmp4 = 1.0 / sum                      # div, model.py:6
        for i1 < 8:
            tmp5 = row exp[8*i0 + i1]
            tmp6 = tmp5 * tmp4
            store div[8*i0 + i1] = tmp6"""


def block():
    return graph_of(chain, floats(4), floats(4), names=("x", "bias"))


def test_the_events_of_the_block():
    with trace.record() as recorded:
        fused = fuse_graph(block(), "forward")
    before, after = recorded.of(trace.LoopIR)
    assert (before.when, before.text, after.when, after.text) == (
        "pre_fusion",
        PRE,
        "post_fusion",
        POST,
    )
    assert [
        (e.first, e.second, e.fused, e.rule, e.saved_bytes) for e in recorded.of(trace.Fusion)
    ] == [
        ("add", "relu", True, "producer and consumer", 32),
        ("relu", "mul", True, "producer and consumer", 32),
    ]
    (accesses,) = recorded.of(trace.Accesses)
    assert (accesses.separate, accesses.fused) == (28, 12)
    assert (accesses.separate_bytes, accesses.fused_bytes) == (112, 48)
    assert accesses.buffers == [
        trace.BufferAccesses("x", 4, 0, 4, 0),
        trace.BufferAccesses("bias", 4, 0, 4, 0),
        trace.BufferAccesses("add", 4, 4, 0, 0),
        trace.BufferAccesses("relu", 4, 4, 0, 0),
        trace.BufferAccesses("mul", 0, 4, 0, 4),
    ]
    (stage,) = recorded.of(trace.Stage)
    assert (stage.name, stage.note) == ("fusion", "3 loops become 1")
    assert str(fused) == POST


def test_the_schedule_is_told_with_loops_and_steps():
    with trace.record() as recorded:
        fuse_graph(graph_of(lambda x, y: ops.relu(ops.matmul(x, y)), floats(2, 2), floats(2, 2)))
    (told,) = recorded.of(trace.Scheduled)
    matmul, relu = told.loops
    assert (matmul.kind, matmul.reads, matmul.operators) == ("extern", ["x", "y"], ["matmul"])
    assert matmul.why.startswith("a matrix product")
    assert (relu.kind, relu.sizes, relu.nbytes, relu.why) == (
        "pointwise", ["2", "2"], 16, "it is an output",
    )
    assert [(s.kind, s.loops, s.moved) for s in told.steps] == [
        ("call", ["matmul"], 48), ("kernel", ["relu"], 32),
    ]
    assert (told.moved, told.moved_apart) == (80, 80)


def test_the_trace_survives_json():
    with trace.record() as recorded:
        fuse_graph(block())
    assert [trace.from_json(e.to_json()) for e in recorded.events] == recorded.events


def test_nobody_listening_builds_no_second_program(monkeypatch):
    import labcore.fusion.report as report

    monkeypatch.setattr(report, "separate", lambda graph: 1 / 0)
    assert len(fuse_graph(block()).nests) == 1


def test_rows_are_shown_pass_by_pass():
    assert str(schedule(lower(graph_of(softmax, floats(4, 8))))) == ROWS


def test_the_note_counts_extern_steps():
    with trace.record() as recorded:
        fuse_graph(graph_of(lambda x, y: ops.relu(ops.matmul(x, y)), floats(2, 2), floats(2, 2)))
    assert recorded.of(trace.Stage)[0].note == "1 loop becomes 1, 1 extern"
    assert "matmul = matmul(x, y)  # extern: a matrix product" in recorded.of(trace.LoopIR)[0].text


def test_statements_in_the_text_name_the_users_code():
    import linecache

    from labcore.fusion.show import note

    linecache.cache["shown.py"] = (1, None, ["y = x + bias\n"], "shown.py")
    graph = block()
    graph.calls[0].origin = trace.Origin("shown.py", 1, 4, 1, 12)
    assert note(graph.calls[0]) == "add, shown.py:1  x + bias"
