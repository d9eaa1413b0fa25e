"""Which loops threads share, what the text says of it, and that the values are those of one thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from labcore import dtypes, ops, trace
from labcore.codegen import compile_graph, print_kernel
from labcore.codegen.sharing import shareable
from labcore.fusion import fuse_graph
from labcore.shapes import Expr
from labcore.tensor import get_num_threads, set_num_threads

from .graphs import arrays, chain, eagerly, filled, meta, traced

WIDE = meta(1024, 300)
WORTH = 262144  # elements


def softmax(x: Any) -> Any:
    e = ops.exp(ops.sub(x, ops.amax(x, -1, True)))
    return ops.div(e, ops.sum(e, -1, True))


def bias_gradient(x: Any, bias: Any) -> Any:
    t = ops.mul(x, bias)
    return t, ops.sum(t, 0)


# (function, inputs, the loop that is shared, the rule)
NESTS: dict[str, tuple[Callable, tuple, str, str]] = {
    "elements": (chain, (meta(WORTH), meta(WORTH)), "i0", "elements"),
    "small": (chain, (meta(4), meta(4)), "", "small"),
    "just not": (chain, (meta(WORTH - 1), meta(WORTH - 1)), "", "small"),
    "dear": (ops.exp, (meta(WORTH // 5 + 1),), "i0", "elements"),
    "not dear enough": (ops.exp, (meta(WORTH // 5),), "", "small"),
    "rows": (chain, (WIDE, meta(300)), "i0", "rows"),
    "few rows": (chain, (meta(2, 300, 500), meta(300, 1)), "i1", "rows"),
    "transposed": (chain, (WIDE, meta(1024, 300, stride=(1, 1024))), "i0", "rows"),
    "softmax": (softmax, (WIDE,), "i0", "rows"),
    "row sums": (lambda x: ops.sum(x, 1), (WIDE,), "i0", "rows"),
    "cumsum of rows": (lambda x: ops.cumsum(x, 1), (WIDE,), "i0", "rows"),
    "cumsum of columns": (lambda x: ops.cumsum(x, 0), (WIDE,), "i1", "columns"),
    "column sums": (lambda x: ops.sum(x, 0), (WIDE,), "part", "parts"),
    "bias gradient": (bias_gradient, (WIDE, meta(300)), "part", "parts"),
    "few columns": (lambda x: ops.sum(x, 0), (meta(60000, 5),), "part", "parts"),
    "few rows of columns": (lambda x: ops.sum(x, 0), (meta(128, 2100),), "i1", "columns"),
    "columns of matrices": (lambda x: ops.sum(x, 1), (meta(20, 300, 200),), "i2", "columns"),
    "narrow": (lambda x: ops.sum(x, 1), (meta(20, 3000, 5),), "", "narrow"),
    "both sums": (lambda x: (ops.sum(x, 0), ops.sum(x, 1)), (WIDE,), "part", "parts"),
    "total": (lambda x: ops.sum(x, 0), (meta(1 << 18, dtype=dtypes.int64),), "part", "parts"),
    "running sum": (lambda x: ops.cumsum(x, 0), (meta(1 << 18),), "", "one total"),
    "small total": (lambda x: ops.sum(x, 0), (meta(1000),), "", "small"),
    "small columns": (lambda x: ops.sum(x, 0), (meta(1000, 20),), "", "small"),
}


@pytest.fixture(params=(2, 4))
def threads(request) -> Iterator[int]:
    before = get_num_threads()
    yield request.param
    set_num_threads(before)


@pytest.mark.parametrize("name", NESTS)
def test_which_loop_is_shared(name):
    function, metas, variable, rule = NESTS[name]
    (nest,) = fuse_graph(traced(function, *metas).graph).nests
    kernel = print_kernel(nest)
    assert (kernel.sharing.variable, kernel.sharing.rule) == (variable, rule)
    shared = {line.split()[1] for line in kernel.source.splitlines() if "prange(" in line}
    assert shared == ({variable} if variable else set())


@pytest.mark.parametrize("name", NESTS)
def test_values_are_the_same_bits_on_any_number_of_threads(name, threads):
    function, metas, *_ = NESTS[name]
    call = compile_graph(traced(function, *metas), "inference")
    inputs = [filled(m, k) for k, m in enumerate(metas)]
    set_num_threads(1)
    alone = [a.copy() for a in arrays(call(list(inputs)))]
    set_num_threads(threads)
    for _ in range(3):
        for a, b in zip(alone, arrays(call(list(inputs)))):
            assert a.tobytes() == b.tobytes()
    for a, b in zip(alone, eagerly(function, inputs)):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-4)


def test_python_threads_that_call_one_program(threads):
    call = compile_graph(traced(softmax, WIDE), "inference")
    set_num_threads(threads)
    x = filled(WIDE)
    (right,), wrong = arrays(call([x])), []

    def work() -> None:
        for _ in range(10):
            (found,) = arrays(call([x]))
            if found.tobytes() != right.tobytes():
                wrong.append(found)

    started = [threading.Thread(target=work) for _ in range(6)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not wrong


def test_what_is_written_in_place_where_another_turn_reads_stays_on_one_thread():
    """A turn that reads its neighbour needs what was there before."""
    (nest,) = fuse_graph(traced(chain, meta(WORTH), meta(WORTH)).graph).nests
    assert shareable(nest).variable == "i0"
    nest.nodes[0].loads[nest.nodes[-1].name] = {Expr.of("i0") + 1}
    assert shareable(nest).rule == "in place"


def test_the_trace_tells_the_rule():
    with trace.record() as events:
        compile_graph(traced(chain, meta(4), meta(4)), "inference")
        compile_graph(traced(chain, WIDE, meta(300)), "inference")
    small, large = events.of(trace.LoopShared)
    assert (small.variable, small.rule) == ("", "small")
    assert (large.variable, large.rule) == ("i0", "rows")
    assert events.text("threads").splitlines() == [
        "numba_fused_add_mul_relu_0: one thread, small: work of 4, and 262144 would be",
        "    worth a second thread",
        "",
        "numba_fused_add_mul_relu_0: threads share i0, rows: work of 307200; each row",
        "    by itself",
    ]
