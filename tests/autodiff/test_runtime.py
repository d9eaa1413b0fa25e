"""The compiled callable against eager mode: values, gradients, histories, memory, errors."""
from __future__ import annotations

import gc
import weakref

import pytest

import labcore as torch
from labcore import ops, trace
from labcore.autodiff import aot_compile
from labcore.graph import GraphModule

from .graphs import module_of


class Phases:
    """A compiler that runs the graph eagerly and remembers which it was asked for."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.graphs: dict[str, GraphModule] = {}

    def __call__(self, gm: GraphModule, phase: str):
        self.phases.append(phase)
        self.graphs[phase] = gm

        def run(box):
            arguments = list(box)
            box.clear()
            with torch.no_grad():
                return tuple(gm.forward(*arguments))
        return run


def compiled(function, *tensors, compiler=None, **more):
    gm = module_of(function, *[t.meta for t in tensors], **more)
    return aot_compile(gm, list(tensors), compiler or Phases())


def floats(*values, grad=False):
    return torch.tensor(list(values), dtype=torch.float32, requires_grad=grad)


def double_relu(x, bias):
    return ops.mul(ops.relu(ops.add(x, bias)), 2)


def test_the_running_example():
    x, bias = floats(-2.0, -1.0, 1.0, 2.0, grad=True), torch.ones(4, requires_grad=True)
    compiler = Phases()
    (y,) = compiled(double_relu, x, bias, compiler=compiler)(x, bias)
    assert y.tolist() == [0.0, 0.0, 4.0, 6.0] and y.requires_grad and not y.is_leaf
    assert compiler.phases == ["forward"]
    y.sum().backward()
    assert compiler.phases == ["forward", "backward"]
    assert x.grad.tolist() == bias.grad.tolist() == [0.0, 0.0, 2.0, 2.0]


def test_the_backward_is_compiled_once():
    x, bias = floats(1.0, 2.0, grad=True), floats(0.0, 0.0)
    compiler = Phases()
    f = compiled(double_relu, x, bias, compiler=compiler)
    for _ in range(3):
        f(x, bias)[0].sum().backward()
    assert compiler.phases == ["forward", "backward"]
    assert x.grad.tolist() == [6.0, 6.0], "gradients of three calls add up"
    assert bias.grad is None


def test_the_backward_may_have_its_own_compiler():
    x = floats(1.0, grad=True)
    forward, backward = Phases(), Phases()
    f = aot_compile(module_of(ops.exp, x.meta), [x], forward, backward)
    f(x)[0].sum().backward()
    assert (forward.phases, backward.phases) == (["forward"], ["backward"])


# ---- when no gradient is wanted -----------------------------------------------------------------

def test_no_input_requires_grad():
    x = floats(1.0, 2.0)
    compiler = Phases()
    (y,) = compiled(ops.exp, x, compiler=compiler)(x)
    assert compiler.phases == ["inference"] and not y.requires_grad
    assert [n.name for n in compiler.graphs["inference"].graph.placeholders] == ["x"]


def test_grad_mode_is_off():
    x = floats(1.0, 2.0, grad=True)
    compiler = Phases()
    with torch.no_grad():
        (y,) = compiled(ops.exp, x, compiler=compiler)(x)
    assert compiler.phases == ["inference"] and not y.requires_grad


def test_no_output_depends_on_what_requires_grad():
    x, y = floats(1.0, 2.0, grad=True), floats(3.0, 4.0)
    compiler = Phases()
    mask, other = compiled(lambda x, y: (ops.gt(x, 1), ops.exp(y)), x, y, compiler=compiler)(x, y)
    assert compiler.phases == ["inference"]
    assert not mask.requires_grad and not other.requires_grad


# ---- flags of the outputs -----------------------------------------------------------------------

def test_each_output_says_whether_it_requires_grad():
    x, y = floats(1.0, 2.0, grad=True), floats(3.0, 4.0)
    def function(x, y):
        return ops.gt(x, 1), ops.exp(y), ops.mul(x, y), ops.to(x, torch.int64)

    f = compiled(function, x, y)
    mask, plain, product, whole = f(x, y)
    assert [t.requires_grad for t in (mask, plain, product, whole)] == [False, False, True, False]
    assert [t.is_leaf for t in (mask, plain, product, whole)] == [True, True, False, True]
    assert product.grad_fn.name() == "CompiledFunctionBackward"
    product.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_outputs_of_one_region_share_a_node_and_unused_ones_count_as_zero():
    x = floats(1.0, 2.0, grad=True)
    a, b = compiled(lambda x: (ops.mul(x, 2), ops.mul(x, 3)), x)(x)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_an_unused_input_gets_no_gradient():
    x, y = floats(1.0, grad=True), floats(2.0, grad=True)
    compiled(lambda x, y: ops.exp(x), x, y)(x, y)[0].backward()
    assert y.grad is None


def test_one_tensor_given_twice():
    x = floats(1.0, 2.0, grad=True)
    compiled(lambda x, y: ops.mul(x, y), x, x)(x, x)[0].sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_bias_is_broadcast():
    x, bias = torch.ones(2, 4, requires_grad=True), floats(0.0, -3.0, 1.0, -1.0, grad=True)
    compiled(double_relu, x, bias)(x, bias)[0].sum().backward()
    assert bias.grad.tolist() == [4.0, 0.0, 4.0, 0.0]
    assert x.grad.tolist() == [[2.0, 0.0, 2.0, 0.0]] * 2


def test_an_input_that_is_no_leaf():
    x = floats(1.0, 2.0, grad=True)
    middle = x * 3
    f = compiled(lambda x: ops.mul(x, x), middle)
    f(middle)[0].sum().backward()
    assert x.grad.tolist() == [18.0, 36.0]


# ---- outputs that share memory ------------------------------------------------------------------

@pytest.mark.parametrize("grad", [False, True])
def test_an_output_that_is_an_input(grad):
    x, y = floats(1.0, grad=grad), floats(2.0)
    first, second, third = compiled(lambda x, y: (y, x, ops.exp(x)), x, y)(x, y)
    assert first is y and second is x and third is not x


@pytest.mark.parametrize("grad", [False, True])
def test_views_of_an_input_show_that_input(grad):
    x = torch.zeros(2, 3, requires_grad=grad)
    row, square = compiled(lambda x: (ops.select(x, 0, 1), ops.mul(x, x)), x)(x)
    assert row._base is x and row.shape == (3,) and square._base is None
    with torch.no_grad():
        x.add_(5)
    assert row.tolist() == [5.0, 5.0, 5.0]


def test_only_views_are_not_compiled_at_all():
    x = torch.zeros(2, 3)
    compiler = Phases()
    function = lambda x: ops.select(ops.transpose(x, 0, 1), 0, 2)
    (column,) = compiled(function, x, compiler=compiler)(x)
    assert compiler.phases == [] and column._base is x and column.stride() == (3,)


@pytest.mark.parametrize("grad", [False, True])
def test_views_of_a_result_share_it_as_in_eager_mode(grad):
    def function(x):
        z = ops.exp(x)
        return ops.select(z, 0, 0), z, ops.transpose(z, 0, 1), z

    x = torch.zeros(2, 3, requires_grad=grad)
    row, z, turned, again = compiled(function, x)(x)
    assert z is again and row._base is z and turned._base is z
    assert turned.stride() == (1, 3)
    with torch.no_grad():
        z.zero_()
    assert row.tolist() == [0.0] * 3 and turned.tolist() == [[0.0, 0.0]] * 3


def test_gradients_through_views_of_results_and_of_inputs():
    def function(x):
        z = ops.mul(x, x)
        return ops.select(z, 0, 0), ops.select(z, 0, 1), ops.select(x, 0, 1)

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    a, b, c = compiled(function, x)(x)
    (a * 10 + b + c).sum().backward()
    assert x.grad.tolist() == [[20.0, 40.0], [7.0, 9.0]]


def test_equal_results_are_two_tensors():
    x = floats(1.0, 2.0)
    a, b = compiled(lambda x: (ops.exp(x), ops.exp(x)), x)(x)
    assert a is not b
    a.zero_()
    assert b.tolist() != [0.0, 0.0]


def test_constants_among_the_outputs():
    x = floats(1.0)
    assert compiled(lambda x: (None, 3, ops.mul(x, 2)), x)(x)[:2] == (None, 3)


def test_results_have_eager_strides():
    x = torch.zeros(2, 3).t()
    (y,) = compiled(lambda x: ops.exp(x), x)(x)
    assert y.stride() == torch.exp(x).stride() == (1, 3)


# ---- the tape -----------------------------------------------------------------------------------

def test_a_second_backward_needs_retain_graph():
    x = floats(1.0, 2.0, grad=True)
    f = compiled(lambda x: ops.mul(x, x), x)
    y = f(x)[0].sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_gradients_of_gradients_are_refused():
    x = floats(1.0, grad=True)
    y = compiled(lambda x: ops.mul(x, x), x)(x)[0].sum()
    with pytest.raises(RuntimeError, match="create_graph"):
        y.backward(create_graph=True)


@pytest.mark.parametrize("write", [lambda x, y: y.add_(1), lambda x, y: y.view(2, 1).zero_()])
def test_writing_to_a_saved_output_is_noticed(write):
    x = floats(1.0, 2.0, grad=True)
    (y,) = compiled(ops.exp, x)(x)
    write(x, y)
    with pytest.raises(RuntimeError, match="inplace operation.*version 1; expected version 0"):
        y.sum().backward()


def test_writing_to_a_saved_input_is_noticed():
    x, w = floats(1.0, 2.0, grad=True), floats(3.0, 4.0)
    (y,) = compiled(ops.mul, x, w)(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_writing_to_what_is_not_saved_is_fine():
    x, w = floats(1.0, 2.0, grad=True), floats(3.0, 4.0)
    (y,) = compiled(ops.add, x, w)(x, w)
    w.add_(1)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_saved_memory_goes_with_the_backward():
    alive = []

    def compiler(gm, phase):
        run = Phases()(gm, phase)

        def watched(box):
            results = run(box)
            if phase == "forward":
                alive.append(weakref.ref(results[1].array))
            return results
        return watched

    x = floats(1.0, 2.0, grad=True)
    (y,) = compiled(lambda x: ops.sin(ops.exp(x)), x, compiler=compiler)(x)
    assert alive[0]() is not None
    total = y.sum()
    total.backward()
    assert alive[0]() is None


def test_a_region_that_nobody_differentiates_is_freed():
    x = floats(1.0, 2.0, grad=True)
    f = compiled(ops.exp, x)
    (y,) = f(x)
    reference = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert reference() is None, "no cycle between an output and its history"
    finally:
        gc.enable()


def test_tangents_are_made_to_fit():
    x = torch.zeros(2, 3, requires_grad=True)
    compiler = Phases()
    (y,) = compiled(lambda x: ops.mul(x, 2), x, compiler=compiler)(x)
    seen = []
    f = aot_compile(module_of(lambda x: ops.mul(x, 2), x.meta), [x], compiler, lambda gm, phase: (
        lambda box: (seen.extend(t.stride() for t in box), compiler(gm, phase)(box))[1]))
    (y,) = f(x)
    y.t().backward(torch.ones(3, 2))
    f(x)[0].sum().backward()
    assert seen == [(3, 1), (3, 1)]
    assert x.grad.tolist() == [[4.0] * 3] * 2


def test_two_leaves_get_gradients_of_their_own():
    x, y = floats(1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    compiled(ops.add, x, y)(x, y)[0].backward(torch.ones(2))
    x.grad.add_(1)
    assert y.grad.tolist() == [1.0, 1.0]


def test_chained_regions():
    x = floats(1.0, 2.0, grad=True)
    first = compiled(lambda x: ops.mul(x, x), x)
    (middle,) = first(x)
    second = compiled(lambda x: ops.mul(x, 3), middle)
    second(middle)[0].sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


# ---- what is reported ---------------------------------------------------------------------------

def test_events_of_a_training_region():
    x, bias = floats(-1.0, 2.0, 1.0, 2.0, grad=True), floats(1.0, 1.0, 1.0, 1.0, grad=True)
    with trace.record() as events, trace.compiling("0/0"):
        f = compiled(double_relu, x, bias)
    graphs = events.of(trace.AotGraph)
    assert [g.phase for g in graphs] == ["joint", "forward", "backward"]
    assert (graphs[1].saved, graphs[1].saved_bytes) == (["relu"], 16)
    assert "tangents_1" in graphs[2].code and "# model.py:" in graphs[1].code
    assert [(s.name, s.compile_id) for s in events.of(trace.Stage)] == [("autodiff", "0/0")]
    with trace.record() as events:
        f(x, bias)[0].sum().backward()
    (stage,) = events.of(trace.Stage)
    assert stage.compile_id == "0/0" and stage.note.startswith("backward")


def test_events_of_an_inference_region():
    x = floats(1.0)
    with trace.record() as events:
        compiled(ops.exp, x)
    assert [g.phase for g in events.of(trace.AotGraph)] == ["inference"]
    assert "torch.exp(x)" in events.of(trace.AotGraph)[0].code


def test_gradients_that_are_only_views_are_not_compiled():
    x = torch.zeros(2, 3, requires_grad=True)
    compiler = Phases()
    (total,) = compiled(lambda x: ops.sum(x), x, compiler=compiler)(x)
    total.backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2 and x.grad.stride() == (3, 1)
    assert compiler.phases == ["forward"], "the backward only repeats the tangent"


def test_a_compiler_sees_no_view_and_no_repetition_among_gradients():
    x, bias = floats(1.0, 2.0, grad=True), floats(0.0, 0.0, grad=True)
    compiler = Phases()
    compiled(double_relu, x, bias, compiler=compiler)(x, bias)[0].sum().backward()
    assert [n.name for n in compiler.graphs["backward"].graph.outputs] == ["where"]


# ---- outputs that were not used -----------------------------------------------------------------

def test_nothing_flows_back_from_an_output_that_was_not_used():
    """Zeros would: the gradient of sqrt at 0 is inf, and 0 * inf is nan."""
    x, y = floats(0.0, 4.0, grad=True), floats(1.0, 2.0, grad=True)
    f = compiled(lambda x, y: (ops.mul(x, 3), ops.sqrt(ops.mul(x, y))), x, y)
    f(x, y)[0].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert y.grad is None


def test_each_set_of_used_outputs_has_its_backward():
    x, y = floats(1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    compiler = Phases()
    function = lambda x, y: (ops.exp(ops.mul(x, y)), ops.sin(ops.mul(x, x)))
    f = compiled(function, x, y, compiler=compiler)
    expected = [torch.exp(x * y), torch.sin(x * x)]
    for used in ([0], [1], [0, 1], [0], [1], [0, 1]):
        outputs = f(x, y)
        found = [
            torch.autograd.grad([results[i] for i in used], [x, y], [torch.ones(2)] * len(used),
                                retain_graph=results is expected, allow_unused=True)
            for results in (outputs, expected)
        ]
        ours, eager = ([None if g is None else g.tolist() for g in side] for side in found)
        assert ours == eager
    assert compiler.phases == ["forward", "backward", "backward", "backward"]
