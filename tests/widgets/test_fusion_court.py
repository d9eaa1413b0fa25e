"""FusionCourt: pairs, verdicts and counts are the compiler's, in widget, text and picture."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from tests.widgets import court_fixture
from tests.widgets.court_fixture import centred
from tests.widgets.programs import PROGRAMS, block
from widgets import FusionCourt
from widgets._court import key

ROWS = torch.tensor([[-2.0, -1.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0]])
FUNCTIONS = {
    "block": (block, (torch.ones(4), torch.ones(4))),
    "centred": (centred, (ROWS,)),
    "softmax": (lambda x: torch.softmax(x, -1), (ROWS,)),
    "norm": (lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True), (ROWS,)),
    "matmul": (lambda x: torch.relu(x @ x.t() + 1), (ROWS,)),
    "sums": (lambda x: (x.sum(), x.sum(0)), (ROWS,)),
    **{name: (program.fn, program.inputs) for name, program in PROGRAMS.items()},
}


def court(name):
    fn, args = FUNCTIONS[name]
    return FusionCourt(fn, *args)


def test_an_option_that_is_none_is_told_which_there_are():
    with pytest.raises(ValueError, match="unexpected option 'fast'; known are max_nodes, max_arra"):
        FusionCourt(block, options={"fast": True})


def test_the_text():
    told = repr(FusionCourt(block)).splitlines()
    assert told[0] == "FusionCourt(block: 3 loops become 1, accesses 28 become 12)"
    assert told[1] == (
        "  add | relu: fuse, producer and consumer (saves 32 bytes). relu computes add itself "
        "instead of loading it: the value stays in a register, and add needs no buffer."
    )
    assert told[3] == (
        "  memory: 3 buffers in 2 places, peak 32 bytes, become 1 buffer in 1 place, peak 16 bytes"
    )
    refused = repr(court("sums")).splitlines()[1]
    assert refused.endswith("It would flip if both reduced the same axes.")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_verdicts_and_counts_are_those_of_the_compiled_call(name):
    fn, args = FUNCTIONS[name]
    events = court(name).trace["events"]
    with trace.record() as story:
        torch.compile(fn)(*args)
    told = story.of(trace.Fusion)
    assert [(e["first"], e["second"], e["ok"], e["rule"], e["flip"]) for e in events] == [
        (v.first, v.second, v.fused, v.rule, v.flip) for v in told
    ]
    (ledger,) = story.of(trace.Accesses)
    start, last = court(name).trace["start"], (events or [court(name).trace["start"]])[-1]
    assert (start["accesses"], last["accesses"]) == (ledger.separate, ledger.fused)
    assert (start["bytes"], last["bytes"]) == (ledger.separate_bytes, ledger.fused_bytes)
    assert last["loops"] == len(story.of(trace.KernelReady))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_accesses_only_ever_fall_and_no_operator_gets_lost(name):
    told = court(name).trace
    cards = {node["name"] for node in told["nodes"] if node["op"] == "call"}
    before = told["start"]["accesses"]
    for event in told["events"]:
        assert event["accesses"] <= before and (event["ok"] or event["accesses"] == before)
        before = event["accesses"]
        assert set().union(*event["groups"]) == cards
        assert {*event["a"], *event["b"]} <= cards
        assert event["ok"] or event["refused_by"] in told["rules"]


def test_an_operator_that_is_computed_twice_stands_in_both_loops():
    def twice(x):
        y = x + 1
        return y.sum(0, keepdim=True) + 2, (y * 3).sum()

    last = FusionCourt(twice, ROWS).trace["events"][-1]
    assert sum("add" in group for group in last["groups"]) == 2


def test_any_pair_is_answered():
    widget = court("centred")
    for a, b in (("tanh", "mul"), ("sum", "add"), ("add", "tanh")):
        assert widget.trace["answers"][key(a, b)]["rule"] == "reduction not finished"
    assert widget.verdict("sum", "tanh").startswith("tanh | sum: fuse, producer and consumer")
    assert court("block").verdict("mul", "add") == "add | mul: fuse, one loop. mul computes both."


def test_a_pair_of_a_large_graph_is_judged_when_it_is_asked():
    def many(x):
        for _ in range(30):
            x = torch.sin(x)
        return x

    widget = FusionCourt(many)
    assert widget.trace["answers"] == {} and widget.answers == {}
    widget.pair = ["sin", "sin_3"]
    assert widget.answers["sin | sin_3"]["ok"] is True


def test_a_name_that_is_no_operator():
    widget = court("block")
    with pytest.raises(ValueError, match="x is no operator: they are add, relu, mul"):
        widget.pair = ["x", "mul"]


def test_which_rules_are_shown_for_an_answer():
    block_court, norm = court("block"), court("norm")
    assert block_court.trace["answers"]["add | relu"]["stage"] == "lowering"
    assert block_court.trace["answers"]["add | mul"]["stage"] == ""
    stages = {answer["rule"]: answer["stage"] for answer in norm.trace["answers"].values()}
    assert stages.get("same nest by way of others", "") == ""


def test_nodes_say_why_they_are_stored_and_who_is_outside():
    nodes = {node["name"]: node for node in court("matmul").trace["nodes"]}
    assert "BLAS" in nodes["matmul"]["extern"] and nodes["relu"]["stored"] == "it is an output"
    assert nodes["add"]["args"] == ["matmul"] and "stored" not in nodes["add"]
    assert nodes["output"]["args"] == ["relu"]


def test_a_view_is_looked_through():
    nodes = {n["name"]: n for n in FusionCourt(lambda x: x.t() + 1, ROWS).trace["nodes"]}
    assert "transpose" not in nodes and nodes["add"]["args"] == ["x"]


def test_memory_is_what_the_compiled_program_follows():
    fn, args = FUNCTIONS["matmul"]
    with trace.record() as story:
        torch.compile(fn)(*args)
    (planned,) = story.of(trace.MemoryPlanned)
    memory = court("matmul").trace["memory"]
    after = memory["after"]
    assert (after["peak"], after["total"]) == (planned.peak, planned.total)
    assert [(life["buffer"], life["place"], life["how"]) for life in after["lives"]] == [
        (life.buffer, life.place, life.how) for life in planned.lives
    ]
    assert after["lives"][1]["how"] == "in place"
    block_lives = court("block").trace["memory"]["before"]["lives"]
    assert [life["how"] for life in block_lives] == ["new", "new", "used again"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_buffers_only_ever_leave_memory(name):
    told = court(name).trace
    stored = set(told["start"]["stored"])
    assert stored == {life["buffer"] for life in told["memory"]["before"]["lives"]}
    for event in told["events"]:
        # Mean and variance in one pass are two sums of other things than those of two passes, and
        # softmax divides once a row.
        others = {n for n in event["stored"] if n.endswith(("_about_pivot", "_inverse"))}
        assert set(event["stored"]) - others <= stored
        stored = set(event["stored"])
    assert stored == {life["buffer"] for life in told["memory"]["after"]["lives"]}


def test_options_of_the_loop_compiler():
    def gate(u, v):
        return u[:, None] * torch.tanh(v)[None, :]

    u = torch.ones(4)
    stored, fused = (
        FusionCourt(gate, u, u, options={"materialize": wanted}) for wanted in (True, False)
    )
    loops = [court.trace["events"][-1:] or [court.trace["start"]] for court in (stored, fused)]
    assert [last["loops"] for (last,) in loops] == [2, 1]
    with pytest.raises(ValueError, match="max_nodes is a whole number"):
        FusionCourt(gate, u, u, options={"max_nodes": 0})


def test_the_users_names_in_a_training_graph():
    widget = FusionCourt(block, torch.ones(4, requires_grad=True), torch.ones(4))
    assert [node["text"] for node in widget.trace["nodes"][:2]] == ["x", "bias"]


def test_the_trace_is_plain_and_the_same_each_time():
    told = court("norm").trace
    assert json.loads(json.dumps(told, allow_nan=False)) == told == court("norm").trace


@pytest.mark.parametrize("name", ["block", "centred", "norm", "matmul"])
def test_the_picture(name):
    widget = court(name)
    svg = ElementTree.fromstring(widget.picture())
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    for node in widget.trace["nodes"]:
        if node["op"] == "call":
            assert node["name"] in texts
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["image/svg+xml"] == widget.picture() and bundle["text/plain"] == repr(widget)


def test_the_fixture_is_up_to_date():
    assert court_fixture.FILE.read_text() == court_fixture.printed(), (
        "run: python -m tests.widgets.court_fixture"
    )
