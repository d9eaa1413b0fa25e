"""Random graphs in random legal orders of fusing: text and machine code equal eager mode."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from labcore.codegen import compile_schedule, memory_plan, print_kernel, print_program
from labcore.fusion import FusionOptions, count_in_source, ledger, lower, schedule
from labcore.fusion.options import DEFAULT
from labcore.fusion.verify import verify_program
from labcore.measure.memory import peak_bytes
from labcore.tensor import Tensor, from_numpy
from tests.fusion.graphs import RandomGraph, arrays_for, assert_same, eager

from .graphs import arrays, as_python

FEW = max(12, settings.default.max_examples // 4)  # each compiles


def made(seed: int, inlined: bool, options: FusionOptions = DEFAULT):
    """A schedule, its inputs, and what eager mode makes of them."""
    rng = np.random.default_rng(seed)
    graph = RandomGraph(rng, int(rng.integers(2, 12))).graph
    inputs = arrays_for(graph, rng)
    with np.errstate(all="ignore"):
        want = eager(graph, inputs)
    plan = schedule(
        verify_program(lower(graph, inlined)), priority=lambda *_: rng.random(), options=options
    )
    return plan, [from_numpy(a) for a in inputs], want


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_text_as_plain_python(seed, inlined):
    plan, inputs, want = made(seed, inlined)
    kernels = [print_kernel(nest, k) for k, nest in enumerate(plan.nests)]
    source = print_program(plan, kernels, "inference", check_inputs=True)
    assert_same(arrays(as_python(source)(list(inputs))), want)


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_planned_peak_is_what_an_allocator_counts(seed, inlined):
    plan, inputs, _ = made(seed, inlined)
    kernels = [print_kernel(nest, k) for k, nest in enumerate(plan.nests)]
    call = as_python(print_program(plan, kernels, "inference"))
    assert peak_bytes(call, list(inputs)) == memory_plan(plan, kernels).peak({})


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_outputs_have_memory_of_their_own(seed, inlined):
    plan, inputs, _ = made(seed, inlined)
    kernels = [print_kernel(nest, k) for k, nest in enumerate(plan.nests)]
    found = as_python(print_program(plan, kernels, "inference"))(list(inputs))
    given = {id(t): t.array for t in (*inputs, *found) if isinstance(t, Tensor)}
    for a, b in combinations(given.values(), 2):
        assert not np.shares_memory(a, b)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(seed=st.integers(0, 2**32 - 1), inlined=st.booleans())
def test_machine_code(seed, inlined):
    plan, inputs, want = made(seed, inlined)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", "0")
        call = compile_schedule(plan, {}, "inference")
    args = list(inputs)
    assert_same(arrays(call(args)), want)
    assert args == []  # the inputs are let go of


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1))
def test_accesses_in_the_text_are_those_of_the_ledger(seed):
    plan, inputs, _ = made(seed, True)
    if 0 in inputs[0].shape:
        return
    kernels = [print_kernel(nest, k).source for k, nest in enumerate(plan.nests)]
    assert sum(count_in_source(source).executed for source in kernels) == int(ledger(plan).executed)
