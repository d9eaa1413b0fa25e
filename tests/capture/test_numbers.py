"""Numbers that vary become inputs of the graph: how many graphs that makes, and that they compute
what Python does."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import labcore as torch
from labcore.compiler import state
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.compile import state_of
from labcore.trace import record
from tests.capture.differential import same, strict

LOG: list[Any] = []


def scaled(x, lr):
    return x * lr + 1


def through_item(x, t):
    return x * (t * 2).item()


def added_in_loop(x, n):
    for i in range(n):
        x = x + i
        LOG.append(print(end=""))
    return x


def while_counter(x, n):
    i = 0
    while i < n:
        x = x + i
        i += 1
        print(end="")
    return x


def by_length(x, n):
    seen = []
    for _ in range(n):
        seen.append(x)
        print(end="")
        x = x * 0.5 + len(seen)
    return x


def branching(x, n):
    return x + n if n > 10 else x - n


def returned(x, n):
    return x + n, n, n * 2, [n // 3, n % 5], n / 4


def repeated(x, n):
    for _ in range(n):
        x = x + 1
    return x


def selected(x, n):
    return x[n % 4] + x[n - 7]


def clamped(x, n):
    return x.clamp(min=n, max=n + 1).pow(n)


def counted(function: Any, numbers: list[Any], **options: Any) -> list[int]:
    """How many graphs there were after each call; every result is the eager one."""
    counter, counts = CompileCounter(), []
    compiled = torch.compile(function, backend=counter, **options)
    for number in numbers:
        x = torch.arange(4) * 0.25
        same(function(x, number), compiled(x, number), (x,))
        counts.append(counter.frame_count)
    return counts


@pytest.mark.parametrize(
    ("function", "numbers", "graphs"),
    [
        (scaled, [0.1, 0.2, 0.3, 0.2], [1, 2, 2, 2]),
        (scaled, [3, 4, 0, 1, -7], [1, 2, 2, 2, 2]),
        (scaled, [True, False, True], [1, 2, 2]),
        (scaled, [0.5, math.nan, -0.0, math.inf], [1, 2, 2, 2]),
        (scaled, [2, 3, 4.0, 5.0, 6], [1, 2, 3, 3, 3]),
        (through_item, [torch.tensor(1.5), torch.tensor(2.5), torch.tensor(3.5)], [2, 3, 3]),
        (added_in_loop, [5, 50], [3, 3]),
        (while_counter, [1000], [3]),
        (by_length, [50], [2]),
        (branching, [3, 4, 20, 30, 5], [1, 2, 3, 3, 3]),
        (returned, [7, 8, -9, 0, 2**40], [1, 2, 2, 2, 2]),
        (repeated, [1, 2, 3, 2], [1, 2, 3, 3]),
    ],
)
def test_graphs(function, numbers, graphs):
    assert counted(function, numbers) == graphs


def test_each_value_is_a_variant_when_nothing_is_dynamic():
    assert counted(scaled, [0.1, 0.2, 0.3], dynamic=False) == [1, 2, 3]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_backends(backend):
    for function in (scaled, branching, returned, selected, clamped):
        compiled = torch.compile(function, backend=backend)
        for number in (7, 8, 9, 3, 10):
            x = torch.arange(4) * 0.25
            same(function(x, number), compiled(x, number), (x,))


def powers(x, a):
    return (x * a + a).pow(a).sum() / (a + 2)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients(backend):
    """A gradient's formula asks about the number too (is it 0? a square?): once, for all later."""
    compiled = torch.compile(powers, backend=backend)
    for a in (2.0, 3.0, 1.5, 0.5, 0.0, 1.0, -1.0):
        gradients = []
        for function in (powers, compiled):
            x = (torch.arange(4) + 1.0).requires_grad_()
            function(x, a).backward()
            gradients.append(x.grad.array)
        np.testing.assert_allclose(*gradients, rtol=1e-5)


def two(x, a):
    return x * a, x.exp() * a * a


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients_of_some_outputs(backend):
    compiled = torch.compile(two, backend=backend)
    for a, which in ((2, 0), (3, 0), (4, 1), (5, 0)):
        gradients = []
        for function in (two, compiled):
            x = (torch.arange(4) + 1.0).requires_grad_()
            function(x, a)[which].sum().backward()
            gradients.append(x.grad.array)
        np.testing.assert_allclose(*gradients, rtol=1e-6)


def test_a_guard_names_the_line():
    compiled = torch.compile(branching, backend="eager")
    x = torch.ones(4)
    compiled(x, 3), compiled(x, 4)
    with record() as story:
        compiled(x, 20)
    assert "n <= 10 does not hold: n = 20" in story.text("recompiles")
    guards = story.text("guards")
    assert "n > 10" in guards and f"line {branching.__code__.co_firstlineno + 1}" in guards


def test_what_is_printed():
    compiled = torch.compile(scaled)
    x = torch.ones(4)
    compiled(x, 0.1)
    with record() as story:
        compiled(x, 0.2)
    assert "def forward(self, f0: 'float lr', x: 'float32[4]'):" in story.text("graph_code")
    code = story.text("output_code")
    assert 'f0: "float64"' in code and "f0, x = args" in code
    assert "mul, float32(f0)" not in code and "= float32(f0)" in code


OPERATORS = "+ - * / // %".split()
chains = st.lists(st.tuples(st.sampled_from(OPERATORS), st.integers(0, 3)), max_size=4)
values = st.integers(-9, 9) | st.sampled_from([0.0, -0.0, 0.5, -2.5, 3.0, math.inf, 1e300])


def outcome(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except ArithmeticError as error:
        return repr(error)


@given(chains, st.lists(st.tuples(values, values), min_size=2, max_size=6))
def test_random_arithmetic(chain, calls):
    """Any chain of Python's operators, for any numbers, one after the other."""
    text = "a"
    for sign, which in chain:
        text = f"({text} {sign} {('a', 'b', '3', '-1.5')[which]})"
    scope: dict[str, Any] = {}
    exec(f"def f(x, a, b):\n    n = {text}\n    return (x + n, n) if n > 1 else (x * n, n)", scope)
    compiled = torch.compile(scope["f"], backend="eager")
    before, state.strict = state.strict, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the recompile limit
            for a, b in calls:
                x = torch.ones(3)
                found, wanted = outcome(compiled, x, a, b), outcome(scope["f"], x, a, b)
                same(wanted, found, ())
    finally:
        state.strict = before


def test_a_length_that_is_fixed_and_grows_again():
    seen: list[Any] = []

    def texts(x):
        found = []
        for _ in range(3):
            seen.append(x)
            found.append(f"{len(seen)}")
        return found

    compiled = torch.compile(texts, backend="eager")
    for start in (0, 3, 6):
        assert compiled(torch.ones(2)) == [str(start + n) for n in (1, 2, 3)]


def test_a_tensor_of_a_number_that_varies():
    def made(n):
        return torch.tensor(n), torch.tensor([n, 2]), torch.tensor([[n]], dtype=torch.float64)

    compiled = torch.compile(made, backend="eager", fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # contradictions, and the recompile limit
        for n in (*range(12), 0.5, 1.5, -0.0, 2.5):
            for got, expected in zip(compiled(n), made(n)):
                same(expected, got, ())


@pytest.mark.parametrize(
    "fold",
    [
        lambda x, d: x.sum(d),
        lambda x, d: x.mean((d,), keepdim=True),
        lambda x, d: x.amax(d) * d,
        lambda x, d: (x > 1).any(d),
        lambda x, d: x.unsqueeze(0).squeeze(d),
        lambda x, d: x.transpose(0, d),
    ],
)
def test_a_dimension_that_varies(fold):
    compiled = torch.compile(fold)
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with strict():
        for dim in (0, 1, -1, 0, -2):
            same(fold(x, dim), compiled(x, dim), ())
        with pytest.raises(IndexError, match="but got 5"):
            compiled(x, 5)


def test_a_function_of_math_with_two_numbers():
    def f(x, n):
        return x * math.log(n + 1, 2), math.log(8, n + 1), math.atan2(n, 2), pow(n, 2, 5)

    compiled = torch.compile(f)
    x = torch.tensor([1.0, 2.0])
    with strict():
        for n in (1, 2, 3, 7):
            same(f(x, n), compiled(x, n), ())


def test_where_enumerate_starts_is_an_index():
    compiled = torch.compile(lambda x, s: [(n, x) for n, _ in enumerate("ab", s)], backend="eager")
    for start in (1, 2, 3, True):
        assert [n for n, _ in compiled(torch.ones(2), start)] == [int(start), start + 1]
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        compiled(torch.ones(2), 2.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x * max(n, 5) + min(n, 6),
        lambda x, n: x * abs(n - 6),
        lambda x, n: x * ((n & 3) | (n ^ 1)) + (n << 2) - (n >> 1) * ~n,
        lambda x, n: x * max(n * 0.5, 2.0) * n.real,
        lambda x, n: x * max(min(n, 7), n - 4, 1),
        lambda x, n: (x * n, (n + 1) is n, n is n, n is None),
    ],
)
def test_functions_that_stay_expressions(function):
    compiled = torch.compile(function)
    x = torch.tensor([1.0, 2.0])
    with strict():
        for n in (3, 4, 5, 6, 7, 8, 9):
            same(function(x, n), compiled(x, n), ())
    assert len(state_of(compiled).cache.variants) == 2


def test_sizes_that_are_chosen():
    def f(x):
        n = x.shape[0]
        return torch.zeros(max(n, 4)), x * min(n, 5)

    compiled = torch.compile(f)
    with strict():
        for n in (3, 4, 5, 6, 7, 2):
            same(f(torch.ones(n)), compiled(torch.ones(n)), ())
    assert len(state_of(compiled).cache.variants) == 2


def test_errors_of_bits():
    compiled = torch.compile(lambda x, n: x * (n << 1), backend="eager")
    for n in (1, 2, 3):
        compiled(torch.ones(2), n)
    for wrong in (1.5, 2.5):
        with pytest.raises(TypeError, match="unsupported operand"):
            compiled(torch.ones(2), wrong)
