"""What pictures are drawn from: what a region walked, what was handed over, and each step."""

from __future__ import annotations

import json

import pytest

import labcore as torch
from labcore import compiler, trace
from labcore.trace import Handover, RegionCaptured, TraceStep, from_json, record


@pytest.fixture(autouse=True)
def _fresh_ids():
    compiler.reset()


def recorded(fn, *args, steps=False):
    compiled = torch.compile(fn, backend="eager")
    with record(steps=steps) as told:
        compiled(*args)
    return told


def line_of(fn, text):
    """The line of a function's source that has `text`."""
    import inspect

    lines, first = inspect.getsourcelines(fn)
    return first + next(n for n, line in enumerate(lines) if text in line)


def printing(x, k):
    y = x * k
    print(k, end="")
    return y + 1


def test_a_region_has_its_ends_its_instructions_and_its_nodes(capsys):
    told = recorded(printing, torch.ones(4), 3)
    first, second = told.of(RegionCaptured)
    stop = line_of(printing, "print(k")
    assert (first.compile_id, second.compile_id) == ("0/0", "1/0")
    assert [frame.line for frame in first.ends] == [stop] == first.goes_on
    assert first.stop == told.of(trace.GraphBreak)[0].break_id and first.origin.line == stop
    assert [frame.offset for frame in second.begins] > [frame.offset for frame in first.ends]
    assert (second.ends, second.stop) == ([], "")
    (walked,) = first.walked
    texts = [text for _, _, text, _ in walked.instructions]
    assert texts[0].endswith("x, k") or texts[0].endswith("x")  # 3.13 loads two at once
    assert not any(text.startswith(("CALL", "RESUME")) for text in texts)  # the call is CPython's
    assert [(n.name, n.args, n.inputs) for n in first.nodes] == [
        ("x", [], []),
        ("mul", ["x", "3"], ["x"]),
        ("output", ["(mul,)"], ["mul"]),
    ]
    assert first.nodes[1].meta == "float32[4]"
    assert first.nodes[1].places == [[0, line_of(printing, "x * k")]]


def test_what_is_handed_over_and_what_comes_back(capsys):
    (handed,) = recorded(printing, torch.ones(4), 3).of(Handover)
    (frame,) = handed.frames
    assert (frame.function, frame.line) == ("printing", line_of(printing, "print(k"))
    assert frame.variables == [["y", "float32[4]"]]  # k is read no more
    assert frame.stack[:2] == ["print()", "3"]
    assert (handed.instruction.split()[0], handed.result, handed.rest) in [
        ("CALL", "None", False),
        ("CALL_KW", "None", False),
    ]


def branching(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@pytest.mark.parametrize(("sign", "told"), [(1, "True"), (-1, "False")])
def test_a_branch_tells_which_way(sign, told):
    (handed,) = recorded(branching, torch.ones(4) * sign).of(Handover)
    assert handed.result == told


def looping(x, n):
    for i in range(n):
        print(end="")
        x = x + 1
    return x


def test_a_loop_is_one_region_and_many_handovers(capsys):
    told = recorded(looping, torch.ones(2), 20)
    assert len(told.of(Handover)) == 20
    around = told.of(RegionCaptured)[1]
    lines = [line for _, line, _, _ in around.walked[0].instructions]
    back = line_of(looping, "for i")
    assert lines[0] > back and back in lines  # it goes back to the head of the loop
    assert around.goes_on == [line_of(looping, "print(end")]


def helper(x):
    y = x * 2
    print(end="")
    return y + 1


def calling(x):
    return helper(x - 1) * 3


def test_frames_are_told_outermost_first(capsys):
    told = recorded(calling, torch.ones(2))
    first, second = told.of(RegionCaptured)
    assert [frame.function for frame in first.ends] == ["calling", "helper"]
    assert [frame.function for frame in second.begins] == ["calling", "helper"]
    outer, inner = first.nodes[1:3]
    call = line_of(calling, "helper(x - 1)")
    assert [code.function for code in first.walked] == ["calling", "helper"]
    assert outer.places == [[0, call]]
    assert inner.places == [[0, call], [1, line_of(helper, "x * 2")]]
    assert [frame.function for frame in told.of(Handover)[0].frames] == ["calling", "helper"]


def catching(x):
    try:
        print(file=3)
    except AttributeError:
        return x + 1
    return x


def test_an_exception_that_is_caught():
    results = [handed.result for handed in recorded(catching, torch.ones(2)).of(Handover)]
    assert "raised, and caught" in results


def raising(x):
    y = x + 1
    print(file=3)
    return y


def test_an_exception_that_nobody_catches():
    compiled = torch.compile(raising, backend="eager")
    with record() as told, pytest.raises(AttributeError):
        compiled(torch.ones(2))
    assert told.of(Handover)[-1].result == "raised AttributeError"


def block(x, bias):
    return (x + bias).relu() * 2


def test_steps_are_told_only_when_asked_for():
    assert recorded(block, torch.ones(4), torch.ones(4)).of(TraceStep) == []
    steps = recorded(block, torch.ones(4), torch.ones(4), steps=True).of(TraceStep)
    nodes = [node.name for step in steps for node in step.nodes if node.op == "call_function"]
    assert nodes == ["add", "relu", "mul"]
    assert [step.step for step in steps] == list(range(len(steps)))
    added = next(step for step in steps if step.nodes)
    assert added.instruction == "BINARY_OP +"
    assert added.before == [["lazy", "x"], ["lazy", "bias"]]
    assert added.after == [["tensor", "add: float32[4]"]]
    assert [guard.text for guard in added.guards][:1] == ["x is float32 on cpu, requires_grad=0"]
    assert ["x", "tensor", "x: float32[4]"] in added.variables
    assert not steps[-1].stops


def test_the_last_step_before_a_break_says_so(capsys):
    steps = recorded(printing, torch.ones(4), 3, steps=True).of(TraceStep)
    (stops,) = [step for step in steps if step.stops]
    assert stops.before == stops.after and stops.instruction.startswith("CALL")


def test_steps_of_a_callee_are_one_deeper():
    def call(x):
        return block(x, x) - 1

    steps = recorded(call, torch.ones(4), steps=True).of(TraceStep)
    depths = {step.function.rsplit(".")[-1]: step.depth for step in steps}
    assert depths == {"call": 0, "block": 1}


def test_all_of_it_survives_the_process(capsys):
    told = recorded(calling, torch.ones(2), steps=True)
    for event in told:
        assert from_json(json.loads(json.dumps(event.to_json()))) == event
    assert told.of(TraceStep) and told.of(Handover) and told.of(RegionCaptured)


def test_no_address_is_told():
    def nested(x):
        inner = lambda y: y + 1
        return inner(x)

    text = json.dumps([event.to_json() for event in recorded(nested, torch.ones(2), steps=True)])
    assert "0x" not in text
