"""What is printed: kernels, the program around them, and the user's line beside each statement."""

from __future__ import annotations

import linecache
from collections.abc import Callable

import numpy as np
import pytest

from labcore import dtypes, ops, trace
from labcore.codegen import compile_graph, print_kernel, print_program
from labcore.fusion import fuse_graph
from labcore.graph import GraphModule
from labcore.trace import Origin

from .graphs import arrays, as_python, chain, eagerly, filled, meta, traced


@pytest.fixture
def block(tmp_path) -> Origin:
    """A user's line."""
    file = tmp_path / "block.py"
    file.write_text("def block(x, bias):\n    x = x + bias\n")
    return Origin(str(file), 2, 8, 2, 16, "block")


def printed(gm: GraphModule, phase: str = "inference", **more) -> str:
    plan = fuse_graph(gm.graph, phase)
    return print_program(
        plan, [print_kernel(nest, k) for k, nest in enumerate(plan.nests)], phase, **more
    )


def test_the_kernel_of_the_block(block):
    (nest,) = fuse_graph(traced(chain, meta(4), meta(4), origin=block).graph).nests
    kernel = print_kernel(nest, 0)
    code = [line.split("  # ")[0].rstrip() for line in kernel.source.splitlines()]
    out = nest.arguments[-1]
    assert code == [
        "def numba_fused_add_mul_relu_0(",  # wider than a page: one parameter a line
        '    x: "float32*",',
        '    bias: "float32*",',
        f'    {out}: "float32*",',
        "):",
        "    for i0 in range(4):",
        "        tmp0 = x[i0]",
        "        tmp1 = bias[i0]",
        "        tmp2 = tmp0 + tmp1",
        "        tmp3 = relu(tmp2)",
        "        tmp4 = tmp3 * float32(2.0)",
        f"        {out}[i0] = tmp4",
    ]


def test_the_users_line_stands_beside_each_statement(block):
    (nest,) = fuse_graph(traced(chain, meta(4), meta(4), origin=block).graph).nests
    statements = print_kernel(nest, 0).source.splitlines()[6:]
    assert all(line.endswith("  # block.py:2  x + bias") for line in statements)
    assert len({line.index("  # ") for line in statements}) == 1  # in one column


def test_the_program_of_the_block(block):
    source = printed(traced(chain, meta(4), meta(4), origin=block))
    call = source[source.index("def call(args):") : source.index("if __name__")].strip()
    out = call.splitlines()[3].split()[0]
    assert call.splitlines() == [
        "def call(args):",
        "    x, bias = args",
        "    args.clear()",
        f"    {out} = empty_strided((4,), (1,), dtypes.float32)",
        f"    numba_fused_add_mul_relu_0(x.array, bias.array, {out}.array)",
        f"    return ({out},)",
    ]


def test_buffers_die_after_their_last_reader_and_products_are_written_where_they_are_told_to():
    def function(x, bias):
        return ops.relu(ops.matmul(ops.exp(x), bias))

    source = printed(traced(function, meta(4, 5), meta(5, 3)))
    lines = [line.strip() for line in source.splitlines()]
    assert 'with numpy.errstate(all="ignore"):' in lines and "import numpy" in lines
    launch = next(k for k, line in enumerate(lines) if line.startswith("numba_fused_exp_0("))
    assert lines[launch + 1] == "del x"
    assert lines[launch + 2] == "matmul = empty_strided((4, 3), (3, 1), dtypes.float32)"
    assert lines[launch + 3].startswith(
        "numpy.matmul(exp_.array, bias.array, out=matmul.array)  # "
    )
    assert lines[launch + 4] == "del bias, exp_"


PRODUCTS: dict[str, tuple[Callable, tuple, str]] = {
    "whole": (ops.matmul, (meta(4, 5), meta(5, 3)), "(x.array, bias.array, out=matmul.array)"),
    "transposed": (
        lambda x, w: ops.matmul(x, ops.t(w)), (meta(4, 5), meta(3, 5)),
        "(x.array, bias.array.T, out=matmul.array)",
    ),
    "a part": (
        lambda x, w: ops.matmul(x, ops.slice(w, 0, 2, 7)), (meta(4, 5), meta(8, 3)),
        "(x.array, strided(bias.array, (5, 3), (3, 1), 6), out=matmul.array)",
    ),
    "a part of what is turned": (
        lambda x, w: ops.matmul(x, ops.slice(w, 0, 1, 3)),
        (meta(4, 2), meta(5, 3, stride=(1, 5))),
        "(x.array, strided(bias.array, (2, 3), (1, 5), 1), out=matmul.array)",
    ),
    "rows of a batch": (
        ops.matmul, (meta(2, 4, 5), meta(5, 3)),
        "(strided(x.array, (8, 5), (5, 1)), bias.array, "
        "out=strided(matmul.array, (8, 3), (3, 1)))",
    ),
    "rows of a batch, uneven": (
        lambda x, w: ops.matmul(ops.slice(x, 1, 0, 3), w), (meta(2, 4, 5), meta(5, 3)),
        "(strided(x.array, (2, 3, 5), (20, 5, 1)), bias.array, out=matmul.array)",
    ),
    "rows and a vector": (
        ops.matmul, (meta(2, 4, 5), meta(5)),
        "(strided(x.array, (8, 5), (5, 1)), bias.array, out=strided(matmul.array, (8,), (1,)))",
    ),
    "a batch": (
        ops.matmul, (meta(2, 4, 5), meta(2, 5, 3)), "(x.array, bias.array, out=matmul.array)"),
    "vectors": (ops.matmul, (meta(5), meta(5)), "(x.array, bias.array, out=matmul.array)"),
    "of nothing": (ops.matmul, (meta(4, 0), meta(0, 3)), "(x.array, bias.array, "),
    "nothing": (
        lambda x, w: ops.matmul(x, ops.slice(w, 0, 2, 7)), (meta(0, 5), meta(8, 3)), "(x.array, "),
    "whole numbers": (
        ops.matmul, (meta(4, 5, dtype=dtypes.int64), meta(5, 3, dtype=dtypes.int64)),
        "(x.array, bias.array, out=matmul.array)",
    ),
}


@pytest.mark.parametrize("what", PRODUCTS)
def test_how_a_product_is_written(what):
    function, metas, text = PRODUCTS[what]
    gm = traced(function, *metas)
    assert f"numpy.matmul{text}" in printed(gm)
    inputs = [filled(m, k) for k, m in enumerate(metas)]
    (got,) = arrays(compile_graph(gm, "inference")(list(inputs)))
    (right,) = eagerly(function, inputs)
    assert got.shape == right.shape and got.dtype == right.dtype
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-6)


def test_operators_without_loops_are_called_without_a_tape():
    source = printed(traced(ops.argsort, meta(4)))
    assert "with no_grad():" in source and "numpy" not in source


def test_names_that_are_words_of_the_text_step_aside():
    """Variables of the user may be called anything."""

    def function(*args):
        return ops.exp(ops.add(ops.add(args[0], args[1]), ops.add(args[2], args[3])))

    for names in (
        ["range", "float32", "exp", "tmp0"],
        ["args", "call", "program", "i0"],
        ["exp_", "exp", "kernel", "del_"],
        ["dtypes", "ops", "lambda_", "empty_strided"],
    ):
        gm = traced(function, *[meta(4)] * 4, names=names)
        inputs = [filled(meta(4), k) for k in range(4)]
        (got,) = arrays(compile_graph(gm, "inference")(list(inputs)))
        assert abs(got - eagerly(function, inputs)[0]).max() < 1e-5


def test_inputs_of_a_backward_graph_are_checked_others_when_asked_for(monkeypatch):
    gm = traced(chain, meta(4), meta(4))
    assert "assert_layout(" not in compile_graph(gm, "forward").source
    assert (
        "assert_layout(x, 'x', (4,), (1,), dtypes.float32)" in compile_graph(gm, "backward").source
    )
    monkeypatch.setenv("LAB_CHECK_INPUTS", "1")
    assert "assert_layout(" in compile_graph(gm, "inference").source


def test_a_wrong_input_of_a_backward_graph_is_refused():
    call = compile_graph(traced(chain, meta(4), meta(4)), "backward")
    with pytest.raises(
        AssertionError,
        match=r"bias: compiled code expects float32\[4\] with strides \(1,\), but got "
        r"float64\[4\]",
    ):
        call([filled(meta(4)), filled(meta(4, dtype=dtypes.float64))])
    with pytest.raises(AssertionError, match="strides"):
        call([filled(meta(4)), filled(meta(4, stride=(2,)))])


def test_constants_and_inputs_among_the_outputs():
    def function(x, bias):
        total = ops.add(x, bias)
        return total, bias, 3, None, total

    call = compile_graph(traced(function, meta(4), meta(4)), "inference")
    x, bias = filled(meta(4), 0), filled(meta(4), 1)
    total, same, three, nothing, again = call([x, bias])
    assert same is bias and three == 3 and nothing is None and again is total


def test_a_graph_that_computes_nothing():
    call = compile_graph(traced(lambda x: x, meta(4)), "inference")
    x = filled(meta(4))
    assert call([x]) == (x,)
    assert call.kernels == []


def test_constants_of_the_graph_module():
    weight = filled(meta(4), 3)
    gm = traced(chain, meta(4), meta(4))
    node = gm.graph.placeholders[1]
    with gm.graph.inserting_before(gm.graph.calls[0]):
        held = gm.graph.get_attr("weight", meta(4))
    node.replace_all_uses_with(held)
    gm.attrs["weight"] = weight
    x = filled(meta(4))
    (got,) = arrays(compile_graph(gm, "inference")([x, x]))
    assert (got == eagerly(chain, [x, weight])[0]).all()


def test_an_operator_on_a_view_of_an_input_that_is_a_view():
    """Offsets of operands count from the tensor's first element, not from its storage's."""
    base = filled(meta(6, 4))
    x = ops.slice(base, 0, 2, 6)
    function = lambda x: ops.matmul(ops.slice(x, 0, 1, 3), ops.t(ops.slice(x, 0, 0, 2)))
    call = compile_graph(traced(function, x.meta), "inference")
    assert (call([x])[0].array == function(x).array).all()


def test_events(block, tmp_path):
    gm = traced(chain, meta(4), meta(4), origin=block)
    with trace.record() as events:
        call = compile_graph(gm, "forward")
    (disk,) = events.of(trace.DiskCache)
    (kernel,) = events.of(trace.KernelReady)
    (code,) = events.of(trace.OutputCode)
    assert (disk.outcome, disk.reason) == ("miss", "absent")
    assert (kernel.name, kernel.cached) == ("numba_fused_add_mul_relu_0", False)
    assert (kernel.path, kernel.source) == (call.kernels[0].path, call.kernels[0].source)
    assert (code.phase, code.source) == ("forward", call.source)
    assert [s.note for s in events.of(trace.Stage) if s.name == "codegen"] == [
        "1 kernel, compiled"
    ]
    with trace.record() as events:
        compile_graph(gm, "forward")
    assert events.of(trace.DiskCache)[0].outcome == "hit"
    assert events.of(trace.KernelReady)[0].cached


def test_tracebacks_and_debuggers_find_the_text(monkeypatch):
    gm = traced(chain, meta(4), meta(4))
    for setting in ("1", "0"):
        monkeypatch.setenv("LAB_CACHE", setting)
        call = compile_graph(gm, "inference")
        shown = "".join(linecache.getlines(call.__code__.co_filename))
        assert shown == call.source
    path = call.__code__.co_filename
    del call
    assert linecache.getlines(path) == []  # no file: the text goes with the program


def test_kernel_names_are_cut_where_they_get_long():
    def function(x, bias):
        for op in (
            ops.exp,
            ops.sin,
            ops.cos,
            ops.tanh,
            ops.sigmoid,
            ops.erf,
            ops.abs,
            ops.neg,
            ops.relu,
            ops.sqrt,
            ops.square,
            ops.reciprocal,
            ops.log,
        ):
            x = op(x)
        return x

    (nest,) = fuse_graph(traced(function, meta(4), meta(4)).graph).nests
    kernel = print_kernel(nest, 7)
    assert kernel.name.startswith("numba_fused_abs_cos_erf_exp_") and kernel.name.endswith("_7")
    assert len(kernel.name) < 70


def test_what_is_written_in_parts_stays_where_it_began():
    """The first version takes a dead buffer's memory, the later ones are written over it."""

    def function(x, y):
        a = ops.matmul(ops.exp(x), y)
        b = ops.matmul(ops.add(a, ops.t(a)), y)
        rows = ops.slice(x, 0, 1, 4)
        return ops.slice_scatter(ops.tanh(ops.add(b, ops.t(b))), rows, 0, 0, 3)

    text = printed(traced(function, meta(4, 4), meta(4, 4)))
    inputs = [filled(meta(4, 4), seed) for seed in (1, 2)]
    np.testing.assert_allclose(
        arrays(as_python(text)(list(inputs)))[0], eagerly(function, inputs)[0], rtol=1e-5
    )
    assert "slice_scatter_start = add  # used again: nobody reads add any more" in text
    assert "slice_scatter = slice_scatter_start  # in place" in text
