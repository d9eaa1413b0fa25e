"""What is read and written by index, and in parts: values, layouts, kernels, errors, sizes that
change."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import dtypes, ops, trace
from labcore.fusion import lower, schedule

from .graphs import floats, graph_of

F = torch.nn.functional


def kernels(function, *args) -> tuple[int, int]:
    """(kernels, operator calls) of a compiled call that equals the eager one."""
    with trace.record() as story:
        found = torch.compile(function, fullgraph=True)(*args)
    torch.testing.assert_close(found, function(*args))
    text = story.text("output_code")
    return text.count("@kernel\n"), text.count(" = ops.")


TABLE, ROWS, PLACES = torch.randn(10, 6), torch.randn(4, 6), torch.tensor([7, 0, 7, 9])


@pytest.mark.parametrize(
    ("function", "args", "count"),
    [
        (lambda w, i: F.embedding(i, w) * 2 + 1, (TABLE, PLACES), 1),
        (lambda w, i: F.layer_norm(F.embedding(i, w), (6,)), (TABLE, PLACES), 1),
        (lambda w, i: torch.relu(w[i]).sum(1), (TABLE, PLACES), 1),
        (lambda w, i: w[i - 10] + w[i // 2 + 1], (TABLE, PLACES), 1),
        (lambda x, i: torch.gather(torch.exp(x), 0, i % 4), (ROWS[:, 0].clone(), PLACES), 2),
        (lambda x: torch.cat([x + 1, x * 2], 1), (ROWS,), 1),
        (lambda x: torch.stack([torch.sin(x), torch.cos(x)], -1), (ROWS,), 1),
        (lambda x: torch.flip(x, (1,)) + x, (ROWS,), 1),
        (lambda x: F.pad(x, (1, 2), value=3.0) * 2, (ROWS,), 3),
        (lambda x: torch.roll(x, 2, 1), (ROWS,), 2),
    ],
)
def test_counts(function, args, count):
    assert kernels(function, *args) == (count, 0)


@pytest.mark.parametrize(
    "function",
    [
        lambda w, i: F.embedding(i, w)[:2],  # leaves out what is wrong
        lambda w, i: F.embedding(i, w).sum(),
        lambda w, i: torch.cat([w[i], w]),
        lambda w, i: F.embedding(i, w, padding_idx=1) * 0,
        lambda w, i: torch.gather(w, 0, torch.stack([i] * 6, 1)),
        lambda w, i: w.index_add(0, i, w[:4]),
        lambda w, i: F.cross_entropy(w[:4], i, ignore_index=-7),
        lambda w, i: torch.where(w[:4] > 100, w[i], 0.0),
        lambda w, i: F.one_hot(i, 10),
    ],
)
@pytest.mark.parametrize("wrong", [10, -11, 2**40])
def test_an_index_that_does_not_exist_raises_as_in_eager_mode(function, wrong):
    compiled = torch.compile(function)
    compiled(TABLE, torch.tensor([1, 2, 3, 0]))
    bad = torch.tensor([1, 2, 3, wrong])
    with pytest.raises((IndexError, RuntimeError)) as eagerly:
        function(TABLE, bad)
    with pytest.raises(type(eagerly.value)) as found:
        compiled(TABLE, bad)
    assert str(found.value) == str(eagerly.value)
    assert compiled(TABLE, torch.tensor([1, 2, 3, 0])) is not None


def test_nothing_is_half_done():
    log, total = [], torch.zeros(3)

    @torch.compile
    def step(w, i):
        total.add_(1)
        log.append(1)
        return w[i]

    step(TABLE, torch.tensor([1]))
    with pytest.raises(IndexError):
        step(TABLE, torch.tensor([11]))
    assert log == [1, 1] and total.tolist() == [2, 2, 2]  # as far as eager mode gets


def test_gradients():
    def loss(w, i):
        return (F.embedding(i, w) ** 2).sum() + torch.gather(w, 1, i[None] % 6).sum()

    found = []
    for function in (loss, torch.compile(loss)):
        w = TABLE.clone().requires_grad_()
        function(w, PLACES).backward()
        found.append(w.grad)
    torch.testing.assert_close(*found)


def test_sizes_that_change():
    def function(w, i):
        return torch.cat([w[i] * 2, F.pad(w, (0, 0, 1, 1))])

    compiled = torch.compile(function, dynamic=True)
    for n in (3, 5, 8):
        w, i = torch.randn(n, 4), torch.arange(n - 1)
        torch.testing.assert_close(compiled(w, i), function(w, i))


def test_writes_go_into_one_buffer():
    """Each write into a copy of the one before it; nobody else sees those, so there is one copy."""

    def steps(x):
        y = ops.add(x, 1)
        for k in range(3):
            y = ops.select_scatter(y, ops.full((6,), float(k)), 0, k)
        return y

    program = lower(graph_of(steps, floats(4, 6)))
    assert len({loops.out.storage for loops in program.loops}) == 1
    assert len(program.loops) == 4


def test_a_version_that_somebody_reads_is_kept():
    def steps(x):
        y = ops.clone(x)
        z = ops.select_scatter(y, ops.full((6,), 1.0), 0, 0)
        return ops.select_scatter(z, ops.full((6,), 2.0), 0, 1), ops.sum(z)

    program = lower(graph_of(steps, floats(4, 6)))
    assert len({loops.out.storage for loops in program.loops}) == 3


def test_equal_places_are_one():
    def twice(w, i):
        return ops.index_select(w, 0, i), ops.mul(ops.index_select(w, 0, i), 2.0)

    i = floats(4, dtype=dtypes.int64)
    plan = schedule(lower(graph_of(twice, floats(10, 6), i)))
    assert len(plan.nests) == 1
    assert str(plan).count("load x[") == 1 and str(plan).count("check") == 1


def test_adding_at_one_place_is_in_order():
    """Float32 is rounded after each addition, as in eager mode: bit for bit."""
    x, at = torch.randn(300), torch.zeros(300, dtype=torch.int64)
    function = lambda x, at: torch.zeros(2).index_add(0, at, x)
    assert np.array_equal(torch.compile(function)(x, at).numpy(), function(x, at).numpy())


# ---- scans, and where the largest is -------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_a_scan_fuses_with_what_is_around_it(dim):
    x = torch.randn(5, 6, requires_grad=True)
    loss = lambda x: (torch.cumsum(torch.exp(x), dim) * 2).sum(1)
    assert kernels(lambda x: loss(x), x.detach()) == (1, 0)
    found = []
    for function in (loss, torch.compile(loss)):
        x.grad = None
        function(x).sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(*found)


def test_scans_round_as_eager_mode_does():
    x = torch.randn(40, 300)
    for dim in (0, 1):
        function = lambda x, dim=dim: torch.cumsum(x, dim)
        assert np.array_equal(torch.compile(function)(x).numpy(), function(x).numpy())


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_the_first_of_the_largest(dim):
    x = torch.tensor([[1.0, 3.0, 3.0, 0.0], [2.0, -1.0, 2.0, 2.0]])
    nan = torch.tensor([[1.0, float("nan"), 9.0, float("nan")], [5.0, 5.0, 5.0, 5.0]])
    for function in (lambda x: torch.argmax(x, dim), lambda x: torch.argmin(x, dim)):
        for given in (x, nan, x.to(torch.int64)):
            assert torch.compile(function)(given).tolist() == function(given).tolist()


def test_what_is_written_in_parts_may_take_the_memory_of_something_dead():
    def function(x):
        a = torch.exp(x)
        b = torch.flip(a, (0,)).sum(1, keepdim=True) + torch.flip(a, (1,))
        return b, torch.cat([b[:, :2] * 2, torch.flip(b, (1,))[:, :4]], 1)

    with trace.record() as story:
        compiled = torch.compile(function)
        found = compiled(ROWS)
    torch.testing.assert_close(found, function(ROWS))
    assert "used again" in story.text("output_code")


# ---- axes in the middle --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 2).sum(1),
        lambda x: torch.cumsum(x * 2, 1) + 1,
        lambda x: (x.sum(1), x.amax(1), (x + 1).sum(1)),
        lambda x: x - x.mean((0, 2), keepdim=True),
        lambda x: F.batch_norm(x, None, None, None, None, True),
        lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4), x[0, :, 0], x[0, :, 1], True),
    ],
)
def test_axes_in_the_middle(function):
    assert kernels(function, torch.randn(3, 4, 5)) == (1, 0)


def test_the_gradient_of_a_batch_norm_is_one_kernel():
    def loss(x, w, b):
        return F.batch_norm(x, None, None, w, b, True)

    x, w, b = torch.randn(3, 4, 5, 6), torch.randn(4), torch.randn(4)
    found = []
    for function in (loss, torch.compile(loss)):
        given = [t.clone().requires_grad_() for t in (x, w, b)]
        with trace.record() as story:
            (function(*given) * x).sum().backward()
        found.append([t.grad for t in given])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
    assert story.text("output_code").count("@kernel\n") == 2


def test_a_place_along_an_unknown_length_is_counted_in_int32_under_a_guard():
    place = torch.compile(lambda x: x.argmax(-1), dynamic=True)
    with trace.record() as told:
        place(torch.randn(3, 5))
    (guard,) = [g for e in told.of(trace.GuardsInstalled) for g in e.guards if "2147" in g.text]
    assert guard.text == "x.size()[1] < 2147483648"
    text = told.of(trace.OutputCode)[0].source
    assert "int32(" in text and "else int32(2147483646)" in text  # a constant is no cut of 64 bits
    for n in (2, 9, 40, 1000):
        x = torch.randn(4, n)
        x[2, n // 2] = float("nan")
        assert place(x).tolist() == x.argmax(-1).tolist()
