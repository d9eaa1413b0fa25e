"""The form of a kernel that is for reading: it runs, and gives what the other form gives."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import labcore as torch
from labcore import ops, trace
from labcore.codegen import compile_schedule, print_kernel, print_plain, print_program
from labcore.fusion import FusionOptions, fuse_graph
from labcore.fusion.primitives import REDUCTIONS, SUMEXP
from tests.fusion.graphs import assert_same

from .graphs import arrays, as_python, chain, meta, traced
from .test_provenance import SORTS, X, statements, training
from .test_random import made

PLAIN = {"plain_kernels": True}
FEW = max(8, settings.default.max_examples // 8)  # each compiles
FAST = re.compile(r"\b(radd|rmul|rmax|rmin)\b")


def test_the_block_has_a_loop_for_each_axis():
    (nest,) = fuse_graph(traced(chain, meta(3, 4), meta(4)).graph).nests
    assert print_plain(nest).source.splitlines() == [
        "def numba_fused_add_mul_relu_0(",
        '    x: "float32*",',
        '    bias: "float32*",',
        '    mul: "float32*",',
        "):",
        "    for i0 in range(3):",
        "        for i1 in range(4):",
        "            tmp0 = x[4*i0 + i1]",
        "            tmp1 = bias[i1]",
        "            tmp2 = tmp0 + tmp1",
        "            tmp3 = relu(tmp2)",
        "            tmp4 = tmp3 * float32(2.0)",
        "            mul[4*i0 + i1] = tmp4",
    ]


def test_a_sum_is_a_sum():
    (nest,) = fuse_graph(traced(lambda x: ops.sum(x, 1), meta(3, 4)).graph).nests
    assert [line.split("  #")[0] for line in print_plain(nest).source.splitlines()] == [
        'def numba_fused_sum_0(x: "float32*", sum: "float32*"):',
        "    for i0 in range(3):",
        "        sum_total = float64(0.0)",
        "        for i1 in range(4):",
        "            tmp0 = x[4*i0 + i1]",
        "            tmp1 = float64(tmp0)",
        "            sum_total = sum_total + tmp1",
        "        tmp2 = float32(sum_total)",
        "        sum[i0] = tmp2",
    ]


@pytest.mark.parametrize("name", SORTS)
def test_each_sort_of_kernel_gives_the_same(name):
    fn = SORTS[name]
    with trace.record() as story:
        found = torch.compile(fn, options=PLAIN)(X.clone())
    same(found, fn(X.clone()))
    same(torch.compile(fn)(X.clone()), found)
    for kernel in story.of(trace.KernelReady):
        assert kernel.source == kernel.plain  # it is what ran
        assert not FAST.search(kernel.plain)
        for line in statements(kernel.plain):
            assert re.search(r"  # test_provenance\.py:\d+  \S", line), line


@pytest.mark.parametrize("name", ["pointwise", "softmax", "layer norm", "squares", "gathered",
                                  "row scan", "mean and variance", "extremes of rows"])
def test_each_sort_of_backward_gives_the_same(name):
    fn = SORTS.get(name, lambda x: x.amax(1) * x.amin(1))
    same(training(torch.compile(fn, options=PLAIN))(X), training(fn)(X))


def test_every_kind_of_reduction_has_a_plain_word():
    from labcore.codegen.spelling import COMBINE, PLAIN

    assert PLAIN.keys() == COMBINE.keys() == REDUCTIONS.keys() - {SUMEXP}  # several statements


def same(found, want):
    found, want = ([*v] if isinstance(v, tuple) else [v] for v in (found, want))
    for got, expected in zip(found, want, strict=True):
        assert (got.dtype, got.shape, got.stride()) == (
            expected.dtype, expected.shape, expected.stride(),
        )
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=2e-6, atol=1e-6)


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_graphs_as_python(seed, inlined):
    plan, inputs, want = made(seed, inlined, FusionOptions(plain_kernels=True))
    kernels = [print_plain(nest, k) for k, nest in enumerate(plan.nests)]
    call = as_python(print_program(plan, kernels, "inference", check_inputs=True))
    assert_same(arrays(call(list(inputs))), want)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_graphs_compiled(seed, inlined):
    plan, inputs, want = made(seed, inlined, FusionOptions(plain_kernels=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", "0")
        call = compile_schedule(plan, {}, "inference")
    assert [k.source for k in call.kernels] == [
        print_plain(nest, k).source for k, nest in enumerate(plan.nests)
    ]
    assert_same(arrays(call(list(inputs))), want)


def test_the_log_has_both_forms():
    with trace.record() as story:
        torch.compile(lambda x: (x * 2).sum(1))(X)
    assert "radd" in story.text("kernel_code")
    assert "sum_total = sum_total + " in story.text("plain_code")


def test_a_plain_kernel_is_printed_under_the_name_of_the_other():
    (nest,) = fuse_graph(traced(chain, meta(3, 4), meta(4)).graph).nests
    assert print_plain(nest, 2).name == print_kernel(nest, 2).name


def test_the_option_is_true_or_false():
    with pytest.raises(ValueError, match="plain_kernels is True or False, not 1"):
        FusionOptions(plain_kernels=1)
