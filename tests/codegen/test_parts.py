"""Sums in parts: their text, and that any number of threads gives the same bits."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import labcore as torch
from labcore import dtypes, ops, trace
from labcore.codegen import compile_graph, compile_schedule, print_kernel, print_program, sharing
from labcore.codegen.build import compiled_kernels
from labcore.codegen.ranges import loops_of
from labcore.fusion import count_in_source, fuse_graph
from labcore.measure.roof import operations_in
from labcore.tensor import get_num_threads, set_num_threads
from tests.fusion.graphs import assert_same

from .graphs import arrays, as_python, eagerly, filled, meta, traced
from .test_random import FEW, made

WIDE = meta(1000, 300)


def text_of(function: Callable, *metas: Any) -> str:
    (nest,) = fuse_graph(traced(function, *metas).graph).nests
    kernel = print_kernel(nest)
    assert kernel.sharing.rule == "parts"
    return kernel.source


def test_columns_in_parts():
    assert text_of(lambda x: ops.sum(x, 0), meta(1000, 300)).splitlines()[1:] == [
        "    for part in prange(4):",
        "        for i1 in range(300):",
        "            sum_parts[320*part + i1] = float64(0.0)",
        "        for i0 in range(250*part, 250*part + 250):",
        "            for i1 in range(300):",
        "                tmp0 = x[300*i0 + i1]",
        "                tmp1 = float64(tmp0)",
        "                sum_parts[320*part + i1] = radd(sum_parts[320*part + i1], tmp1)",
        "    for part in range(1, 4):",
        "        for i1 in range(300):",
        "            sum_parts[i1] = sum_parts[i1] + sum_parts[320*part + i1]",
        "    for i1 in range(300):",
        "        sum[i1] = float32(sum_parts[i1])",
    ]


def test_a_total_in_parts_pass_by_pass():
    """The last part is the shorter one."""
    assert text_of(lambda x: ops.sub(x, ops.sum(x)), meta(300001)).splitlines()[5:] == [
        "    for part in prange(18):",
        "        sum_acc = float64(0.0)",
        "        for i0 in range(16667*part, min(16667*part + 16667, 300001)):",
        "            tmp0 = x[i0]",
        "            tmp1 = float64(tmp0)",
        "            sum_acc = radd(sum_acc, tmp1)",
        "        sum_parts[part] = sum_acc",
        "    sum_acc = sum_parts[0]",
        "    for part in range(1, 18):",
        "        sum_acc = sum_acc + sum_parts[part]",
        "    tmp2 = float32(sum_acc)",
        "    for part in prange(18):",
        "        for i0 in range(16667*part, min(16667*part + 16667, 300001)):",
        "            tmp3 = x[i0]",
        "            tmp4 = tmp3 - tmp2",
        "            sub[i0] = tmp4",
    ]


@pytest.mark.parametrize(("turns", "most", "size"), [(64, 64, 1), (65, 33, 2), (100, 50, 2),
                                                     (129, 43, 3), (6400, 64, 100)])
def test_no_part_is_empty(turns, most, size):
    metas = meta(turns, 1), meta(1 << 15)
    (nest,) = fuse_graph(traced(lambda x, y: ops.sum(ops.mul(x, y)), *metas).graph).nests
    cut = sharing.parts_of(nest)
    assert (cut.most, cut.size) == (most, size) and (most - 1) * size < turns
    assert str(cut) == f"{most} parts of {size} turns of {cut.variable}"
    source = print_kernel(nest).source
    assert f"in prange({most}):" in source and f"range({size}*part, {size}*part + {size}" in (
        source.replace("min(", ""))


def test_a_kernel_in_phases():
    """What is compiled: a loop over parts a phase, the rest after all of them."""
    text = text_of(lambda x: (ops.sub(x, ops.sum(x)), ops.sum(x)), meta(1 << 18))
    (function,) = compiled_kernels(text, "<phases>").values()
    *_, begin, end, phase = function.__annotations__
    assert (begin, end, phase) == ("begin", "end", "phase")
    x, left = np.arange(1 << 18, dtype=np.float32) % 7, np.zeros(16)
    out, total = np.zeros_like(x), np.full(1, np.nan, np.float32)
    memory = {"x": x, "sub": out, "sum_1": total, "sum_parts": left}
    given = [memory[name] for name in list(function.__annotations__)[:-3]]
    for number in range(16):
        function(*given, number, number + 1, 0)
    assert left.sum() == x.sum(dtype=np.float64) and np.isnan(total) and not out.any()
    function(*given, 3, 5, 1)
    size = len(x) // 16
    assert np.array_equal(out[3 * size:5 * size], x[3 * size:5 * size] - np.float32(left.sum()))
    assert not out[5 * size:].any() and np.isnan(total)
    function(*given, 0, 0, 2)
    assert total[0] == np.float32(left.sum())


def test_work_and_accesses_of_parts():
    text = text_of(lambda x: ops.sum(x, 0), meta(1000, 300))
    (kernel,) = ast.parse(text).body
    assert isinstance(kernel, ast.FunctionDef)
    found = loops_of(kernel)
    assert (found.turns.const, found.phases) == (4, 1)
    assert found.work.const == 300 + 1000 * 300 + 3 * 300 + 300
    counted = count_in_source(text)
    assert counted.loads["x"] == 300000 and counted.stores["sum"] == 300
    assert operations_in(text) == 1000 * 300 + 3 * 300  # additions
    total = count_in_source(text_of(lambda x: ops.sum(x), meta(1 << 18)))
    assert (total.loads, total.stores) == ({"x": 1 << 18}, {"sum": 1})  # as on one thread


# ---- values --------------------------------------------------------------------------------------


def gelu_backward(x: Any, y: Any) -> Any:
    t = ops.mul(y, ops.exp(ops.neg(ops.mul(x, x))))
    return t, ops.sum(t, 0)


def layer_norm_backward(x: Any, y: Any) -> Any:
    mean = ops.mean(x, -1, True)
    apart = ops.sub(x, mean)
    scale = ops.rsqrt(ops.add(ops.mean(ops.mul(apart, apart), -1, True), 1e-5))
    hat = ops.mul(apart, scale)
    inner = ops.sub(y, ops.mean(y, -1, True))
    dx = ops.sub(inner, ops.mul(hat, ops.mean(ops.mul(y, hat), -1, True)))
    return ops.mul(scale, dx), ops.sum(ops.mul(y, hat), 0), ops.sum(y, 0)


def both(x: Any) -> Any:
    rows = ops.sum(x, 1)
    return ops.sum(x, 0), rows, ops.sum(ops.mul(rows, rows))


CASES: dict[str, tuple[Callable, tuple]] = {
    "columns": (lambda x: ops.sum(x, 0), (WIDE,)),
    "narrow": (lambda x: ops.sum(x, 0), (meta(60001, 5),)),
    "one column": (lambda x: ops.sum(x, 0), (meta(300001, 1),)),
    "float64": (lambda x: ops.sum(x, 0), (meta(1000, 300, dtype=dtypes.float64),)),
    "float64 total": (lambda x: ops.sum(x), (meta(1000, 300, dtype=dtypes.float64),)),
    "int64": (lambda x: (ops.sum(x, 0), ops.amin(x, 0)), (meta(999, 300, dtype=dtypes.int64),)),
    "int64 total": (lambda x: ops.sum(x), (meta(999, 300, dtype=dtypes.int64),)),
    "bool": (lambda x: (ops.sum(x, 0), ops.amax(x, 0)), (meta(1000, 300, dtype=dtypes.bool),)),
    "bool total": (lambda x: ops.amax(x), (meta(300000, dtype=dtypes.bool),)),
    "maxima": (lambda x: (ops.amax(x, 0), ops.amin(x, 0)), (WIDE,)),
    "argmax": (lambda x: ops.argmax(x, 0), (WIDE,)),
    "product": (lambda x: ops.prod(ops.add(ops.mul(x, 1e-4), 1.0), 0), (WIDE,)),
    "variance": (lambda x: ops.var(x, 0), (WIDE,)),
    "whole variance": (lambda x: ops.var(x), (WIDE,)),
    "total": (lambda x: ops.sum(x), (meta(300001),)),
    "dear total": (lambda x: ops.sum(ops.exp(x)), (meta(100001),)),
    "maximum": (lambda x: (ops.amax(x), ops.mul(ops.amin(x), 2.0)), (WIDE,)),
    "total, then all": (lambda x: ops.div(x, ops.add(ops.sum(ops.mul(x, x)), 1.0)), (WIDE,)),
    "softmax of all": (lambda x: ops.softmax(x, 0), (meta(300001),)),
    "transposed total": (lambda x, y: ops.sum(ops.mul(x, y)),
                         (WIDE, meta(1000, 300, stride=(1, 1000)))),
    "gelu backward": (gelu_backward, (WIDE, WIDE)),
    "layer norm backward": (layer_norm_backward, (WIDE, WIDE)),
    "both": (both, (WIDE,)),
    "columns of a cube": (lambda x: ops.sum(x, (0, 1)), (meta(2, 500, 300),)),
    "running sums": (lambda x: (ops.cumsum(x, 1), ops.sum(x, 0)), (WIDE,)),
}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = get_num_threads()
    yield
    set_num_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_any_number_of_threads_gives_the_same_bits(name):
    function, metas = CASES[name]
    with trace.record() as story:
        call = compile_graph(traced(function, *metas), "inference")
    assert "parts" in [event.rule for event in story.of(trace.LoopShared)]
    inputs = [filled(m, k) for k, m in enumerate(metas)]
    set_num_threads(1)
    alone = [a.copy() for a in arrays(call(list(inputs)))]
    for count in (2, 3, 4):
        set_num_threads(count)
        for a, b in zip(alone, arrays(call(list(inputs)))):
            assert a.tobytes() == b.tobytes()
    for a, b in zip(alone, eagerly(function, inputs)):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("shape", [(1 << 21,), (4096, 256)])
def test_sums_are_rounded_once(shape):
    """Whatever the parts are: they add up in float64."""
    x = filled(meta(*shape))
    found = arrays(compile_graph(traced(lambda x: ops.sum(x, 0), meta(*shape)), "inference")([x]))
    exact = x.array.sum(0, dtype=np.longdouble)
    assert np.all(np.abs(found[0] - exact) <= 1e-7 * np.abs(exact))


@pytest.mark.parametrize("function", [
    lambda x: x.sum(0), lambda x: (x - x.mean(), x.exp().sum()),
    lambda x: (x * 2, (x * 2).sum(0), x.sum(1), x.sum())])
def test_sizes_that_are_symbols(function):
    """A call decides how many parts there are, of its sizes alone."""
    compiled = torch.compile(function, dynamic=True)
    for shape in ((700, 600), (3, 5), (129, 2100), (5000, 7), (2, 300000), (1, 1), (0, 4), (4, 0)):
        x = filled(meta(*shape), sum(shape))
        found = []
        for count in (1, 2, 4):
            set_num_threads(count)
            found.append([a.copy() for a in _results(compiled(x))])
        for other in found[1:]:
            assert [a.tobytes() for a in other] == [a.tobytes() for a in found[0]]
        for a, b in zip(found[0], _results(function(x))):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=5e-3)


def _results(value: Any) -> list[np.ndarray]:
    return [t.array for t in (value if isinstance(value, tuple) else (value,))]


def test_no_elements():
    for function, shape in ((lambda x: ops.sum(x, 0), (0, 300)), (lambda x: ops.sum(x), (0,))):
        (found,) = arrays(compile_graph(traced(function, meta(*shape)), "inference")(
            [filled(meta(*shape))]))
        assert not found.any()


def test_written_over_the_input_and_added_up():
    def step(x):
        x.mul_(0.5)
        x.add_(1.0)
        return x.sum(0), (x * x).sum()

    for count in (1, 4):
        set_num_threads(count)
        eager, given = filled(WIDE), filled(WIDE)
        want, found = step(eager), torch.compile(step)(given)
        assert np.array_equal(given.array, eager.array)
        for a, b in zip(found, want):
            np.testing.assert_allclose(a.array, b.array, rtol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_names_that_the_text_uses_itself(dynamic):
    def named(part, parts, phase, sum_parts):
        return (part * parts).sum(0), (phase - sum_parts).sum()

    inputs = [filled(WIDE, k) for k in range(4)]
    found = torch.compile(named, dynamic=dynamic)(*inputs)
    for a, b in zip(found, named(*inputs)):
        np.testing.assert_allclose(a.array, b.array, rtol=2e-5, atol=2e-4)


def test_what_is_one_number_and_is_written_over_what_parts_read_stays_in_one():
    (nest,) = fuse_graph(traced(lambda x: ops.sum(x, 0), meta(1 << 18)).graph).nests
    assert sharing.shareable(nest).rule == "parts"
    (node,) = nest.nodes
    buffers = nest.buffers_by_name
    nest.buffers_by_name = buffers | {node.name: replace(buffers[node.name], storage="x")}
    assert sharing.shareable(nest).rule == "one total"


def test_several_callers_have_scratch_of_their_own():
    call = compile_graph(traced(gelu_backward, WIDE, WIDE), "inference")
    x, y = filled(WIDE), filled(WIDE, 1)
    set_num_threads(3)
    right = [a.copy() for a in arrays(call([x, y]))]
    wrong: list[int] = []

    def work() -> None:
        for k in range(20):
            found = arrays(call([x, y]))
            wrong.extend([k] * any(a.tobytes() != b.tobytes() for a, b in zip(found, right)))

    callers = [threading.Thread(target=work) for _ in range(5)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert not wrong


@pytest.mark.parametrize("count", [1, 4])
def test_a_part_that_gives_up(count):
    """The phases after it do not run, and the error is raised."""
    size, places = meta(300000), meta(300000, dtype=dtypes.int64)

    def taken(x, places):
        return ops.sum(ops.index_select(x, 0, places))

    call = compile_graph(traced(taken, size, places), "inference")
    set_num_threads(count)
    x, at = filled(size), filled(places)
    at.array[...] %= 300000
    (found,) = arrays(call([x, at]))
    np.testing.assert_allclose(found, x.array[at.array].sum(), rtol=1e-4)
    at.array[250000] = 300000
    with pytest.raises(IndexError, match="out of range"):
        call([x, at])


def test_the_plan_counts_what_parts_have():
    call = compile_graph(traced(gelu_backward, WIDE, WIDE), "inference")
    assert "empty_strided((1280,), (1,), dtypes.float64)" in call.source  # 4 parts of 320
    with trace.record() as events:
        compile_graph(traced(gelu_backward, WIDE, WIDE), "inference")
    (plan,) = events.of(trace.MemoryPlanned)
    assert plan.peak == 4 * 300000 + 4 * 300 + 8 * 1280


# ---- small things in parts -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything() -> Iterator[None]:
    """All sums are cut, and their kernels shared, whatever their size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", "0")
        for name, value in (("LEAST", 0), ("ROWS_OF_A_PART", 1), ("ELEMENTS_OF_ROWS", 1),
                            ("ELEMENTS_OF_A_PART", 1), ("MOST_PARTS", 3),
                            ("MOST_PARTS_OF_A_LOOP", 4), ("LINE", 2)):
            patch.setattr(sharing, name, value)
        yield


def in_parts(seed: int, inlined: bool) -> tuple[Any, list, list, list]:
    plan, inputs, want = made(seed, inlined)
    return plan, [print_kernel(nest, k) for k, nest in enumerate(plan.nests)], inputs, want


@pytest.mark.fuzz
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_graphs_as_plain_python(everything, seed, inlined):
    plan, kernels, inputs, want = in_parts(seed, inlined)
    source = print_program(plan, kernels, "inference", check_inputs=True)
    assert_same(arrays(as_python(source)(list(inputs))), want)


@pytest.mark.fuzz
@settings(max_examples=FEW)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_graphs_as_machine_code(everything, seed, inlined):
    plan, kernels, inputs, want = in_parts(seed, inlined)
    if any(kernel.sharing.rule == "parts" for kernel in kernels):
        assert_same(arrays(compile_schedule(plan, {}, "inference")(list(inputs))), want)
