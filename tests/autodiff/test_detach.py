"""`detach` in a graph: the same memory, no history, nothing for a backward to do."""
from __future__ import annotations

import pytest

import labcore as torch
from labcore.compiler import compile as lab_compile
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import AotGraph, GraphBreak, record

BACKENDS = ["eager", "aot_eager", "inductor"]


def computed(x):
    return (x * 2).detach()


def beside_its_source(x):
    z = x * 2
    d = z.detach()
    return z, d, d * x, d[0]


def of_an_input(x):
    return x.detach(), x.detach()[1:] * x[1:]


def of_a_view(x):
    return x[1:].detach().view(-1)


def told(x):
    d = x.detach()
    return torch.full((2,), float(d.requires_grad)), d is x, d


def under_no_grad(x):
    with torch.no_grad():
        d = x.detach()
    return d * x


def of_an_equal_value(x):
    """What is computed twice alike is one value, and its history is not that of the other."""
    return (x * x).detach() * (x * x) + x.detach() * x.detach() * (x * x)


def computed_without_and_with_a_history(x):
    with torch.no_grad():
        a = x * x
    b = x * x
    return a, b, a * 2 + b


PROGRAMS = [
    computed, beside_its_source, of_an_input, of_a_view, told, under_no_grad, of_an_equal_value,
    computed_without_and_with_a_history,
]


def picture(result, x):
    """Values, what the tape says, the gradient, and who shares memory."""
    tensors = [t for t in (result if isinstance(result, tuple) else (result,)) if t is not False]
    told = [(t.tolist(), t.requires_grad, t.is_leaf, t._base is None, t._version) for t in tensors]
    for tensor in tensors:
        if tensor.requires_grad:
            tensor.sum().backward(retain_graph=True)
    gradient = None if x.grad is None else x.grad.tolist()
    shared = []
    for tensor in tensors:
        before = [t.tolist() for t in (*tensors, x)]
        with torch.no_grad():
            tensor.fill_(77)
        shared.append([t.tolist() != b for t, b in zip((*tensors, x), before)])
    return told, gradient, shared


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_like_eager(program, backend):
    compiled = lab_compile(program, backend=backend)
    for wanted in (True, False, True):
        found = []
        with record() as trace:
            for run in (program, compiled):
                x = torch.arange(4.0, requires_grad=wanted)
                found.append(picture(run(x), x))
        assert found[0] == found[1]
        assert not trace.of(GraphBreak)


def test_it_is_an_operator_of_the_graph():
    counter = CompileCounter()
    lab_compile(beside_its_source, backend=counter)(torch.ones(2, requires_grad=True))
    names = [node.target_name for node in counter.graphs[0].graph.calls]
    assert names == ["mul", "detach", "mul", "select"]


def test_no_backward_for_what_is_only_seen_detached():
    with record() as trace:
        lab_compile(computed, backend="aot_eager")(torch.ones(2, requires_grad=True))
    assert [graph.phase for graph in trace.of(AotGraph)] == ["inference"]
