"""Equal graphs are compiled once: what is equal, what is not, and what is said about it."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import GraphCaptured, facts, record


def around_a_break(first, second):
    """Two regions of one function, with these expressions."""
    scope = {"torch": torch, "graph_break": compiler.graph_break}
    text = f"def f(x):\n    y = {first}\n    graph_break()\n    x = y\n    return {second}\n"
    exec(text, scope)
    return scope["f"]


def backend_calls(function, *inputs, **options):
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter, **options)
    for x in inputs:
        want = function(x)
        for _ in range(2):
            assert repr(compiled(x)) == repr(want)
    return counter.frame_count


X = torch.tensor([0.5, -2.0])


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("x * 2 + 1", "x * 2 + 1", 1),
        ("x * 2 + 1", "x * 2 - 1", 2),
        ("x * 2 + 1", "x * 3 + 1", 2),
        ("x * 2", "x * 2.0", 2),
        ("x * 0.0", "x * -0.0", 2),
        ("x * True", "x * 1", 2),
        ("x - x.relu()", "x.relu() - x", 2),
        ("x.sum(0, keepdim=True)", "x.sum(0, True)", 2),  # written differently
        ("x.relu().view(2)", "x.relu().view(2)", 1),
        ("x.relu().view(2, 1)", "x.relu().view(2)", 2),
        ("(x * 2).double()", "x * 2", 2),  # the second input is another type
        ("torch.zeros_like(x)", "torch.zeros_like(x)", 1),
    ],
)
def test_what_is_equal(first, second, count):
    assert backend_calls(around_a_break(first, second), X) == count


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("x * 2 + 1", "x * 2 + 1", 1),
        ("x * 2 + x.shape[0]", "x * 2 + x.shape[0]", 1),
        ("x * 2 + x.shape[0]", "x * 2 + 2 * x.shape[0]", 2),
        ("x * 2", "(x if x.shape[0] > 3 else 0) * 2", 2),  # more is known of the size
        ("x[: x.shape[0] // 2]", "x[: x.shape[0] // 2]", 1),
    ],
)
def test_what_is_equal_with_symbols(first, second, count):
    f = around_a_break(first, second)
    assert backend_calls(f, torch.ones(8), torch.ones(9), dynamic=True) == count


def test_symbols_are_told_apart_by_their_place():
    def f(n, x):
        while n > 0:  # once more a symbol of the caller's, then none
            x = x + 1
            n -= 1
            compiler.graph_break()
        return x

    assert backend_calls(lambda x: f(3, x), torch.ones(4), torch.ones(5), dynamic=True) == 1
    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter, dynamic=True)
    assert compiled(3, torch.ones(4)).tolist() == [4.0] * 4
    assert counter.frame_count == 1


def taking_for_granted(condition):
    """A backend that rests on a condition on the first size, and has it checked."""
    calls = []

    def backend(gm, example_inputs):
        (node,) = (n for n in gm.graph.placeholders if not n.symbol)
        taken = condition(node.meta.shape[0])

        def run(*inputs):
            assert condition(inputs[-1].shape[0]) == taken
            return gm.forward(*inputs)

        calls.append(taken)
        return run

    return backend, calls


def test_what_a_backend_takes_for_granted_is_guarded_where_its_graph_is_shared():
    backend, calls = taking_for_granted(lambda size: size % 2 == 0)
    compiled = torch.compile(around_a_break("x * 2", "x * 2"), backend=backend, dynamic=True)
    for n, count in ((8, 1), (6, 1), (7, 2), (9, 2), (4, 2)):
        assert compiled(torch.ones(n)).tolist() == [4.0] * n
        assert len(calls) == count


def test_variants_share_graphs_and_modes_do_not():
    def f(x, k):
        return x * 2 if k else x * 2

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    compiled(X, 0), compiled(X, 1)
    assert counter.frame_count == 1
    with torch.no_grad():
        compiled(X, 1)
    assert counter.frame_count == 2
    compiled(torch.ones(2, requires_grad=True), 1)
    assert counter.frame_count == 3


def test_two_compiled_functions_share_nothing():
    counter = CompileCounter()
    for _ in range(2):
        torch.compile(lambda x: x + 1, backend=counter)(X)
    assert counter.frame_count == 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_gradients_through_a_shared_graph(backend):
    f = around_a_break("x.exp() * 2", "x.exp() * 2")
    x = torch.tensor([0.1, 0.2], requires_grad=True)
    y = torch.tensor([0.1, 0.2], requires_grad=True)
    f(x).sum().backward()
    torch.compile(f, backend=backend)(y).sum().backward()
    torch.testing.assert_close(y.grad, x.grad)


def test_it_is_told_and_not_counted_as_a_graph():
    compiler.reset()
    f = around_a_break("x * 2 + 1", "x * 2 + 1")
    with record() as trace:
        torch.compile(f, backend="eager")(X)
    assert [e.reused for e in trace.of(GraphCaptured)] == ["", "0/0"]
    assert "reused the graph of [0/0]" in trace.text("graph_code")
    assert facts(trace).captures == 1
    told = compiler.explain(f)(X)
    assert (told.graph_count, told.graph_break_count, told.op_count) == (1, 1, 2)


def test_reset_forgets_them():
    counter = CompileCounter()
    compiled = torch.compile(lambda x: x + 1, backend=counter)
    compiled(X)
    compiler.reset()
    compiled(X)
    assert counter.frame_count == 2
