"""Gradients of random programs in double precision: of both compilers against eager mode, and of
all three against differences.

In a random direction v the slope of f is (f(x + hv) - f(x - hv)) / 2h. At a kink that means
nothing; there the slopes on both sides differ.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import labcore as torch
from labcore import ops
from labcore.autodiff import AutodiffOptions, aot_compile, run_by_operators
from labcore.codegen import compile_graph, print_kernel, print_program
from labcore.fusion import fuse_graph
from labcore.graph import GraphModule
from tests.codegen.graphs import as_python

from .graphs import graph_of
from .programs import Program, inputs_of, smooth_programs

STEP = 1e-6
MANY = max(300, settings.default.max_examples * 5 // 3)  # 5,000 under the profile `fuzz`
FEW = max(6, settings.default.max_examples // 60)  # each runs numba


def fused_as_python(gm: GraphModule, phase: str) -> Any:
    """The whole way to the kernels' text, which runs as Python."""
    schedule = fuse_graph(gm.graph, phase)
    kernels = [print_kernel(nest, number) for number, nest in enumerate(schedule.nests)]
    return as_python(print_program(schedule, kernels, phase, True))


def compiled(program: Program, inputs: list[Any], compiler: Any, options: AutodiffOptions) -> Any:
    module = GraphModule(graph_of(program, *[t.meta for t in inputs]))
    return aot_compile(module, inputs, compiler, options=options)


def used(outputs: tuple) -> list[int]:
    """The outputs that have a history, each once."""
    found: dict[int, int] = {}
    for place, tensor in enumerate(outputs):
        if tensor.grad_fn is not None:
            found.setdefault(id(tensor), place)
    return list(found.values())


def loss(outputs: tuple, places: list[int]) -> Any:
    """An uneven sum of these outputs."""
    total = torch.zeros((), dtype=torch.float64)
    for place in places:
        tensor = outputs[place]
        weights = ops.reshape(ops.arange(1, tensor.numel() + 1), tuple(tensor.shape))
        part = ops.sum(ops.mul(tensor, ops.to(weights, torch.float64)))
        total = ops.add(total, ops.div(part, max(tensor.numel(), 1)))
    return total


def gradients(run: Any, inputs: list[Any], places: list[int]) -> list[np.ndarray]:
    for tensor in inputs:
        tensor.grad = None
    loss(run(*inputs), places).backward()
    return [
        np.zeros(tuple(t.shape)) if t.grad is None else t.grad.numpy().copy() for t in inputs
    ]


@pytest.fixture(autouse=True)
def in_double_precision() -> Iterator[None]:
    """What a truth value plus 1.0 is, too: differences in single precision tell nothing."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def check(program: Program, compilers: list[tuple[Any, AutodiffOptions]], seed: int) -> bool:
    """Has the program gradients that differences tell? Raises AssertionError where they are
    wrong."""
    inputs = inputs_of(program, torch.float64)
    outputs = program(*inputs)
    places = used(outputs)
    if not places:
        return False
    eager = gradients(program, inputs, places)
    if not all(np.isfinite(g).all() and np.abs(g).max(initial=0) < 1e6 for g in eager):
        return False
    for compiler, options in compilers:
        found = gradients(compiled(program, inputs, compiler, options), inputs, places)
        for ours, expected in zip(found, eager, strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)
    check_slope(program, inputs, places, eager, seed)
    return True


def check_slope(
    program: Program, inputs: list[Any], places: list[int], grads: list[np.ndarray], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    direction = [
        generator.standard_normal(tuple(t.shape)) * t.requires_grad for t in inputs
    ]

    def at(step: float) -> float:
        arrays = [t.detach().numpy() + step * v for t, v in zip(inputs, direction)]
        moved = [torch.from_numpy(np.asarray(array)) for array in arrays]
        return float(loss(program(*moved), places).item())

    before, here, after = at(-STEP), at(0.0), at(STEP)
    if not np.isfinite([before, here, after]).all():
        return  # the mean of nothing
    size = 1 + abs(here) + sum(np.abs(g).sum() for g in grads)
    if abs((after - here) - (here - before)) > 1e-4 * STEP * size:
        return  # a kink, or a jump
    slope = (after - before) / (2 * STEP)
    given_ = sum(float((g * v).sum()) for g, v in zip(grads, direction))
    assert abs(slope - given_) < 1e-4 * size, f"slope {slope}, by gradients {given_}"


budgets = st.sampled_from([0.0, 0.5, 1.0])


@pytest.mark.fuzz
@settings(max_examples=MANY)
@given(smooth_programs, budgets, st.integers(0, 2**32 - 1))
def test_gradients(program: Program, budget: float, seed: int) -> None:
    assume(check(program, [
        (run_by_operators, AutodiffOptions()),
        (fused_as_python, AutodiffOptions("min_cut", budget)),
    ], seed))


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(smooth_programs, budgets, st.integers(0, 2**32 - 1))
def test_gradients_in_machine_code(program: Program, budget: float, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", "0")
        assume(check(program, [(compile_graph, AutodiffOptions("min_cut", budget))], seed))


# ---- by hand ------------------------------------------------------------------------------------


BACKENDS = ["aot_eager", "inductor"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_relu_is_flat_at_zero(backend):
    x = torch.tensor([-1.0, 0.0, -0.0, 1.0], requires_grad=True)
    torch.compile(lambda x: torch.relu(x) * 3, backend=backend)(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 3.0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shapes", [
    [(2, 3), (3,)], [(2, 3), (1, 3)], [(2, 3), (2, 1)], [(2, 1), (1, 3)], [(2, 3), ()],
    [(4, 2, 3), (2, 1)], [(1, 1), (3,)], [(0, 3), (3,)],
])
def test_gradients_of_what_was_broadcast_are_sums(backend, shapes):
    generator = np.random.default_rng(3)
    x, y = (torch.tensor(generator.standard_normal(s), requires_grad=True) for s in shapes)
    f = lambda x, y: torch.tanh(x * y) + x / (y * y + 1)
    torch.compile(f, backend=backend)(x, y).sum().backward()
    found = x.grad, y.grad
    x.grad = y.grad = None
    f(x, y).sum().backward()
    assert [tuple(g.shape) for g in found] == [tuple(t.shape) for t in (x, y)]
    torch.testing.assert_close(found, (x.grad, y.grad))
