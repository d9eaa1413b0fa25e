"""Ways out: what user code says about capture is done, and the answer is the same."""

from __future__ import annotations

import functools
import math
import operator

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.exc import Unsupported
from labcore.trace import GraphBreak, record

BACKENDS = ["eager", "aot_eager", "inductor"]
X = torch.tensor([0.5, -2.0])


def run(function, *args, **options):
    """The breaks and the counter of a first call, which gives what eager gives, as a second."""
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter, **options)
    want = function(*args)
    with record() as trace:
        assert repr(compiled(*args)) == repr(want)
    assert repr(compiled(*args)) == repr(want)
    return counter, [e.break_id for e in trace.of(GraphBreak)]


# ---- disable, skip_frame, graph_break -----------------------------------------------------------


def helper(x):
    return x.relu() + 1


@compiler.disable(recursive=False)
def only_this_frame(x):
    y = x * 3
    return helper(y)


@compiler.disable
def with_all_callees(x):
    y = x * 3
    return helper(y)


def test_disable_runs_the_callees_eagerly_too():
    counter, breaks = run(lambda x: with_all_callees(x + 1) * 2, X)
    assert breaks == ["disabled-call"] and (counter.frame_count, counter.op_count) == (2, 2)


def test_disable_of_one_frame_compiles_what_it_calls():
    counter, breaks = run(lambda x: only_this_frame(x + 1) * 2, X)
    assert breaks == ["skipped-frame"] and counter.op_count == 4  # all but `x * 3`
    counter, breaks = run(only_this_frame, X)
    assert breaks == ["skipped-frame"] and counter.op_count == 2
    with pytest.raises(Unsupported, match="operator mul in only_this_frame"):
        torch.compile(only_this_frame, backend="eager", fullgraph=True)(X)


class Scaler:
    def __init__(self, k=2):
        self.k = k

    def __call__(self, x):
        return x * self.k

    def scale(self, x):
        return x * self.k


def test_disable_of_objects_methods_and_classes():
    scaler = Scaler()
    for off in (
        compiler.disable(scaler),
        compiler.disable(scaler.scale),
        compiler.disable(functools.partial(operator.mul, 2)),
    ):
        counter, breaks = run(lambda x, off=off: off(x + 1) + 1, X)
        assert breaks == ["disabled-call"] and counter.frame_count == 1

    @compiler.disable
    class Off(Scaler):
        def __call__(self, x):
            return x * self.k

    off = Off(3)
    assert isinstance(off, Off) and off.k == 3
    counter, breaks = run(lambda x: off(x + 1), X)
    assert breaks == ["disabled-call"] and counter.op_count == 1


def test_disable_of_what_cannot_be_called():
    with pytest.raises(TypeError, match="expects a function, got int"):
        compiler.disable(3)
    with pytest.raises(TypeError, match="recursive=False"):
        compiler.disable(len, recursive=False)


def test_skip_frame():
    def inner(x):
        x = x + 1
        torch._dynamo.skip_frame("not this one")
        return helper(x * 2)

    counter, breaks = run(lambda x: inner(x * 3) * 5, X)
    assert breaks == ["skipped-frame"] * 2  # `x + 1` and `x * 2`, both of the frame's own
    assert counter.op_count == 4
    compiler.reset()
    with pytest.raises(Unsupported, match="skip_frame"):
        torch.compile(inner, backend="eager", fullgraph=True)(X)


def test_graph_break_has_a_message():
    def f(x):
        y = x + 1
        compiler.graph_break(msg="here, please")
        return y * 2

    counter, breaks = run(f, X)
    assert breaks == ["graph-break-call"] and counter.frame_count == 2
    with pytest.raises(Unsupported, match="here, please"):
        torch.compile(f, backend="eager", fullgraph=True)(X)


# ---- allow_in_graph, nonstrict_trace ------------------------------------------------------------


def softplus(x, scale=1.0, *, shift=0.0):
    for _ in range(2):  # what capture would unroll
        x = x * scale
    return (x.exp() + 1).log() + shift


compiler.allow_in_graph(softplus)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_as_one_node(backend):
    f = lambda x: softplus(x + 1, 0.5, shift=2.0) * 2
    compiled = torch.compile(f, backend=backend, fullgraph=True)
    for _ in range(2):
        torch.testing.assert_close(compiled(X), f(X))
    x, y = (torch.tensor([0.5, -2.0], requires_grad=True) for _ in range(2))
    f(x).sum().backward(), compiled(y).sum().backward()
    torch.testing.assert_close(y.grad, x.grad)


def test_the_node_is_whole_in_the_graph_and_nothing_of_it_is_guarded():
    counter, breaks = run(lambda x: softplus(x + 1) * 2, X, fullgraph=True)
    names = [node.target.__name__.partition("_")[0] for node in counter.graphs[0].graph.calls]
    assert names == ["add", "softplus", "mul"] and not breaks
    node = counter.graphs[0].graph.calls[1]
    assert node.meta.shape == (2,) and node.origin.code == "softplus(x + 1)"


def test_two_functions_of_one_name_are_two_operators():
    def make(k):
        def scaled(x):
            return x * k

        return compiler.allow_in_graph(scaled)

    first, second = make(2), make(3)
    run(lambda x: first(x) + second(x), X, fullgraph=True)
    compiled = torch.compile(lambda x, f: f(x), backend="eager", fullgraph=True)
    assert [compiled(X, f).tolist() for f in (first, second)] == [[1.0, -4.0], [1.5, -6.0]]


@compiler.allow_in_graph
def parts(x, times=2):
    return x + 1, {"a": [x * times, None], "b": x.exp()}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_that_gives_several_tensors(backend):
    def f(x):
        first, rest = parts(x * 1, times=3)
        return first + rest["b"], rest["a"], parts(x)[1], rest

    compiled = torch.compile(f, backend=backend, fullgraph=True)
    for _ in range(2):
        want, got = f(X), compiled(X)
        assert list(got[3]) == ["a", "b"] and got[3]["a"] is got[1] and got[1][1] is None
        for place in (lambda r: r[0], lambda r: r[1][0], lambda r: r[2]["b"]):
            torch.testing.assert_close(place(got), place(want))
    x, y = (torch.tensor([0.5, -2.0], requires_grad=True) for _ in range(2))
    for function, leaf in ((f, x), (compiled, y)):
        total, rest = function(leaf)[:2]
        (total.sum() + rest[0].sum()).backward()
    torch.testing.assert_close(y.grad, x.grad)


def test_the_nodes_of_several_tensors():
    counter, breaks = run(lambda x: parts(x)[1]["a"][0] + 1, X, fullgraph=True)
    whole, first, *rest = counter.graphs[0].graph.calls
    assert whole.meta is None and first.args == (whole, 1, "a", 0) and first.meta.shape == (2,)
    assert len(rest) == 1 and not breaks


def test_what_is_no_new_tensor_is_a_break():
    @compiler.allow_in_graph
    def number(x):
        return x.sum().item()

    @compiler.allow_in_graph
    def size(x):
        return x + 1, x.ndim

    @compiler.allow_in_graph
    def itself(x):
        return x, x + 1

    @compiler.allow_in_graph
    def twice(x):
        y = x + 1
        return y, y[:1]

    def identity(x):
        first, second = itself(x)
        return first is x, second

    for f in (lambda x: size(x)[0] * 2, identity, lambda x: twice(x)[0] * 2):
        assert run(f, X)[1] == ["opaque-result"]
    assert run(lambda x: x * number(x), X)[1][0] == "tensor-to-python"
    with pytest.raises(TypeError, match="Python function"):
        compiler.allow_in_graph(3)


def test_nonstrict_trace_leaves_the_function_itself_alone():
    def inner(x):
        compiler.graph_break()
        return x.exp() + 1

    traced = torch._dynamo.nonstrict_trace(inner)
    counter, breaks = run(lambda x: traced(x) * 2, X, fullgraph=True)
    assert not breaks and [n.target.__name__ for n in counter.graphs[0].graph.calls] == [
        "inner",
        "mul",
    ]
    assert run(lambda x: inner(x) * 2, X)[1] == ["graph-break-call"]


# ---- assume_constant_result, substitute_in_graph ------------------------------------------------


def test_a_result_taken_for_constant():
    calls, table = [], {"k": 3}

    @compiler.assume_constant_result
    def looked_up(key):
        calls.append(key)
        return table[key]

    compiled = torch.compile(lambda x: x * looked_up("k"), backend="eager", fullgraph=True)
    assert compiled(X).tolist() == [1.5, -6.0] and calls == ["k"]
    table["k"] = 7
    assert compiled(X).tolist() == [1.5, -6.0] and calls == ["k"]


def test_constant_tensors_and_tensor_arguments():
    @compiler.assume_constant_result
    def weights(x):
        return x * 0 + 2

    run(lambda x: x * weights(x), X, fullgraph=True)
    counter, breaks = run(lambda x: x * weights(x + 1), X)
    assert breaks == ["constant-result"] and counter.op_count == 2  # `x + 1`, and the product

    @compiler.assume_constant_result
    def raises(k):
        raise KeyError(k)

    compiled = torch.compile(lambda x: x * raises(1), backend="eager")
    with pytest.raises(KeyError):
        compiled(X)


def test_a_substitute_is_read_in_place_of_the_function():
    def in_c(x, k):
        raise RuntimeError("not to be run")

    @compiler.substitute_in_graph(in_c)
    def in_python(x, k):
        return x * k

    compiled = torch.compile(lambda x: in_c(x, 2), backend="eager", fullgraph=True)
    assert compiled(X).tolist() == [1.0, -4.0]
    again = torch.compile(lambda x: in_python(x, 2), backend="eager", fullgraph=True)
    assert again(X).tolist() == [1.0, -4.0]
    with pytest.raises(RuntimeError, match="not to be run"):
        in_python(X, 2)
    with pytest.raises(ValueError, match="has a substitute already"):
        compiler.substitute_in_graph(in_c)(in_python.__wrapped__)


def test_a_substitute_of_a_function_in_c():
    @compiler.substitute_in_graph(operator.indexOf)
    def indexOf(a, b, /):
        for i, item in enumerate(a):
            if item == b:
                return i
        raise ValueError("sequence.index(x): x not in sequence")

    run(lambda x: x * operator.indexOf([1, 2, 3, 4, 5], 3), X, fullgraph=True)


def test_substitutes_that_make_no_sense():
    with pytest.raises(TypeError, match="expects a function but got <class 'int'>"):
        compiler.substitute_in_graph(3)
    with pytest.raises(TypeError, match="expects a Python function"):
        compiler.substitute_in_graph(math.isqrt)(math.sqrt)
    with pytest.raises(TypeError, match="Signature mismatch"):
        compiler.substitute_in_graph(math.isqrt)(lambda a, b: 42)
