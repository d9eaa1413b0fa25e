"""The kernels of every form compile for a Hopper card, without one: registers, spills, stack."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from labcore import dtypes, ops
from labcore.codegen.cuda import cubin, print_launches
from labcore.codegen.cuda.wrapper import print_program
from tests.fusion.graphs import chain, floats, graph_of, layer_norm, layer_norm_backward, softmax

from .grid import fused
from .test_grid_forms import gelu_backward
from .test_grid_tiles import plus_turned, turned

ROOM = Path(cubin.__file__).parents[2]
EXTRA = importlib.util.find_spec("numba_cuda") is not None
needs_extra = pytest.mark.skipif(not EXTRA, reason="needs the extra `cuda`: numba-cuda, no card")


def compiled(function, *metas):
    plan = fused(graph_of(function, *metas))
    launches = [print_launches(nest, k) for k, nest in enumerate(plan.nests)]
    return list(cubin.compile_source(print_program(plan, launches, "inference")).values())


CASES = {
    "pointwise": (chain, [floats(1 << 20), floats(1 << 20)], 24),
    "pointwise rows": (chain, [floats(4096, 4096), floats(4096)], 24),
    "transposed": (plus_turned, [floats(4096, 4096), floats(4096, 4096)], 40),
    "transposed, edges": (plus_turned, [floats(1000, 3000), floats(3000, 1000)], 40),
    "transposed doubles": (turned, [floats(1000, 3000, dtype=dtypes.float64)], 40),
    "transposed bools": (turned, [floats(1000, 3000, dtype=dtypes.bool)], 40),
    "softmax 256": (softmax, [floats(4096, 256)], 40),
    "softmax 4096": (softmax, [floats(4096, 4096)], 48),
    "layer norm": (layer_norm, [floats(4096, 1024), floats(1024), floats(1024)], 48),
    # two blocks of 256 threads walk over the rows: 128 registers are what there is for each
    "layer norm backward, more rows": (layer_norm_backward, [
        floats(16384, 4096), floats(16384, 4096), floats(4096), floats(16384, 1),
        floats(16384, 1)], 128),
    "layer norm backward 1024": (layer_norm_backward, [
        floats(65536, 1024), floats(65536, 1024), floats(1024), floats(65536, 1),
        floats(65536, 1)], 128),
    "layer norm backward": (layer_norm_backward, [
        floats(512, 4096), floats(512, 4096), floats(4096), floats(512, 1), floats(512, 1)], 128),
    # four blocks of 256 threads: walks that are unrolled further reach more of a copy's speed
    "column sums": (lambda x: ops.sum(x, 0), [floats(16384, 4096)], 64),
    "gelu backward": (gelu_backward, [floats(512, 256), floats(512, 256), floats(256)], 64),
    # sixteen elements in flight; four blocks of 256 threads find room
    "full sums": (lambda x: (ops.sum(x), ops.amax(x)), [floats(1 << 24)], 64),
    # all loads of a row come first, as nobody writes there: two blocks of 256 threads find room
    "running sums": (lambda x: ops.cumsum(x, -1), [floats(100, 40)], 128),
    "bools": (lambda x: (ops.all(x, -1), ops.any(x)), [floats(64, 40, dtype=dtypes.bool)], 40),
    "softmax 16384": (softmax, [floats(8192, 16384)], 64),
    "layer norm 4096": (layer_norm, [floats(4096, 4096), floats(4096), floats(4096)], 40),
    # ten numbers of two registers; fourteen blocks of 64 threads find room
    "doubles": (softmax, [floats(64, 300, dtype=dtypes.float64)], 72),
    "places": (lambda x: ops.index_select(x, 0, ops.remainder(ops.arange(12), 5)),
               [floats(9, 40)], 40),
}


@needs_extra
@pytest.mark.parametrize("name", CASES)
def test_registers_are_enough(name):
    function, metas, most = CASES[name]
    for kernel in compiled(function, *metas):
        assert (kernel.stack, kernel.spills) == (0, 0)
        assert 0 < kernel.registers <= most
        assert kernel.cubin[:4] == b"\x7fELF" and ".entry" in kernel.ptx


@needs_extra
def test_literals_are_no_doubles_and_no_product_is_64_bits_of_floats():
    (kernel,) = compiled(lambda x: ops.add(ops.mul(x, 2.1), 1.0), floats(4096))
    assert ".f64" not in kernel.ptx and kernel.ptx.count("ld.global") == 4


@needs_extra
@pytest.mark.parametrize("name", ["column sums", "gelu backward", "layer norm backward"])
def test_a_thread_adds_up_few_numbers_in_their_own_type(name):
    function, metas, _ = CASES[name]
    first, fold = compiled(function, *metas)
    assert ".f64" not in first.ptx and "add.f64" in fold.ptx.replace("add.rn.f64", "add.f64")


@needs_extra
def test_what_nobody_writes_is_loaded_by_its_own_way():
    for name, loads in (("layer norm", 16 + 2 * 16), ("pointwise rows", 2 * 4)):
        (kernel,) = compiled(*CASES[name][:1], *CASES[name][1])
        assert kernel.ptx.count("ld.global.nc.f32") == kernel.ptx.count("ld.global") == loads


@needs_extra
@pytest.mark.parametrize("half", dtypes.HALVES, ids=lambda t: t.name)
def test_halves_are_loaded_by_twos_and_one_instruction_converts_each(half):
    """Four words from each array; where one begins in the middle of a word, eight halves. Three
    operators, each of which rounds."""
    short = {"float16": "f16", "bfloat16": "bf16"}[half.name]
    whole = floats(1 << 20, dtype=half)
    (kernel,) = compiled(lambda x, b: ops.mul(ops.relu(ops.add(x, b)), 2.1), whole, whole)
    assert (kernel.stack, kernel.spills) == (0, 0) and kernel.registers <= 40
    assert ".f64" not in kernel.ptx
    assert kernel.ptx.count(f"cvt.rn.{short}.f32") == 3 * 8
    assert accesses(kernel, "ld", WORD_OF_TWO) == 2 * 4 and accesses(kernel, "ld", ONE) == 2 * 8
    assert accesses(kernel, "st", WORD_OF_TWO) == 4 and accesses(kernel, "st", ONE) == 8


WORD_OF_TWO, ONE, WORD_OF_FOUR = r"(v2\.\w16|\w32)", r"\w16", r"v4\.\w32"


def accesses(kernel, what, type_):
    """How many instructions of a kernel load, or store, that type."""
    return len(re.findall(rf"\b{what}\.global\.(nc\.)?{type_}\s", kernel.ptx))


@needs_extra
def test_a_walk_loads_the_next_row_by_words_of_four():
    """Weights once, the first row of both operands, and in the loop the next one of both."""
    kernel, _ = compiled(layer_norm_backward, *[
        floats(16384, 4096), floats(16384, 4096), floats(4096), floats(16384, 1), floats(16384, 1)])
    assert (kernel.stack, kernel.spills) == (0, 0) and kernel.registers <= 128
    assert accesses(kernel, "ld", WORD_OF_FOUR) == 4 + 2 * 4 + 2 * 4
    assert accesses(kernel, "st", WORD_OF_FOUR) == 4 + 2 * 4


@needs_extra
@pytest.mark.parametrize("half", dtypes.HALVES, ids=lambda t: t.name)
@pytest.mark.parametrize("function", [
    softmax, lambda x: ops.sum(x, 0), lambda x: (ops.sum(x), ops.amax(x, 1)),
    lambda x: ops.cumsum(x, -1), lambda x: ops.where(ops.gt(x, 0.1), x, 0.3),
    lambda x: ops.layer_norm(x, (1024,)), lambda x: ops.index_select(x, 0, ops.arange(5)),
], ids=["softmax", "columns", "folds", "running", "where", "layer norm", "places"])
def test_all_forms_of_halves_compile(function, half):
    for kernel in compiled(function, floats(64, 1024, dtype=half)):
        assert (kernel.stack, kernel.spills) == (0, 0)


@needs_extra
def test_a_square_is_loaded_before_it_is_put_into_shared_memory():
    """All eight loads are on their way when the block waits, and none goes by a generic address."""
    (kernel,) = compiled(plus_turned, floats(1024, 1024), floats(1024, 1024))
    before, after = kernel.ptx.split("bar.sync")
    assert before.count("ld.global.nc.f32") == 8 and before.count("st.shared.f32") == 4
    assert after.count("ld.shared.f32") == 4 and after.count("st.global.f32") == 4
    assert " st.f32" not in kernel.ptx and " ld.f32" not in kernel.ptx


@needs_extra
def test_a_maximum_keeps_nan():
    (kernel,) = compiled(softmax, floats(64, 1024))
    assert "max.NaN.f32" in kernel.ptx and "shfl.sync.bfly" in kernel.ptx


@needs_extra
@pytest.mark.parametrize("name", (
    "exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh erf "
    "sigmoid floor ceil trunc round relu abs neg").split())
def test_words_of_floats(name):
    (kernel,) = compiled(getattr(ops, name), floats(100))
    assert kernel.registers


@needs_extra
@pytest.mark.parametrize("type_", [dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64])
def test_words_of_two(type_):
    def function(x, y):
        return [getattr(ops, n)(x, y) for n in ("pow", "remainder", "maximum", "floor_divide")]

    assert compiled(function, floats(100, dtype=type_), floats(100, dtype=type_))


@pytest.mark.skipif(EXTRA, reason="the extra `cuda` is installed")
def test_without_the_extra_the_error_says_what_to_install():
    with pytest.raises(RuntimeError, match=r'make env EXTRAS="--extra cuda".*simulate\(\)'):
        compiled(chain, floats(8), floats(8))


def test_three_modules_import_numba_cuda_and_only_when_they_compile():
    def imports(path):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)

    found = {str(p.relative_to(ROOM)) for p in ROOM.rglob("*.py")
             if any(name.startswith(("numba.cuda", "numba_cuda")) for name in imports(p))}
    assert found == {f"codegen/cuda/{name}.py" for name in ("cubin", "pointers", "words")}


@needs_extra
@pytest.mark.parametrize(("line", "why"), [
    ("x[0] = nothing(x[0])", "TypingError: "),  # numba
    ("x[0] = cuda.shared.array(40000, float32)[0]", "nvJitLinkError: "),
])
def test_what_a_compiler_does_not_take_is_refused(line, why):
    text = f'@kernel\ndef k(x: "float32*"):\n    {line}\n\ndef call(args):\n    k[1, 64]()\n'
    with pytest.raises(cubin.Refused, match=f"^{why}"):
        cubin.compile_source(text)
    with pytest.raises(SyntaxError):  # the printer's
        cubin.compile_source(text.replace("x[0] =", "x[0 ="))
