"""TraceStepper: every beat is a step of capture, and text and picture name no instruction."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from labcore.compiler import reset
from tests.widgets.programs import block
from widgets import TraceStepper


@pytest.fixture(autouse=True)
def _fresh_ids():
    """Compile ids start at 0/0, as in a new notebook."""
    reset()


ONES = torch.ones(4)


@dataclasses.dataclass
class Pair:
    first: object
    count: int


def line_of(fn, text):
    lines, first = inspect.getsourcelines(fn)
    return first + next(n for n, line in enumerate(lines) if text in line)


def beats(widget, *parts):
    return [e for e in widget.trace["events"] if e["kind"] == "step" and set(parts) <= e.keys()]


def operations(widget):
    return [node["text"] for node in widget.trace["nodes"] if node["op"] == "call"]


def test_a_pointwise_function():
    line = line_of(block, "return")
    text = repr(TraceStepper(block, ONES, torch.zeros(4))).splitlines()
    assert text[0] == "TraceStepper(block, region A: 3 operators, 8 guards, to the return)"
    assert text[1:4] == [
        f"  line {line}: add = x + bias",
        f"  line {line}: relu = relu(add)",
        f"  line {line}: mul = relu * 2",
    ]
    assert text[4] == "  guard: grad=True, inference=False, default dtype float32"
    assert text[-1] == "  guard: x, bias: different tensors"


def test_examples_are_made_where_none_are_given():
    assert operations(TraceStepper(block)) == ["x + bias", "relu(add)", "relu * 2"]


def test_the_beats_add_up_to_the_graph_and_the_guards():
    widget = TraceStepper(block, ONES, torch.zeros(4))
    data = widget.trace
    for kind in ("nodes", "guards"):
        assert sum(e[kind] for e in data["events"]) == len(data[kind])
    assert data["events"][-1]["kind"] == "end"


def test_looking_changes_what_is_known_of_a_variable():
    widget = TraceStepper(block, ONES, torch.zeros(4))
    start = widget.trace["start"][0]["variables"]
    assert start == [["x", "lazy", "x"], ["bias", "lazy", "bias"]]
    (looked,) = beats(widget, "set")
    assert looked["text"] == "BINARY_OP +" and looked["guards"] == 6
    assert [row[:2] for row in looked["set"]] == [["x", "tensor"], ["bias", "tensor"]]


def unrolled(x):
    for _ in range(3):
        x = x + 1
    return x


def test_a_loop_leaves_its_rounds_in_the_graph():
    widget = TraceStepper(unrolled, ONES)
    assert operations(widget) == ["x + 1", "add + 1", "add_1 + 1"]
    assert {node["line"] for node in widget.trace["nodes"] if node["op"] == "call"} == {
        line_of(unrolled, "x = x + 1")
    }


def helper(y):
    z = y * 2
    return z + 1


def calling(x):
    a = helper(x - 1)
    return a.relu()


def test_a_call_enters_a_frame_and_its_return_leaves_it():
    widget = TraceStepper(calling, ONES)
    (call,) = beats(widget, "enters")
    assert call["enters"]["function"] == "helper"
    assert call["enters"]["variables"] == [["y", "tensor", "sub: float32[4]"]]
    (back,) = beats(widget, "returns")
    assert back["depth"] == 1 and back["returns"] == [["tensor", "add: float32[4]"]]
    assert [listing["name"] for listing in widget.trace["listings"]] == ["calling", "helper"]


def printing(x):
    y = x * 3
    print(end="")
    return (y + 1).relu()


def test_a_break_ends_the_region(capsys):
    widget = TraceStepper(printing, ONES)
    line = line_of(printing, "print(")
    assert widget.summary() == f"1 operator, 5 guards, up to line {line}: call of print()"
    (last,) = beats(widget, "stops")
    assert last["before"] == last["after"] and last["at"]["line"] == line
    assert widget.trace["stop"]["hint"] and "◆" in widget.picture()


def test_a_later_region_by_its_letter(capsys):
    widget = TraceStepper(printing, ONES, region="B")
    assert operations(widget) == ["y + 1", "relu(add)"]
    assert repr(widget).startswith("TraceStepper(printing, region B: 2 operators")
    with pytest.raises(ValueError, match="has no region 'C', only A, B"):
        TraceStepper(printing, ONES, region="C")


def written(x):
    y = x.clone()
    y[1:].add_(1)
    return y.view(-1)[::3]


def test_what_is_returned_of_a_written_tensor_is_in_the_graph():
    widget = TraceStepper(written, torch.ones(3, 4))
    told = {node["name"] for node in widget.trace["nodes"]}
    assert all(told.issuperset(node["args"]) for node in widget.trace["nodes"])
    with trace.record() as story:
        torch.compile(written, backend="eager")(torch.ones(3, 4))
    graph = story.of(trace.GraphCaptured)[0]
    captured = [name for name, op, *_ in graph.nodes if op == "call_function"]
    kept = [n for n in widget.trace["nodes"] if n["op"] == "call" and not n.get("dropped")]
    assert sorted(n["name"] for n in kept) == sorted(captured)
    assert widget.trace["events"][-1]["nodes"] == 3  # view, slice, and the output


def test_a_module_of_the_labs_own_has_no_instruction_to_show():
    with pytest.raises(ValueError, match=r"no instruction of yours.*lambda x: model\(x\)"):
        TraceStepper(torch.nn.Linear(2, 2), torch.ones(3, 2))


def wasteful(x):
    x * 2  # nobody reads it
    return x + 1


def test_what_nobody_reads_is_dropped_at_the_end():
    widget = TraceStepper(wasteful, ONES)
    dropped = [node["text"] for node in widget.trace["nodes"] if node.get("dropped")]
    assert dropped == ["x * 2"]
    assert widget.summary().startswith("1 operator (1 dropped), ")
    assert "(dropped: nobody reads it)" in repr(widget)


def test_a_long_call_is_told_to_the_end():
    def many(x, n):
        for _ in range(n):
            x = x + 1
        return x

    widget = TraceStepper(many, ONES, 600)
    assert widget.trace["hidden"] > 0
    assert len(operations(widget)) == 600
    assert widget.trace["events"][-1]["kind"] == "end"
    assert len(widget.trace["events"]) < 1600


def raising(x):
    return x + torch.ones(3)


def test_an_exception_of_the_call_is_the_users():
    with pytest.raises(RuntimeError, match="size of tensor"):
        TraceStepper(raising, ONES)


def test_a_compiled_function_is_read_anew():
    fn = torch.compile(block, backend="eager")
    fn(ONES, torch.zeros(4))
    widget = TraceStepper(fn, ONES, torch.zeros(4))
    assert operations(widget) == ["x + bias", "relu(add)", "relu * 2"]


def test_text_and_picture_name_no_instruction_and_no_path(capsys):
    for fn, args in ((block, (ONES, ONES)), (printing, (ONES,)), (calling, (ONES,))):
        widget = TraceStepper(fn, *args)
        told = repr(widget) + widget.picture()
        for name in ("LOAD_", "STORE_", "CALL", "RETURN_", "BINARY_OP"):
            assert name not in told
        assert str(Path(__file__).parent) not in told + json.dumps(widget.trace)
        ElementTree.fromstring(widget.picture())


def test_the_trace_is_plain_and_the_same_each_time(capsys):
    first = TraceStepper(calling, ONES)
    assert json.loads(json.dumps(first.trace, allow_nan=False)) == first.trace
    assert "0x" not in json.dumps(first.trace)
    reset()
    again = TraceStepper(calling, ONES)
    assert again.trace == first.trace and again.picture() == first.picture()


def test_the_still_picture_travels_beside_the_widget():
    widget = TraceStepper(block, ONES, ONES)
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget) and data["image/svg+xml"] == widget.picture()


def test_code_that_was_generated_has_lines_but_no_text():
    scope: dict = {}
    exec("def made(x):\n    y = x + 1\n    return y * 2\n", scope)
    widget = TraceStepper(scope["made"], ONES)
    (listing,) = widget.trace["listings"]
    assert listing["lines"] == ["# made: no source", "", ""]
    assert {e["at"]["line"] for e in beats(widget)} >= {1, 2}
    ElementTree.fromstring(widget.picture())


def test_a_guard_of_a_librarys_line_names_its_file():
    def replaced(x):
        return dataclasses.replace(Pair(x, 1), count=2).first + 1

    guards = TraceStepper(replaced, ONES).trace["guards"]
    files = {guard["text"]: guard.get("file") for guard in guards if "line" in guard}
    assert files["x.size() == (4,)"] is None
    assert "dataclasses.py" in files.values()
