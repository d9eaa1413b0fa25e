"""When and how often the backward is compiled, and what is kept until then."""
from __future__ import annotations

import pytest

import labcore as torch
from labcore import ops, trace
from labcore.autodiff import AutodiffOptions, aot_compile
from labcore.guards import RECOMPILE_LIMIT

from .graphs import floats as meta, graph_of, lines
from .test_runtime import Phases, floats

MIN_CUT = AutodiffOptions("min_cut")


class Region:
    """A backend that counts: `compiler.phases` are the graphs it was asked for."""

    def __init__(self, compiler=None, **options) -> None:
        self.compiler, self.options = compiler or Phases(), options

    def __call__(self, gm, example_inputs):
        return aot_compile(gm, example_inputs, self.compiler, **self.options)


# ---- numbers that vary ---------------------------------------------------------------------------


def test_the_backward_waits_for_the_first_backward_where_sizes_are_symbolic():
    region = Region()
    f = torch.compile(lambda x: torch.sin(x * 2), dynamic=True, backend=region)
    for size in (3, 5, 4):
        x = torch.ones(size, requires_grad=True)
        y = f(x)
        assert region.compiler.phases == ["forward"] if size == 3 else ["forward", "backward"]
        y.sum().backward()
        assert region.compiler.phases == ["forward", "backward"]
        torch.testing.assert_close(x.grad, (torch.ones(size) * 2).cos() * 2)


class Asking(Phases):
    """A compiler whose backward takes something for granted of the size."""

    def __init__(self, question) -> None:
        super().__init__()
        self.question, self.answers = question, []

    def __call__(self, gm, phase):
        if phase == "backward":
            tangent = gm.graph.placeholders[-1]
            self.answers.append(self.question(tangent.meta.shape[0]))
        return super().__call__(gm, phase)


def test_what_the_backward_takes_for_granted_is_asked_at_the_next_one():
    compiler = Asking(lambda size: bool(size < 10))
    f = torch.compile(lambda x: torch.sin(x * 2), dynamic=True, backend=Region(compiler))
    for size in (3, 12, 5, 20, 4):
        x = torch.ones(size, requires_grad=True)
        f(x).sum().backward()
        torch.testing.assert_close(x.grad, (torch.ones(size) * 2).cos() * 2)
    assert compiler.answers == [True, False]
    assert compiler.phases == ["forward", "backward", "backward"]


def test_there_is_a_limit_to_backwards_for_single_numbers():
    compiler = Asking(lambda size: int(size))
    f = torch.compile(lambda x: torch.sin(x * 2), dynamic=True, backend=Region(compiler))
    with trace.record() as story:
        for size in range(3, 15):
            x = torch.ones(size, requires_grad=True)
            f(x).sum().backward()
            torch.testing.assert_close(x.grad, (torch.ones(size) * 2).cos() * 2)
    assert compiler.answers == list(range(3, 3 + RECOMPILE_LIMIT))
    notes = [stage.note for stage in story.of(trace.Stage) if stage.note.startswith("backward")]
    assert notes[-1].startswith(f"backward: run by eager operators, as {RECOMPILE_LIMIT} compiled")


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_floats_that_vary_reach_the_backward(backend):
    f = torch.compile(lambda x, scale: torch.sin(x * scale), dynamic=True, backend=backend)
    for scale in (0.5, 2.0, 3.25):
        x = floats(1.0, 2.0, grad=True)
        f(x, scale).sum().backward()
        torch.testing.assert_close(x.grad, (floats(1.0, 2.0) * scale).cos() * scale)


# ---- outputs that were not used, and values that only the backward computes ---------------------


def test_a_mask_that_was_saved_serves_every_backward():
    x, y = floats(-1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    region = Region(options=MIN_CUT)

    def function(x, y):
        return torch.relu(x - y) * 2, torch.relu(x + y) * 3

    f, plain = torch.compile(function, backend=region), function(x, y)
    for used in ([0], [1], [0, 1]):
        outputs = f(x, y)
        found, expected = (
            torch.autograd.grad([side[i] for i in used], [x, y], [torch.ones(2)] * len(used),
                                retain_graph=side is plain)
            for side in (outputs, plain)
        )
        for ours, eager in zip(found, expected, strict=True):
            torch.testing.assert_close(ours, eager)
    assert region.compiler.phases == ["forward", "backward", "backward", "backward"]
    saved = region.compiler.graphs["forward"].graph.outputs[2:]
    assert [node.meta.dtype for node in saved] == [torch.bool, torch.bool]


def test_what_remains_may_have_another_layout():
    """The sum of both gradients is contiguous, so reshape's gradient is a view; one alone is
    expanded from a number, and has to be copied."""
    x = torch.ones(2, 3, requires_grad=True)

    def function(x):
        flat = (x * 2).t().reshape(-1)
        return flat.sum(), flat * flat

    f = torch.compile(function, backend=Region())
    for used in ([0], [1], [0, 1]):
        x.grad = None
        sum(f(x)[i].sum() for i in used).backward()
        found, x.grad = x.grad, None
        sum(function(x)[i].sum() for i in used).backward()
        torch.testing.assert_close(found, x.grad)


# ---- CSE and flags ------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_result_without_history_is_not_the_one_with(backend):
    def function(x):
        with torch.no_grad():
            plain = torch.sin(x)
        return plain, torch.sin(x)

    x = floats(1.0, 2.0, grad=True)
    plain, recorded = torch.compile(function, backend=backend)(x)
    assert (plain.requires_grad, recorded.requires_grad) == (False, True)
    assert plain.is_leaf and not recorded.is_leaf and plain is not recorded
    plain.zero_()
    (recorded * 2).sum().backward()
    torch.testing.assert_close(x.grad, floats(1.0, 2.0).cos() * 2)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_no_gradient_flows_through_the_one_without_history(backend):
    def function(x):
        with torch.no_grad():
            scale = torch.exp(x)
        return torch.exp(x) * scale

    x = floats(0.5, 1.0, grad=True)
    torch.compile(function, backend=backend)(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.exp(floats(0.5, 1.0) * 2))


def test_gradients_add_up_in_the_leaf_that_has_one():
    x = floats(1.0, 2.0, grad=True)
    x.grad = before = floats(10.0, 20.0)
    f = torch.compile(lambda x: x * x)
    f(x).sum().backward()
    f(x).sum().backward()
    assert x.grad is before and x.grad.tolist() == [14.0, 28.0]


# ---- second derivatives -------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients_of_gradients_are_refused(backend):
    x = floats(1.0, 2.0, grad=True)
    y = torch.compile(lambda x: x * x, backend=backend)(x).sum()
    with pytest.raises(RuntimeError, match="asks for gradients of gradients"):
        torch.autograd.grad(y, x, create_graph=True)
    (first,) = torch.autograd.grad(y, x)
    assert not first.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        first.sum().backward()


# ---- hooks of saved tensors ---------------------------------------------------------------------


class Storing:
    """Hooks that keep tensors in a list, and the number of the place in the graph."""

    def __init__(self) -> None:
        self.kept, self.read = [], []

    def pack(self, tensor):
        assert not tensor.requires_grad and not torch.is_grad_enabled()
        self.kept.append(tensor.clone())
        return len(self.kept) - 1

    def unpack(self, place):
        self.read.append(place)
        return self.kept[place]

    def __enter__(self):
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)


@pytest.mark.parametrize("backend", [None, "aot_eager", "inductor"])
def test_hooks_keep_what_is_saved(backend):
    function = lambda x, w: torch.tanh(torch.sin(x * w) + 1)
    f = torch.compile(function, backend=backend) if backend else function
    x, w = floats(1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    with Storing() as hooks:
        y = f(x, w)
    assert len(hooks.kept) == {None: 4, "aot_eager": 4, "inductor": 3}[backend]
    assert hooks.read == []
    y.sum().backward()
    assert sorted(hooks.read) == list(range(len(hooks.kept)))
    grads, x.grad, w.grad = (x.grad, w.grad), None, None
    function(x, w).sum().backward()
    torch.testing.assert_close(grads, (x.grad, w.grad))


def test_hooks_may_answer_something_else():
    x, w = floats(1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor)
    with hooks:
        y = torch.compile(lambda x, w: x * w)(x, w)
    with torch.no_grad():
        w.add_(100)  # a hook answers for its value itself
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_hooks_may_be_within_the_compiled_function():
    seen = []

    def pack(tensor):
        seen.append(tuple(tensor.shape))
        return tensor

    def function(x, w):
        y = x * 2
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            z = y * w
        return z * w

    x, w = floats(1.0, 2.0, grad=True), floats(3.0, 4.0, grad=True)
    torch.compile(function)(x, w).sum().backward()
    assert seen == [(2,), (2,)]
    assert x.grad.tolist() == [18.0, 32.0]


def test_what_hooks_may_not_do():
    x = floats(1.0, 2.0, grad=True)
    f = torch.compile(lambda x: x * x)
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: t.add_(1), lambda t: t), pytest.raises(RuntimeError, match="in place"):
        f(x)
    with hooks(lambda t: t, lambda t: "text"):
        y = f(x)
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got .* str"):
        y.sum().backward()


def test_the_innermost_hooks_are_in_force():
    x, order = floats(1.0, grad=True), []
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: order.append("outer") or t, lambda t: t):
        with hooks(lambda t: order.append("inner") or t, lambda t: t):
            torch.sin(x)
        torch.sin(x)
    torch.sin(x)
    assert order == ["inner", "outer"]


def test_the_graph_without_a_gradient():
    from labcore.autodiff.joint import trace_joint
    from labcore.autodiff.partition import default_partition
    from labcore.autodiff.passes import clean, without_gradients

    graph = graph_of(lambda x: (ops.sin(x), ops.exp(x)), meta(3))
    backward = default_partition(trace_joint(graph, [True]).after(clean)).backward
    assert len(backward.calls) == 4
    assert lines(clean(without_gradients(backward, {"tangents_1"}))) == [
        "mul = torch.mul(tangents_2, exp)", "return (mul,)",
    ]
    none = without_gradients(backward, {"tangents_1", "tangents_2"})
    assert none.outputs == [None]
