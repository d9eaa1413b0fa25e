"""Writes in place, through views, on inputs, on what requires grad: values, who shares memory, what
the tape says, and gradients, as in eager mode on every backend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies

import labcore as torch
from labcore.compiler import compile as lab_compile
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import AotGraph, GraphBreak, record

from . import campaign
from .mutation import Program, check, generate

BACKENDS = ["eager", "aot_eager", "inductor"]
PLAIN, TRAINED, LEAF = (False, False, True), (True, True, True), (True, False, True)


def program(body, inputs="x, y = base, other", wanted=TRAINED, leaf=False):
    lines = "".join(f"    {line}\n" for line in body.split("; "))
    return Program(f"def program(x, y, c, k):\n{lines}", inputs, wanted, leaf)


def with_steps(body):
    """A program with the campaign's derivatives of its own."""
    plain = program(body)
    return replace(plain, text=campaign.STEPS + plain.text)


OVERLAP, TWICE = "x, y = base[:3], base[1:]", "x, y = base, base"
NO_GRAD = "with torch.no_grad(): "
WHOLE = {  # one graph each
    "non_leaf": program("z = x * k; z += 1; z.mul_(z); return z,"),
    "becomes_part_of_the_history": program("z = y * 0; z.add_(x * k); return z,", wanted=LEAF),
    "view_of_a_view": program("z = x * k; z.T[1:][0].mul_(c); v = z[1:]; v[0] = 7; return z, v"),
    "views_made_before": program("z = x * k; a = z[0]; b = z.T; b.neg_(); return a, b, z"),
    "filled": program("z = x * k; z[1:].zero_(); z[0].fill_(2); return z,"),
    "copied": program("z = x * k; z.copy_(y); z[0].copy_(z[1]); return z,"),
    "columns": program("z = x * k; z[:, 0].copy_(z[:, 1]); return z,"),
    "input": program("x.mul_(k); x += y; return x * 2,"),
    "input_without_gradient": program("x.mul_(k); return x[0],", wanted=PLAIN),
    "through_an_input's_view": program("x[1:].mul_(k); x.T[0].add_(1); return x,"),
    "input_is_a_view": program("x.mul_(k); return x,", "x, y = base[1:], other"),
    "view_of_no_dense_memory": program("x.mul_(k); return x + 1,", "x, y = base[:, 1:], other"),
    "written_and_kept_value": program("z = x * k; x.add_(1); return x,"),
    "same_tensor_twice": program("x.mul_(k); return y + 1,", TWICE),
    "overlapping_slices": program("x.mul_(k); return y * 1, x", OVERLAP),
    "overlapping_slices_both": program("x.mul_(k); y.add_(x.clone()); return x + y,", OVERLAP),
    "view_and_base": program("x.mul_(k); y[0] = 3; return x + 1,", "x, y = base[1:], base"),
    "transposed_twin": program("x.mul_(k); return y.sum(),", "x, y = base, base.T"),
    "detached_twin": program("x.mul_(k); return y + 1, y[0], x", "x, y = base, base.detach()"),
    "detached_twin_written": program("y.mul_(k); return y, x + 1", "x, y = base, base.detach()"),
    "read_then_seen": program("d = (c + y.data).detach(); d += 2; v = d[0]; return d, v, v * 2"),
    "output_is_input": program("return x, x[1:], x.detach()"),
    "outputs_alias_each_other": program("z = x * k; z += 1; return z, z[0], z, z.T"),
    "detached": program("d = x.detach(); d.mul_(2); return d, x * k", wanted=PLAIN),
    "detached_from_a_history": program("z = x * k; d = z.detach(); d.add_(1); return z, d, z * 2"),
    "detached_with_its_own": program("d = x.detach(); d.mul_(k); return d, x * 2", wanted=LEAF),
    "read_by_its_detached": program("z = x * k; d = z.detach(); z.mul_(2); return d * 1, z"),
    "leaf_under_no_grad": program(NO_GRAD + "x -= 0.5 * y; return x * k,", wanted=LEAF, leaf=True),
    "leaf_in_part": program(NO_GRAD + "x[0].zero_(); return x * k,", wanted=LEAF, leaf=True),
    "non_leaf_under_no_grad": program("z = x * k; " + NO_GRAD + "z.mul_(3); return z, z * 2"),
    "view_leaves_no_grad": program(NO_GRAD + "v = x[0]; return v, x + 1"),
    "told": program("z = y * 0; z += x * k; return z * (1 + z.requires_grad),", wanted=LEAF),
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", WHOLE)
def test_like_eager(name, backend):
    counter = CompileCounter() if backend == "eager" else None
    counts = check(WHOLE[name], backend, counter)
    assert counter is None or counts[:2] == [1, 1]


def test_a_view_made_unrecorded_after_a_write_to_its_detached_base():
    body = "t = x.detach(); t += k; " + NO_GRAD + "v = t[1]; return t, v"
    check(program(body, wanted=PLAIN), "eager")


# Nobody counts what is written through .data: a backward reads the new values where it saved them.
UNCOUNTED = {
    "operand": program("z = x * k; t = z * z; z.data.mul_(2); return t * 1,"),
    "result": program("t = (x * k).exp(); t.data.mul_(2); return t * 1,"),
    "in_part": program("z = x * k; t = z.T * z[0, 0]; z[0].data.mul_(2); return t * 1,"),
    "input": program("t = x * x; x.data.mul_(2); return t * 1,"),
    "input_written_before": program("x.add_(0); t = x * x; x[0].data.mul_(2); return t,"),
    "result_of_a_write": program("z = x * k; z.sigmoid_(); z.data.mul_(2); return z * 1,"),
    "computed_from_it": program("z = x * k; u = z * 2; t = u * u; z.data.mul_(2); return t * 1,"),
    "detached": program("z = x * k; t = z.detach() * y; z.data.mul_(2); return t * 1,"),
    "in_a_list": program("z = x * k; t = torch.stack([z, z]).exp(); z.data.mul_(2); return t * z,"),
    "read_afterwards": program("z = x * k; z.data.mul_(2); return z * z,"),
    "not_recorded": program("z = x * k; " + NO_GRAD + "u = z * z; z.data.mul_(2); return u * z,"),
    "twice": program("z = x * k; t = z * z; z.data.mul_(2); u = z * t; z.data.add_(1); return u,"),
    "operand_of_ones_own": with_steps("z = x * k; t = Masked.apply(z); z.data.mul_(2); return t,"),
    "result_of_ones_own": with_steps("t = Masked.apply(x * k); t.data.mul_(2); return t * 1,"),
    "in_part_of_ones_own": with_steps(
        "z = x * k; z.add_(1); t = Masked.apply(z); z[:1].data.mul_(2); return t * 1,"
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", UNCOUNTED)
def test_a_backward_reads_what_was_written_through_data(name, backend):
    check(UNCOUNTED[name], backend)


def test_the_place_of_a_write_through_data_is_told():
    def run(x):
        z = x * 2
        t = z * z
        z.data.mul_(2)
        return t

    with record() as trace:
        lab_compile(run, backend="eager")(torch.ones(2, requires_grad=True))
    stops = [stop for stop in trace.of(GraphBreak) if stop.break_id == "uncounted-write"]
    assert stops and {stop.origin.line for stop in stops} == {run.__code__.co_firstlineno + 3}


# A region may begin where nothing is recorded; views that it finds were made before.
BLOCK = "with torch.no_grad():;     print(end='');     y.mul_(2); "
LEFT = {
    "written": BLOCK + "x[-1] += k; return y,",
    "kept": BLOCK + "v = x[-1]; print(end=''); v.add_(k); return v, y",
    "after_a_write": "x[0].sub_(x.sum()); " + BLOCK + "x[-1] += k; return y,",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("inputs", ["x, y = base[:, 0], base[:, 1:]", "x, y = base[1:], base"])
@pytest.mark.parametrize("name", LEFT)
def test_views_from_before_a_region_that_begins_in_no_grad(name, inputs, backend):
    check(program(LEFT[name], inputs, wanted=PLAIN), backend)


REFUSED = {
    "leaf": program("y = c + 1; x.add_(1); return y,", wanted=LEAF, leaf=True),
    "view_of_a_leaf": program("x[0].add_(1); return x,", wanted=LEAF, leaf=True),
    "overlapping_operand": program("z = x * k; z[1:].add_(z[:-1]); return z,"),
    "made_in_no_grad": program("z = x * k; " + NO_GRAD + "v = z[0]; v.add_(1); return v,"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_eager_refuses(name):
    check(REFUSED[name], "eager")


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_optimizer_step_is_one_graph_without_a_backward(backend):
    def step(w, gradient):
        with torch.no_grad():
            w.sub_(gradient * 0.5)
            w[0].mul_(2)

    counter = CompileCounter()
    compiled = lab_compile(step, backend=counter if backend == "eager" else backend)
    w, gradient = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    with record() as trace:
        compiled(w, gradient)
    assert {graph.phase for graph in trace.of(AotGraph)} <= {"inference"}
    assert w.tolist() == [[1.0, 1.0], [0.5, 0.5]] and w.is_leaf and w.requires_grad
    assert w._version == 2
    if backend == "eager":
        assert counter.frame_count == 1


def test_a_write_that_backward_finds_out():
    """A compiled function has its own copy of what it needs, where eager mode would fail."""

    def scaled(x, k):
        y = x * k
        x.add_(1)
        return y

    k = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        scaled(torch.ones(2), k).sum().backward()
    lab_compile(scaled, backend="aot_eager")(torch.ones(2), k).sum().backward()
    assert k.grad.item() == 2


def test_inputs_that_begin_to_share_memory():
    def f(x, y):
        x.mul_(2)
        return y + 1

    counter = CompileCounter()
    compiled = lab_compile(f, backend=counter)
    base = torch.arange(4.0)
    assert compiled(torch.ones(3), torch.ones(3)).tolist() == [2, 2, 2]
    assert compiled(base[1:], base[:3]).tolist() == [1, 3, 5]
    assert compiled(base[:3], base[1:]).tolist() == [5, 9, 7]
    assert compiled(base[1:], base[:3]).tolist() == [1, 9, 17]
    assert counter.frame_count == 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_vary(backend):
    def f(x, k):
        x.mul_(k)
        x[1:].add_(1)
        z = x * 2
        z.T[0] += 3
        return z

    counter = CompileCounter()
    compiled = lab_compile(f, backend=counter if backend == "eager" else backend)
    for rows in (3, 4, 5, 6):
        seen = []
        for run in (f, compiled):
            k, x = torch.tensor(2.0, requires_grad=True), torch.arange(rows * 3.0).reshape(rows, 3)
            z = run(x, k)
            z.sum().backward()
            seen.append((z.tolist(), x.tolist(), x._version, k.grad.item()))
        assert seen[0] == seen[1]
    if backend == "eager":
        assert counter.frame_count == 2


@pytest.mark.fuzz
@given(strategies.integers(0, 10**9), strategies.sampled_from(BACKENDS[:2]))
def test_random_programs(seed, backend):
    check(generate(seed), backend)


@pytest.mark.parametrize("block", range(8))
def test_many_random_programs(block):
    """The same ones every time; each backend gets all of those that it is fast enough for."""
    whole = 0
    for seed in range(30 * block, 30 * (block + 1)):
        program = generate(seed)
        whole += check(program, "eager", CompileCounter())[:2] == [1, 1]
        check(program, "aot_eager")
        if seed % 10 == 0:
            check(program, "inductor")
    assert whole > 15


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_view_made_where_grad_is_enabled_again(backend):
    """The region begins under no_grad; the tape must still take writes to its views."""

    def function(x):
        with torch.enable_grad():
            of_input, of_result = x[0], (x * 1)[1]
        return of_input, of_result, x[1]

    compiled = lab_compile(function, backend=backend)
    with torch.no_grad():
        views = compiled(torch.ones(2, 3))
    k = torch.tensor(2.0, requires_grad=True)
    for view in views[:2]:
        view.mul_(k)
        assert view.requires_grad
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        views[2].mul_(k)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.flatten()[1:].add_(1),
        lambda t: t.view(-1).mul_(2),
        lambda t: t.squeeze(0).add_(1),
        lambda t: t.unsqueeze(1)[0].add_(1),
    ],
)
def test_what_is_written_through_a_view_keeps_every_stride(write, backend):
    """Also that of an axis of one element, on which no element's place depends."""

    def program(y):
        t = y * 2
        write(t)
        return t

    y = torch.arange(12.0).view(3, 4).T[:1]
    expected = program(y)
    found = torch.compile(program, backend=backend)(y)
    assert (found.shape, found.stride()) == (expected.shape, expected.stride()) == ((1, 3), (1, 1))
    assert found.tolist() == expected.tolist()


def test_a_derivative_of_ones_own_reads_sizes_of_which_more_is_known_later():
    campaign.write(5001248)


def test_a_backward_knows_which_sizes_are_equal():
    """It is compiled when only one of two sizes is an input's; views still speak of both."""
    program = generate(5100240)
    assert "t2[-1] += k" in program.text
    check(program, "inductor")
