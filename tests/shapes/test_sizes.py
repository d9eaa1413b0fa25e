"""Sizes that vary become symbols: how many graphs that makes (PyTorch's counts), and that every
backend computes the same as eager for all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import labcore as torch
from labcore.autodiff import aot_compile
from labcore.compiler import _dynamo as dynamo, exc, state
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.fusion import fuse_graph
from labcore.fusion.interpret import run
from labcore.fusion.ledger import count_by_running, ledger
from labcore.trace import record


def block(x, bias):
    return torch.relu(x + bias) * 2


def doubled(x):
    return x * 2


def by_size(x):
    return x * 2 if x.shape[0] > 10 else x + x.shape[0]


def if_six(x):
    return x * 2 if x.shape[0] == 6 else x + 1


def differences(x):
    return x[1:] - x[:-1]


def flat(x):
    return x.reshape(-1) * 2


def sums(x, y):
    return x.sum() + y.sum()


def shorter(x, y):
    n = min(x.shape[0], y.shape[0])
    return x[:n] + y[:n]


def at_most_8(x):
    return x[: min(x.shape[0], 8)] * 2


def halves(x):
    half = x.shape[0] // 2
    return x[:half] - x[half : 2 * half]


def pair(*shape: int) -> tuple[Any, ...]:
    return torch.randn(*shape), torch.ones(shape[-1])


def one(*shape: int) -> tuple[Any, ...]:
    return (torch.randn(*shape),)


def turned(*shape: int) -> tuple[Any, ...]:
    return (torch.randn(*shape).t(),)


def cut(n: int) -> tuple[Any, ...]:
    return (torch.randn(8, n)[:, :4],)


def two(n: int, m: int) -> tuple[Any, ...]:
    return torch.randn(n), torch.randn(m)


def alike(expected: Any, found: Any) -> None:
    """The same kinds of things, tensors laid out alike with numbers that are close."""
    assert type(expected) is type(found), (expected, found)
    if isinstance(expected, torch.Tensor):
        assert expected.shape == found.shape and expected._stride == found._stride
        assert expected.dtype is found.dtype
        finite = expected.array[np.isfinite(expected.array)]
        largest = float(np.abs(finite).max(initial=0))
        np.testing.assert_allclose(found.array, expected.array, rtol=2e-5, atol=2e-6 * largest)
    elif isinstance(expected, (tuple, list)):
        assert len(expected) == len(found)
        for a, b in zip(expected, found):
            alike(a, b)
    else:
        assert expected == found


def counted(function: Any, calls: list[Any], **options: Any) -> list[int]:
    counter, counts = CompileCounter(), []
    compiled = torch.compile(function, backend=counter, **options)
    for args in calls:
        alike(function(*args), compiled(*args))
        counts.append(counter.frame_count)
    return counts


SERIES = [
    (block, [pair(n) for n in (4, 4, 8, 4)], False, [1, 1, 2, 2]),
    (block, [pair(n) for n in (4, 4, 8, 4)], True, [1, 1, 1, 1]),
    (block, [pair(n) for n in (4, 5, 6, 7, 4)], None, [1, 2, 2, 2, 2]),
    (block, [pair(n) for n in (3, 4, 1, 0, 9, 1)], None, [1, 2, 3, 4, 4, 4]),
    (block, [pair(*s) for s in ((4, 4), (6, 6), (6, 7), (8, 3))], True, [1, 1, 2, 2]),
    (block, [pair(n) for n in range(2, 12)], False, [*range(1, 9), 8, 8]),
    (by_size, [one(n) for n in (4, 5, 6, 20, 30, 3)], None, [1, 2, 2, 3, 3, 3]),
    (if_six, [one(n) for n in (4, 5, 6, 7, 6, 20)], None, [1, 2, 3, 3, 3, 3]),
    (doubled, [one(n) for n in (1, 5, 6)], None, [1, 2, 2]),
    (doubled, [turned(*s) for s in ((4, 5), (5, 6), (7, 7), (3, 9))], None, [1, 2, 2, 2]),
    (doubled, [cut(n) for n in (8, 9, 10, 11)], None, [1, 2, 2, 2]),
    (differences, [one(n) for n in (4, 5, 6, 2, 3)], None, [1, 2, 2, 3, 3]),
    (flat, [one(*s) for s in ((4, 5), (5, 6), (7, 7), (3, 9))], None, [1, 2, 2, 2]),
    (sums, [two(*s) for s in ((3, 5), (4, 6), (7, 8), (9, 9), (5, 5))], None, [1, 2, 2, 2, 2]),
    (sums, [two(*s) for s in ((4, 4), (5, 5), (6, 6), (6, 7))], None, [1, 2, 2, 2]),
    (sums, [two(*s) for s in ((4, 4), (6, 6), (6, 7), (8, 8), (9, 5))], True, [1, 1, 2, 2, 2]),
    (shorter, [two(*s) for s in ((3, 4), (4, 5), (8, 7), (9, 9))], None, [1, 2, 2, 2]),
    (at_most_8, [one(n) for n in (4, 6, 8, 9, 11)], None, [1, 2, 2, 2, 2]),
    (halves, [one(n) for n in (6, 8, 9, 12, 3)], None, [1, 2, 2, 2, 3]),
    (doubled, [one(*s) for s in ((3,), (3, 3), (4,), (5, 4), (5,))], None, [1, 2, 3, 3, 3]),
]


@pytest.mark.parametrize(("function", "calls", "dynamic", "graphs"), SERIES)
@pytest.mark.filterwarnings("ignore:block .* has 8 variants:RuntimeWarning")
def test_graphs(function, calls, dynamic, graphs):
    assert counted(function, calls, dynamic=dynamic) == graphs


@pytest.mark.parametrize(
    ("ranges", "counts"),
    [
        ([range(3), range(3), range(4), range(5), range(3)], [1, 1, 2, 3, 3]),
        ([range(n) for n in range(2, 12)], [*range(1, 9), 8, 8]),
    ],
)
def test_a_loop_over_a_range_is_unrolled_for_each(ranges, counts):
    """PyTorch leaves the loop to CPython from the second range on."""

    def looped(x, r):
        for i in r:
            x = x * 2 + i
        return x

    assert counted(looped, [(torch.ones(2), r) for r in ranges]) == counts


# ---- what is said about sizes -------------------------------------------------------------------


def marked(mark: Any, axis: int = 0, *shape: int) -> Any:
    x = torch.randn(*(shape or (5, 3)))
    mark(x, axis)
    return x


def test_a_marked_size_is_a_symbol_at_once():
    assert counted(doubled, [(marked(dynamo.mark_dynamic),), one(6, 3), one(9, 3)]) == [1, 1, 1]
    calls = [(marked(dynamo.maybe_mark_dynamic),), one(6, 3)]
    assert counted(doubled, calls) == [1, 1]


def test_a_static_size_stays_one():
    def calls(n: int) -> tuple[Any, ...]:
        return (marked(dynamo.mark_static, 0, n),)

    assert counted(doubled, [calls(n) for n in (4, 5, 6)]) == [1, 2, 3]
    assert counted(doubled, [calls(n) for n in (4, 5)], dynamic=True) == [1, 2]


@pytest.mark.parametrize("function", [lambda x: x[0] if x.shape[0] == 5 else x, lambda x: x + FIVE])
def test_a_marked_size_that_is_a_constant_is_an_error_with_the_line(function):
    compiled = torch.compile(function, backend="eager")
    line = function.__code__.co_firstlineno
    with pytest.raises(exc.ConstraintViolationError) as caught:
        compiled(marked(dynamo.mark_dynamic))
    text = str(caught.value)
    said = "You marked x.size()[0] as dynamic but your code specialized it to be a constant (5)"
    assert said in text
    assert f"test_sizes.py:{line} " in text
    alike(function(torch.ones(5, 3)), compiled(marked(dynamo.maybe_mark_dynamic) * 0 + 1))


FIVE = torch.ones(5, 3)


def test_marked_sizes_of_0_and_1_are_constants_all_the_same():
    calls = [(marked(dynamo.mark_dynamic, 0, n, 3),) for n in (1, 5, 1, 6, 0)]
    assert counted(doubled, calls) == [1, 2, 2, 2, 3]


def test_marks_go_with_their_tensor():
    from labcore.tensor import marks

    x = marked(dynamo.mark_dynamic)
    assert marks.mark_of(x, 0).kind == "dynamic" and marks.mark_of(x, 1).kind == ""
    assert marks.mark_of(x[:], 0).kind == "" and marks.mark_of(x * 1, 0).kind == ""
    x.data = torch.ones(7, 3)
    assert marks.mark_of(x, 0).kind == "dynamic"
    with pytest.raises(IndexError, match="axis 2 of a tensor with 2 axes"):
        marked(dynamo.mark_dynamic, 2)


# ---- what is told -------------------------------------------------------------------------------


def test_guards_say_sizes_in_the_users_terms():
    compiled = torch.compile(by_size, backend="eager", dynamic=True)
    with record() as story:
        compiled(torch.ones(4, 3).t())
        compiled(torch.ones(4, 30).t())
        compiled(torch.ones(4, 1).t())
    guards, recompiles = story.text("guards"), story.text("recompiles")
    assert "x.size() == (>=2, >=2)" in guards and "x.stride() == (1, x.size()[0])" in guards
    assert "x.size()[0] <= 10 " in guards
    assert "x.size()[0] <= 10 does not hold: x.size()[0] = 30" in recompiles
    assert "tensor 'x' size mismatch at index 0. expected >=2, actual 1" in recompiles


def test_what_is_printed():
    with record() as story:
        torch.compile(block, dynamic=True)(*pair(4, 6))
    assert "x: 'float32[s0, s1]'" in story.text("graph_code")
    code = story.text("output_code")
    assert "for i0 in prange(s0):" in code and "x[s1*i0 + i1]" in code
    assert "mul = empty_strided((s0, s1), (s1, 1), dtypes.float32)" in code


# ---- all operators, all backends ----------------------------------------------------------------


def softmax(x):
    e = (x - x.amax(-1, True)).exp()
    return e / e.sum(-1, True)


def normed(x):
    centered = x - x.mean(0)
    return centered * (centered.square().mean(0) + 1e-5).rsqrt()


def views(x):
    b, c = x.shape
    y = x.reshape(b * c).view(c, b).t().contiguous()
    return y.view(-1, b).sum(0) * x.numel(), x.shape, b // 2, y[:, : c - 1], x.flatten()


def joined(x):
    y = torch.cat([x, x[1:], x[:, :1].expand(x.shape)], 0)
    return y, torch.stack([y, y * 2]).sum(0), len(y), y.size(0) - x.size(0)


def products(x):
    return x @ x.t() + x.shape[0] ** 2, x.t() @ x / x.shape[1]


def expanded(x):
    return x.unsqueeze(0).expand(3, *x.shape) * torch.arange(x.shape[-1]), x.new_zeros(x.shape)


def parts(x):
    n = x.shape[0]
    return x[n // 2 :], x[-1], x[n - 1], x[: -(n // 3) or None], x[::2], x[0:100]


def python_on_sizes(x):
    n, m = x.shape
    return x + (n * m + 7) // 3 % 5 - abs(n - m) / max(n, m) + min(n, 5) ** 2, (n, m) < (m, n)


def shapes(x):
    return x.shape[:-1] + (2,), x.size(), x.stride(), x.ndim, x.shape == (4, 5), tuple(x.shape)


def attention(x):
    return torch.exp(x @ x.t() / math.sqrt(x.shape[-1])) * x.shape[-1] ** -0.5


def lengths(x):
    return x.shape.numel(), torch.numel(x), x.numel() + 1, len(x), x * math.log2(x.shape[0] + 1)


def made(x):
    n = x.shape[0]
    return torch.zeros(n, 3) + torch.arange(n).unsqueeze(1), x.new_full(x.shape, n), torch.ones(n)


def compared(x):
    return x * 2 if x.shape == (6, 6) else x + (x.shape != torch.Size([4, 5]))


FUNCTIONS = [
    softmax, normed, views, joined, products, expanded, parts, python_on_sizes, shapes,
    attention, lengths, made, compared,
]  # fmt: skip
SIZES = [(4, 5), (5, 6), (7, 7), (3, 9), (16, 33), (2, 3), (4, 1), (1, 4), (6, 2), (5, 6)]


@pytest.fixture
def strictly():
    before, state.strict = state.strict, True
    yield
    state.strict = before


@pytest.mark.usefixtures("strictly")
@pytest.mark.filterwarnings("ignore:.* has 8 variants:RuntimeWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_eager(function, backend):
    for dynamic in (None, True):
        compiled = torch.compile(function, backend=backend, dynamic=dynamic)
        for shape in SIZES:
            (x,) = one(*shape)
            alike(function(x), compiled(x))
            (x,) = turned(*shape)
            alike(function(x), compiled(x))


def by_interpreter(gm: Any, phase: str) -> Any:
    """A compiler for the loops in pure Python, one element at a time."""
    schedule = fuse_graph(gm.graph, phase)

    def call(box: list[Any]) -> tuple[Any, ...]:
        outputs = run(schedule, box, gm.attrs).outputs
        return tuple(torch.from_numpy(o) if isinstance(o, np.ndarray) else o for o in outputs)

    return call


@pytest.mark.usefixtures("strictly")
@pytest.mark.filterwarnings("ignore:.* has 8 variants:RuntimeWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_loops_as_eager(function):
    def oracle(gm, example_inputs):
        return aot_compile(gm, example_inputs, by_interpreter)

    compiled = torch.compile(function, backend=oracle, dynamic=True)
    for shape in SIZES[:4] + SIZES[5:]:
        (x,) = one(*shape)
        alike(function(x), compiled(x))


def test_the_ledger_is_a_polynomial_of_the_sizes():
    """As many accesses as a run makes, for sizes that were not there when it was counted."""
    schedules = []

    def compiler(gm, phase):
        schedules.append(fuse_graph(gm.graph, phase))
        return by_interpreter(gm, phase)

    def oracle(gm, example_inputs):
        return aot_compile(gm, example_inputs, compiler)

    torch.compile(softmax, backend=oracle, dynamic=True)(torch.randn(4, 5))
    (schedule,) = schedules
    for n, m in ((4, 5), (3, 7), (8, 2)):
        found = ledger(schedule).accesses.value({"s0": n, "s1": m})
        ran, _ = count_by_running(schedule, [n, m, torch.randn(n, m)])
        assert found == int(ran.accesses)
    assert str(ledger(schedule).accesses) == "2*s0*s1"


@pytest.mark.parametrize("function", [softmax, normed, joined, attention, lengths, made, expanded])
def test_one_graph_serves_all_sizes(function):
    calls = [one(*shape) for shape in ((4, 5), (5, 6), (9, 8), (16, 33), (7, 5))]
    assert counted(function, calls, dynamic=True, fullgraph=True) == [1] * len(calls)


def both_ways(x):
    return x.exp() * x.shape[0], (x * 2).sum(0)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients_of_some_outputs(backend):
    compiled = torch.compile(both_ways, backend=backend, dynamic=True)
    for n, which in ((4, 0), (5, 1), (6, 0), (7, 1)):
        gradients = []
        for function in (both_ways, compiled):
            x = (torch.arange(n * 3) * 0.1).reshape(n, 3).requires_grad_()
            function(x)[which].sum().backward()
            gradients.append(x.grad)
        alike(*gradients)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("function", [softmax, normed, lambda x: x[1:] * x.shape[0], flat, by_size])
def test_gradients(function, backend):
    compiled = torch.compile(function, backend=backend, dynamic=True)
    for shape in [(4, 5), (5, 6), (12, 3), (3, 9), (2, 2)]:
        start = torch.randn(*shape)
        gradients = []
        for f in (function, compiled):
            x = start.clone().requires_grad_()
            (f(x) * 3).exp().mean().backward()
            gradients.append(x.grad)
        alike(*gradients)


def test_a_gradient_that_comes_transposed():
    compiled = torch.compile(lambda x: x * 2, dynamic=True)
    for shape in ((4, 5), (3, 7)):
        x = torch.randn(*shape).requires_grad_()
        compiled(x).t().contiguous().sum().backward()
        assert (x.grad.array == 2).all()


# ---- random programs, random sizes --------------------------------------------------------------

STEPS = [
    "y = y + x",
    "y = y * y.shape[0]",
    "y = y.t().contiguous().t()",
    "y = y[1:] if y.shape[0] > 2 else y",
    "y = y.sum(0, keepdim=True) + y",
    "y = y.reshape(y.shape[1], -1)",
    "y = torch.cat([y, y])",
    "y = y.amax(1).unsqueeze(1) * y",
    "y = y[:, : y.shape[1] // 2 + 1]",
    "y = y.relu().exp().log()",
    "y = y.expand(2, *y.shape).sum(0)",
    "y = y.view(-1).view(y.shape) if y.is_contiguous() else y - y.numel()",
]
sizes = st.tuples(st.integers(0, 6), st.integers(0, 6))


@pytest.mark.filterwarnings("ignore:.* has 8 variants:RuntimeWarning")
@given(
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=5),
    st.lists(sizes, min_size=2, max_size=6),
    st.sampled_from(["eager", "aot_eager", "inductor"]),
    st.booleans(),
)
def test_random_programs(steps, shapes, backend, dynamic):
    body = "".join(f"    {step}\n" for step in steps)
    scope: dict[str, Any] = {"torch": torch}
    exec(f"def program(x):\n    y = x\n{body}    return y, y.shape", scope)
    program = scope["program"]
    compiled = torch.compile(program, backend=backend, dynamic=dynamic or None)
    for shape in shapes:
        x = torch.randn(*shape)
        outcomes = []
        for function in (program, compiled):
            try:
                outcomes.append(function(x))
            except (RuntimeError, IndexError) as error:
                outcomes.append((type(error), str(error)))
        alike(*outcomes)


def test_a_part_of_a_view_whose_stride_is_a_symbol():
    def writes(x):
        part = x[:1]
        part.add_(2)

    compiled = torch.compile(writes)
    for x in (torch.tensor([1.0, 2.0]), torch.ones(2, 2).t()[0], torch.ones(3, 2).t()[0]):
        expected = x.tolist()
        compiled(x)
        assert x.tolist() == [expected[0] + 2, *expected[1:]]
