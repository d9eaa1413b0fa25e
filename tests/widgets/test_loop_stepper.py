"""LoopStepper: what the handlers answer, in the widget, its text and its picture."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import traitlets

import labcore as torch
from labcore import cuda, trace
from labcore.fusion import count_in_source
from tests.widgets import bodies_fixture
from tests.widgets.bodies_fixture import ROWS, rows
from tests.widgets.programs import PROGRAMS, block
from widgets import LoopStepper
from widgets._bodies_still import result_of

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
X = torch.tensor(ROWS)


@pytest.fixture
def card():
    """A simulated one."""
    cuda.simulate()
    yield
    cuda.simulate(False)


def handler(body, name):
    return next(each for each in body["handlers"] if each["id"] == name)


def test_the_text():
    assert repr(LoopStepper(block)).splitlines() == [
        "LoopStepper(block, after fusion: add + relu + mul, 7 questions)",
        '  v0 = ops.load("x", i0)',
        '  v1 = ops.load("bias", i0)',
        "  v2 = ops.add(v0, v1)",
        "  v3 = ops.relu(v2)",
        "  v4 = ops.constant(2, float32)",
        "  v5 = ops.mul(v3, v4)",
        '  ops.store("mul", i0, v5)',
        "  ShowNest:    7 lines",
        "  Reads:       reads x[i0], bias[i0]; writes mul[i0]",
        "  Count:       12 accesses",
        "  Interpreter: mul[3] = 6 at i0 = 3",
        "  CpuPrinter:  12 lines",
        "  GridPrinter: 20 lines",
    ]


def test_three_bodies_before_fusion_make_28_accesses():
    bodies = LoopStepper(block).trace["before"]
    assert [body["title"] for body in bodies] == ["add", "relu", "mul"]
    assert [result_of(handler(body, "count"), -1) for body in bodies] == [
        "12 accesses", "8 accesses", "8 accesses",
    ]
    assert LoopStepper(block, when="before", body=2).shown["title"] == "mul"


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_the_ledgers_of_the_compiled_call(name):
    program = PROGRAMS[name]
    widget = LoopStepper(program.fn, *program.inputs)
    with trace.record() as story:
        torch.compile(program.fn)(*program.inputs)
    (ledger,) = story.of(trace.Accesses)
    for when, wanted in (("before", ledger.separate), ("after", ledger.fused)):
        found = [result_of(handler(body, "count"), -1) for body in widget.trace[when]]
        assert sum(int(told.split(" ")[0]) for told in found) == wanted


@pytest.mark.parametrize("fn", [rows, lambda x: (x.sum(0), x.sum(1)), lambda x: x.t() + 1])
def test_the_kernel_is_the_one_that_is_compiled(fn):
    with trace.record() as story:
        torch.compile(fn)(X)
    kernels = [kernel.source for kernel in story.of(trace.KernelReady)]
    bodies = LoopStepper(fn, X).trace["after"]
    for body, source in zip(bodies, kernels, strict=True):
        lines = [line["text"] for line in handler(body, "numba")["lines"]]
        code = [line.split("  # ")[0].rstrip() for line in source.splitlines()]
        assert lines == code
        assert count_in_source("\n".join(lines)).loads == count_in_source(source).loads


@pytest.mark.parametrize(
    "fn", [rows, lambda x: x.sum(0), lambda x: x.t() + 1, lambda x: x.cumsum(0)]
)
def test_the_cuda_kernels_are_those_that_a_card_gets(fn, card):
    with trace.record() as story:
        torch.compile(fn)(X.to("cuda"))
    kernels = story.of(trace.KernelReady)
    (body,) = LoopStepper(fn, X).trace["after"]
    lines = [line["text"] for line in handler(body, "cuda")["lines"]]
    heads = [line for line in lines if line.startswith("# launched as [")]
    code = [line.split("  # ")[0].rstrip() for k in kernels for line in k.source.splitlines()]
    assert [line for line in lines if line not in heads] == code
    assert len(heads) == len(kernels)
    since = [line["since"] for line in handler(body, "cuda")["lines"]]
    assert since[0] == 0 and max(since) == len(body["questions"]) - 1


def test_what_runs_after_the_last_row_is_not_for_a_card():
    (body,) = LoopStepper(lambda x: x.mean(0), X).trace["after"]
    told = handler(body, "cuda")
    assert "none" in told["lines"][0]["text"] and {step["answer"] for step in told["steps"]} == {""}
    before = LoopStepper(lambda x: x.mean(0), X).trace["before"]
    assert any("cuda.blockIdx" in str(handler(each, "cuda")) for each in before)


def test_the_interpreter_tells_the_values_of_eager_mode():
    widget, want = LoopStepper(rows, X), rows(X).reshape(-1).tolist()
    (body,) = widget.trace["after"]
    told = [result_of(handler(body, "interpret"), turn) for turn in range(8)]
    for k, (line, value) in enumerate(zip(told, want)):
        place, number = line.split(" at ")[0].split(" = ")
        assert place == f"div[{k}]" and float(number) == pytest.approx(value, rel=1e-5)


def test_every_handler_answers_every_question():
    for fn, args in ((block, ()), (rows, (X,)), (lambda x: x.sum(), (X,))):
        for when in ("before", "after"):
            for body in LoopStepper(fn, *args).trace[when]:
                for each in body["handlers"]:
                    for turn in each.get("turns", [each]):
                        assert len(turn["steps"]) == len(body["questions"])
                    ends = {line["since"] for line in each.get("lines", ())}
                    assert ends <= set(range(len(body["questions"])))


def test_a_line_is_there_with_the_question_that_made_it():
    (body,) = LoopStepper(rows, X).trace["after"]
    lines = {line["text"].strip(): line["since"] for line in handler(body, "show")["lines"]}
    asked = [question["text"] for question in body["questions"]]
    assert asked[lines["tmp3 = exp(tmp2)"]] == "v4 = ops.exp(v3)"
    assert asked[lines["sum sum <- tmp3"]].startswith('ops.reduce("sum"')


def test_what_is_read_and_written_where_other_values_say():
    place = torch.tensor([1, 0, 1])
    read = LoopStepper(lambda x, i: x.index_select(0, i) * 2, X, place)
    assert "x[7] = 3" in str(read.shown) and "ops.place" in repr(read)
    written = LoopStepper(lambda x, i: x.index_add(0, i, torch.ones(3, 4)), X, place)
    bodies = [body for body in written.trace["after"] if "scatter" in str(body.get("questions"))]
    assert bodies and "writes index_add[" in str([result_of(h, -1) for h in bodies[0]["handlers"]])


def test_external_calls_have_no_body():
    widget = LoopStepper(lambda x: torch.relu(x @ x + 1), torch.ones(2, 2))
    first, second = widget.trace["after"]
    assert first["title"] == "matmul" and "BLAS" in first["extern"]
    assert widget.shown is second
    with pytest.raises(ValueError, match="has no loops, only external calls"):
        LoopStepper(lambda x: x @ x, torch.ones(2, 2))


def test_a_training_graph_has_the_users_names():
    widget = LoopStepper(block, torch.ones(4, requires_grad=True), torch.ones(4))
    assert '  v0 = ops.load("x", i0)' in repr(widget).splitlines()


def test_questions_of_the_bodies_are_what_lesson_09_says():
    trace = LoopStepper(block, torch.ones(4), torch.ones(4)).trace
    apart, fused = (
        sum(len(body["questions"]) for body in trace[when]) for when in ("before", "after")
    )
    lesson = (NOTEBOOKS / "09_loops_you_can_run.ipynb").read_text(encoding="utf-8")
    assert lesson.count(f"| {apart} | {fused} |") == 2, "in both languages"


def test_the_second_graph_of_a_call():
    def broken(x):
        y = torch.sin(x)
        print("between")
        return torch.exp(y)

    second = LoopStepper(broken, torch.ones(4), graph=1)
    assert second.shown["title"] == "exp"
    assert repr(second).startswith("LoopStepper(broken, graph=1 of 2 graphs, after fusion")
    assert second.trace["graph"] == {"number": 1, "last": 1, "count": 2}
    with pytest.raises(ValueError, match=r"this call has 2 graph\(s\), numbered from 0"):
        LoopStepper(broken, torch.ones(4), graph=2)


def test_what_it_cannot_show():
    with pytest.raises(ValueError, match="no tensor arithmetic"):
        LoopStepper(lambda x: x, torch.ones(4))
    with pytest.raises(ValueError, match="takes 50000: give it smaller tensors"):
        LoopStepper(block, torch.ones(10_000), torch.ones(10_000))
    with pytest.raises(RuntimeError, match="must match the size"):
        LoopStepper(block, torch.ones(4), torch.ones(3))
    with pytest.raises(traitlets.TraitError):
        LoopStepper(block, when="later")


def test_the_trace_is_plain_and_the_same_each_time():
    told = LoopStepper(rows, X).trace
    assert json.loads(json.dumps(told, allow_nan=False)) == told == LoopStepper(rows, X).trace


def test_the_picture():
    widget = LoopStepper(block)
    svg = ElementTree.fromstring(widget.picture())
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "12 accesses" in texts and "v2 = ops.add(v0, v1)" in texts
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["image/svg+xml"] == widget.picture() and bundle["text/plain"] == repr(widget)


def test_the_fixture_is_up_to_date():
    assert bodies_fixture.FILE.read_text() == bodies_fixture.printed(), (
        "run: python -m tests.widgets.bodies_fixture"
    )
