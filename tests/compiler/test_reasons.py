"""Reasons for breaks: each is registered, told once where it happened, and counted alike by all."""

from __future__ import annotations

import ast
import linecache
import math
import re
import string
import time
from pathlib import Path

import pytest

import labcore as torch
from labcore import compiler
from labcore.capture import REASONS, Break, Reason
from labcore.compiler.exc import Unsupported
from labcore.trace import GraphBreak, from_json, record

ROOT = Path(torch.__file__).parent


# ---- the registry -------------------------------------------------------------------------------


def calls():
    """Every `Break("id", ...)` of the source, and what stands for one: where, id, particulars."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Break", "_stops"):
                names = [keyword.arg for keyword in node.keywords]
                for id in ids(node.args[0]):
                    yield f"{path.name}:{node.lineno}", id, names


def ids(node):
    if isinstance(node, ast.IfExp):
        return ids(node.body) + ids(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) else []


def particulars(reason: Reason) -> set[str]:
    texts = (reason.what, reason.why, reason.hint, reason.leave)
    return {name for text in texts for _, name, *_ in string.Formatter().parse(text) if name}


def test_every_break_has_a_reason_and_gives_what_its_text_names():
    for where, id, names in calls():
        assert id in REASONS, f"{where}: {id!r} is registered nowhere"
        if None not in names:  # **particulars
            assert {*names} >= particulars(REASONS[id]), f"{where}: {id!r} wants more"


def test_every_reason_is_given_somewhere():
    assert {id for _, id, _ in calls()} >= {*REASONS}


# ---- what a break says --------------------------------------------------------------------------


def innermost(x):
    y = x * 2
    print(y.sum() > 0, end="")
    return y


def middle(x):
    return innermost(x + 1) - 1


def outermost(x):
    return middle(x) * 3


def breaks(function, *args):
    with record() as trace:
        torch.compile(function, backend="eager")(*args)
    return trace.of(GraphBreak)


def raises_again(x):
    try:
        x = x * {}["missing"]
    except KeyError as error:
        error.add_note("noted")
        raise
    return x


def test_a_place_without_a_line_is_the_one_before_it():
    with record() as trace, pytest.raises(KeyError):
        torch.compile(raises_again, backend="eager")(torch.ones(1))
    first = raises_again.__code__.co_firstlineno
    lines = [told.origin.line - first for told in trace.of(GraphBreak)]
    assert lines and 0 not in lines


def test_the_calls_that_led_there_are_told_outermost_first(capsys):
    (told,) = breaks(outermost, torch.ones(1))
    assert [place.function for place in told.user_stack] == ["outermost", "middle", "innermost"]
    assert told.origin.function == "innermost" and told.reason == told.what
    with record() as trace:
        torch.compile(outermost, backend="eager")(torch.ones(1))
    text = trace.text("graph_breaks")
    lines = text.split("\n")
    assert lines[0] == "call of print() [side-effect-call]"
    shown = [line.strip() for line in lines if line.startswith("    ") and "^" not in line]
    assert shown[:3] == [
        "return middle(x) * 3",
        "return innermost(x + 1) - 1",
        'print(y.sum() > 0, end="")',
    ]
    assert "           ^^^^^^^^^\n" in text  # under `middle(x)`
    assert "\n  Why: " in text and "\n  What to do: " in text
    assert from_json(told.to_json()) == told


def test_the_middle_of_a_deep_stack_is_left_out():
    def down(x, n):
        if n:
            return down(x + 1, n - 1)
        compiler.graph_break()
        return x

    with record() as trace:
        torch.compile(lambda x: down(x, 20), backend="eager")(torch.ones(1))
    (told,) = trace.of(GraphBreak)
    assert len(told.user_stack) == 22
    text = trace.text("graph_breaks")
    assert text.count("return down(") == 4 and "  ... 16 more calls ..." in text


def test_fullgraph_raises_the_text_without_advice_to_leave_it_and_runs_nothing(capsys):
    with pytest.raises(Unsupported) as caught:
        torch.compile(outermost, backend="eager", fullgraph=True)(torch.ones(1))
    assert isinstance(caught.value, RuntimeError) and capsys.readouterr().out == ""
    with record() as trace:
        torch.compile(outermost, backend="eager")(torch.ones(1))
    text, told = str(caught.value), trace.text("graph_breaks")
    assert text.endswith("What to do: Move it before or after the compiled function.")
    rest = told.removeprefix(text.removesuffix("."))
    assert " ".join(rest.split()) == ", or leave it: what stands around it is compiled."
    assert caught.value.event == trace.of(GraphBreak)[0].__class__(**vars(caught.value.event))


@pytest.mark.parametrize(("id", "reason"), REASONS.items())
def test_no_reason_advises_to_leave_an_error(id, reason):
    stop = Break(id, **dict.fromkeys(particulars(reason), "f"))
    assert "eave it" not in stop.event(error=True).hint
    assert ("or leave it: " in stop.event().hint) == bool(reason.leave)


NAMED = {
    "time.perf_counter()": lambda x: x * time.perf_counter(),
    "set.union()": lambda x: set.union([1]) and x,
    "math.fsum() of a list": lambda x: x * math.fsum([object()]),
}


@pytest.mark.parametrize("name", NAMED)
def test_functions_in_c_are_named_as_the_program_names_them(name):
    with pytest.raises(Unsupported, match=re.escape(name)):
        torch.compile(NAMED[name], backend="eager", fullgraph=True)(torch.ones(1))


def test_a_cell_of_a_notebook_has_its_lines_too():
    cell = "def f(x):\n    y = x + 1\n    print(end='')\n    return y\n"
    name = "/tmp/ipykernel_4711/2842.py"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    scope = {}
    exec(compile(cell, name, "exec"), scope)
    with record() as trace:
        torch.compile(scope["f"], backend="eager")(torch.ones(1))
    text = trace.text("graph_breaks")
    assert "  Cell, line 3, in f\n    print(end='')\n    ^^^^^^^^^^^^^" in text


# ---- everybody counts the same ------------------------------------------------------------------


def in_a_loop(x):
    for k in range(5):
        x = x + 1
        print(k, end="")
    return x


def in_a_branch(x):
    if x.sum() > 100:
        return x
    if x.sum() < 50:
        print(end="")
    return x * 2


def straight(x):
    return x + 1


def in_two_places(x):
    print(end="")
    y = middle(x)
    return y.sum().item()


@pytest.mark.parametrize("function", [in_a_loop, in_a_branch, straight, in_two_places])
def test_explain_the_log_and_the_counters_agree(function, capsys):
    counters = torch._dynamo.utils.counters
    counters.clear()
    told = compiler.explain(function)(torch.ones(2))
    counted = {what: sum(numbers.values()) for what, numbers in counters.items()}
    text = told.trace.text("graph_breaks")
    assert told.graph_break_count == counted.get("graph_break", 0) == text.count("What to do")
    assert told.graph_count == counters["stats"]["unique_graphs"]
    assert told.op_count == counters["stats"]["calls_captured"] == sum(map(len, told.ops_per_graph))
    assert len({(e.break_id, e.origin) for e in told.break_reasons}) == told.graph_break_count
    for reason in told.break_reasons:
        assert reason.what in str(told) and reason.hint[:20] in str(told)


def test_what_explain_prints(capsys):
    compiler.reset()
    text = str(compiler.explain(in_a_loop)(torch.ones(2)))
    assert text.startswith("Graph Count: 1\nGraph Break Count: 1\nOp Count: 1\nBreak Reasons:\n")
    assert "  Ops 1: add\n  [1/0] reuses the graph of [0/0]\n" in text
    assert "Break Reasons: none\n" in str(compiler.explain(straight)(torch.ones(2)))
