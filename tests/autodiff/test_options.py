"""What `compile(..., options=...)` tells autodiff."""
from __future__ import annotations

import subprocess
import sys

import pytest

import labcore as torch
from labcore import trace
from labcore.autodiff import AutodiffOptions


def f(x, w):
    return torch.tanh(torch.sin(x * w) + 1)


def saved(**settings) -> list[str]:
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with trace.record() as story:
        torch.compile(f, **settings)(x, w).sum().backward()
    assert x.grad is not None
    return next(g.saved for g in story.of(trace.AotGraph) if g.phase == "forward")


def test_each_backend_has_its_partitioner_as_in_pytorch():
    assert saved(backend="aot_eager") == ["primals_1", "primals_2", "mul", "tanh"]
    assert saved(backend="inductor") == ["primals_1", "primals_2", "tanh"]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_the_partitioner_and_the_budget_may_be_chosen(backend):
    assert "mul" in saved(backend=backend, options={"partitioner": "default"})
    assert "mul" not in saved(backend=backend, options={"partitioner": "min_cut"})
    least = {"partitioner": "min_cut", "activation_memory_budget": 0}
    assert saved(backend=backend, options=least) == ["primals_1", "primals_2"]


@pytest.mark.parametrize(("options", "message"), [
    ({"partitioner": "best"}, "unknown partitioner 'best'; there are 'default' and 'min_cut'"),
    ({"memory": 1}, "unexpected option 'memory'; known are partitioner, activation_memory_budget"),
    ({"activation_memory_budget": 2}, "a number from 0 to 1, not 2"),
    ({"activation_memory_budget": "little"}, "a number from 0 to 1, not 'little'"),
    ({"activation_memory_budget": True}, "a number from 0 to 1, not True"),
    ({"partitioner": "default", "activation_memory_budget": 0.5}, "say partitioner='min_cut' too"),
])
def test_options_that_make_no_sense_are_refused_by_compile(options, message):
    with pytest.raises(RuntimeError, match=message):
        torch.compile(f, options=options)


@pytest.mark.parametrize(("options", "message"), [
    ({"max_nodes": 0}, "max_nodes is a whole number from 1 on, not 0"),
    ({"max_arrays": 2.5}, "max_arrays is a whole number from 1 on, not 2.5"),
    ({"materialize": "never"}, "materialize is True or False, not 'never'"),
])
def test_the_loop_compilers_options_are_checked_too(options, message):
    with pytest.raises(RuntimeError, match=message):
        torch.compile(f, options=options)
    with pytest.raises(RuntimeError, match="unexpected option"):
        torch.compile(f, backend="aot_eager", options=options)


def test_the_loop_compilers_options_reach_it():
    def gate(u, v):
        return u[:, None] * torch.tanh(v)[None, :]

    kernels = {}
    for choice in (True, False):
        with trace.record() as story:
            torch.compile(gate, options={"materialize": choice})(torch.ones(4), torch.ones(4))
        kernels[choice] = len(story.of(trace.KernelReady))
    assert kernels == {True: 2, False: 1}


def test_a_budget_without_min_cut_is_refused():
    with pytest.raises(RuntimeError, match="cannot keep to an activation_memory_budget of 0.5"):
        torch.compile(f, backend="aot_eager", options={"activation_memory_budget": 0.5})
    with pytest.raises(RuntimeError, match="backend 'eager' has no options"):
        torch.compile(f, backend="eager", options={"partitioner": "default"})


def test_a_partitioner_may_be_a_function_of_the_joint_graph():
    from labcore.autodiff import cut_at

    assert saved(options={"partitioner": lambda joint: cut_at(joint, joint.primals)}) == [
        "primals_1", "primals_2"
    ]


def test_options_do_not_change():
    with pytest.raises(AttributeError):
        AutodiffOptions().partitioner = "min_cut"  # type: ignore[misc]


def test_decisions_are_events():
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with trace.record() as story:
        torch.compile(f)(x, w)
    found = {c.value: (c.saved, c.rule, c.nbytes) for c in story.of(trace.PartitionChoice)}
    assert found["mul"] == (False, "cheap", 12) and found["tanh"] == (True, "output", 12)
    assert all(c.flip and c.detail and c.compile_id for c in story.of(trace.PartitionChoice))


def test_an_input_is_let_go_where_the_backward_does_not_read_it():
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with trace.record() as story:
        torch.compile(lambda x, w: x * w)(x, w)
    flips = {c.value: c.flip for c in story.of(trace.PartitionChoice)}
    assert flips == {
        "primals_1": "mul_2 did not read it in the backward",
        "primals_2": "mul_1 did not read it in the backward",
    }


def test_an_input_may_be_written_to_where_eager_mode_does_not_save_it():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda x: torch.sin(x * 2))(x)
    with torch.no_grad():
        x.zero_()
    y.sum().backward()
    torch.testing.assert_close(x.grad, (torch.ones(3) * 2).cos() * 2)


def test_networkx_is_imported_only_to_cut():
    program = (
        "import sys, labcore as torch; from labcore import autodiff;"
        "f = torch.compile(lambda x: torch.sin(x) * 2, backend='aot_eager');"
        "f(torch.ones(3, requires_grad=True)).sum().backward();"
        "assert 'networkx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
