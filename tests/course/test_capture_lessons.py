"""Lessons 02 and 05: a right answer passes, and each wrong one is told its belief."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import trace
from labcore.testing import course

PASSED = "Public checks passed."


def unrolled(x, n):
    for _ in range(n):
        x = x + 1
    return x


def over_the_elements(x, n):
    for _ in range(x.shape[0]):
        x = x + 1
    return x


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (unrolled, PASSED),
        (lambda x, n: x + n, "let a Python loop add 1"),
        (over_the_elements, "8 is the length of x"),
        (lambda x, n: 7, "expected a tensor of x's shape, found an int"),
        (lambda x, n: None, "is a `return` missing?"),
        (lambda x, n: 1 / 0, "ZeroDivisionError"),
        (lambda x, n: ..., "Not begun"),
    ],
)
def test_repeat(fn, word):
    assert word in repr(course.repeat(fn))


def right_edges(gm):
    return [(g.name, node.name) for node in gm.graph.nodes for g in node.all_input_nodes]


def neighbours(gm):
    names = [node.name for node in gm.graph.nodes]
    return list(zip(names, names[1:]))


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (right_edges, PASSED),
        (lambda gm: [(g, n) for n in gm.graph.nodes for g in n.all_input_nodes], PASSED),
        (neighbours, "neighbours in the list"),
        (lambda gm: [pair[::-1] for pair in right_edges(gm)], "Turned round"),
        (lambda gm: [pair for pair in right_edges(gm) if pair[1] != "output"], "reads a node as"),
        (lambda gm: 3, "expected pairs of names, found 3"),
        (lambda gm: [(1, 2)], "expected pairs of names"),
        (lambda gm: ..., "Not begun"),
    ],
)
def test_edges(fn, word):
    assert word in repr(course.edges(fn))


def test_own_backend():
    notes = ["left from before"]

    def backend(gm, example_inputs):
        notes.extend(node.target_name for node in gm.graph.calls)
        return gm.forward

    assert course.own_backend(backend, notes).passed
    tensor = repr(course.own_backend(lambda gm, inputs: inputs[0], notes))
    assert "answers with a callable" in tensor

    def everything(gm, example_inputs):
        notes.extend(node.name for node in gm.graph.nodes)
        return gm.forward

    assert "Inputs and the output" in repr(course.own_backend(everything, notes))
    assert "Not begun" in repr(course.own_backend(lambda gm, inputs: ..., notes))
    assert "is a `return` missing?" in repr(course.own_backend(lambda gm, inputs: None, notes))
    assert "expected a list of notes" in repr(course.own_backend(backend, None))


def broken(x):
    a = x + 1
    torch.compiler.graph_break()
    b = x[0] * 2
    torch.compiler.graph_break()
    return a, b, x[:2] * 3


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda x: (x + 1, x[0] * 2, x[:2] * 3), PASSED),
        (lambda x: (x + 1, x * 2, x * 3), "1 so far"),
        (lambda x: (x + 1, x.sum(0), x.sum()), "a sum's too"),
        (broken, "A break makes another graph"),
        (lambda x: ..., "Not begun"),
    ],
)
def test_one_graph(fn, word):
    assert word in repr(course.one_graph(fn))


def moved(x, watch):
    y = x * 3
    out = (y + 1).relu()
    watch(y)
    return out


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (moved, PASSED),
        (lambda x, watch: (watch(x * 3) + 1).relu(), "Two regions"),
        (lambda x, watch: (x * 3 + 1).relu(), "nobody watches"),
        (lambda x, watch: watch((x * 3 + 1).relu()), "watch saw another value"),
        (lambda x, watch: ..., "Not begun"),
    ],
)
def test_one_region(fn, word):
    assert word in repr(course.one_region(fn))


def breaks(x):
    y = x + 1
    torch.compiler.graph_break()
    return y * 2


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (breaks, lambda x: x + 1, PASSED),
        (breaks, breaks, "One function cannot be both"),
        (breaks, lambda x: breaks(x), "The second breaks too"),
        (lambda x: print(end="") or 1, lambda x: x + 1, "nothing to capture"),
        (lambda x: ..., lambda x: ..., "Not begun"),
    ],
)
def test_two_events(first, second, word):
    assert word in repr(course.two_events(first, second))


def chosen(x):
    h = x + 1
    return torch.where(h.sum() > 0, h * 2, h - 1)


def branching(x):
    h = x + 1
    return h * 2 if h.sum() > 0 else h - 1


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (chosen, PASSED),
        (branching, "A number is still asked for"),
        (lambda x: torch.where(x + 1 > 0, (x + 1) * 2, x), "each element for its own sign"),
        (lambda x: 0, "expected a tensor, found an int"),
        (lambda x: torch.where(True, x, x), "at `(lambda x: torch.where(True, x, x)"),
        (lambda x: ..., "Not begun"),
    ],
)
def test_no_branch(fn, word):
    assert word in repr(course.no_branch(fn))


WORDS = ["shifted", "scaled", "clipped", "centred"]


def quiet(x, report):
    y = (((x + 1) * 2).relu() - 3) / 2
    report(WORDS)
    return y


def four_times(x, report):
    for word in WORDS:
        report(word)
    return (((x + 1) * 2).relu() - 3) / 2


def early(x, report):
    y = (x + 1) * 2
    report(WORDS)
    return (y.relu() - 3) / 2


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (quiet, PASSED),
        (early, "let it be last"),
        (four_times, "Each call of report is a crossing"),
        (lambda x, report: (((x + 1) * 2).relu() - 3) / 2, "Nothing was reported"),
        (lambda x, report: ..., "Not begun"),
    ],
)
def test_gathered(fn, word):
    assert word in repr(course.gathered(fn))


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda recorder, us: us * len(recorder.of(trace.Handover)), PASSED),
        (lambda recorder, us: us * len(recorder.of(trace.GraphBreak)), "a call pays whenever"),
        (lambda recorder, us: len(recorder.of(trace.Handover)), "each costs its microseconds"),
        (lambda recorder, us: "160", "expected a number of µs"),
        (lambda recorder, us: ..., "Not begun"),
    ],
)
def test_bill(fn, word):
    told = repr(course.bill(fn))
    assert word in told
    assert word != PASSED or "4 layers, 8 crossings, in µs: expected 160, found 160" in told
