"""Sums of columns get loops of their own: which, and that nothing has other bits."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore.codegen.build import compile_source, compiled_kernels, python_kernels
from labcore.runtime.loader import load

DEAR = "tmp0 = exp(x[s1*i0 + i1])\n"
SUM = "tmp1 = float64(tmp0)\nt[i1] = radd(t[i1], tmp1)"
LONG = "\n".join(f"tmp{k} = tmp{k - 1} * b[i1]" for k in range(3, 10))


def kernel(body: str) -> str:
    """Two loops with these statements in them, over rows of s1."""
    lines = "\n".join(f"            {line}" for line in body.splitlines())
    return (
        'def k(x: "float32*", b: "float32*", o: "float32*", t: "float64*", u: "float64*", '
        'n: "int32*", s0: "int64", s1: "int64"):\n'
        f"    for i0 in range(s0):\n        for i1 in range(s1):\n{lines}\n"
    )


APART = {
    "dear": DEAR + SUM,
    "stored as well": DEAR + "o[s1*i0 + i1] = tmp0\n" + SUM,
    "the sum first": DEAR + SUM + "\no[s1*i0 + i1] = tmp0 * tmp0",
    "long": f"tmp2 = x[s1*i0 + i1]\n{LONG}\ntmp0 = tmp9 * tmp9\n{SUM}",
    "a choice": DEAR + SUM.replace("(tmp0)", "(tmp2)").replace(
        "tmp1 =", "tmp2 = tmp0 if tmp0 > b[i1] else -tmp0\ntmp1 ="),
    "two sums":
        f"{DEAR}{SUM}\ntmp2 = tmp0 * b[i1]\ntmp3 = float64(tmp2)\nu[i1] = radd(u[i1], tmp3)",
}
TOGETHER = {
    "cheap": "tmp0 = x[s1*i0 + i1]\n" + SUM,
    "the float64 is used": DEAR + SUM + "\no[s1*i0 + i1] = float32(tmp1)",
    "the sum is used": DEAR + SUM + "\nu[i1] = t[i1]",
    "in this order": DEAR + SUM.replace("radd(t[i1], tmp1)", "t[i1] + tmp1"),
    "of integers": DEAR + "tmp2 = n[s1*i0 + i1]\n" + SUM.replace("(tmp0)", "(tmp2)"),
    "of a total": "tmp0 = exp(x[s1*i0 + i1])\ntmp1 = float64(tmp0)\nu = radd(u, tmp1)",
}


def loops(body: str) -> int:
    """How many loops of their own sums have; there is one form for short rows and one for others.
    """
    (made,) = compiled_kernels(kernel(body), "<python>").values()
    return sum(name.startswith("kept") for name in made.__code__.co_varnames)


@pytest.mark.parametrize("what", APART)
def test_sums_that_get_a_loop_of_their_own(what):
    assert loops(APART[what]) == (4 if what == "two sums" else 2)


@pytest.mark.parametrize("what", TOGETHER)
def test_sums_that_stay(what):
    assert loops(TOGETHER[what]) == 0


def run(function, rows: int, length: int) -> list[bytes]:
    rng = np.random.default_rng(length)
    x, b, o = (rng.standard_normal(n).astype(np.float32)
               for n in (rows * length + 1, length + 1, rows * length + 1))
    t, u = np.zeros(length + 1), np.zeros(length + 1)
    with np.errstate(all="ignore"):
        function(x, b, o, t, u, np.zeros(1, np.int32), rows, length)
    return [array.tobytes() for array in (x, b, o, t, u)]


@pytest.mark.parametrize("what", APART)
def test_all_bits_are_the_same(what):
    code = compile_source(kernel(APART[what]), "<apart>")
    machine = load(code.data, code.kernels, code.externals)["k"]
    (made,) = compiled_kernels(kernel(APART[what]), "<python>").values()
    (shown,) = python_kernels(kernel(APART[what])).values()
    for rows, length in ((0, 3), (3, 0), (3, 1), (2, 257), (1, 1024), (1, 1025), (1, 2500)):
        right = run(shown, rows, length)
        assert run(made, rows, length) == right == run(machine, rows, length)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(4096, 3), (300, 1000), (64, 5000)])
def test_a_gelu_and_its_bias(shape, threads):
    before = torch.get_num_threads()
    x, bias = torch.randn(*shape).requires_grad_(), torch.randn(shape[1]).requires_grad_()
    function = lambda x, bias: torch.nn.functional.gelu(x + bias, approximate="tanh")
    given = torch.randn(*shape)
    try:
        torch.set_num_threads(threads)
        found = torch.autograd.grad(torch.compile(function)(x, bias), (x, bias), given)
    finally:
        torch.set_num_threads(before)
    right = torch.autograd.grad(function(x, bias), (x, bias), given)
    np.testing.assert_allclose(found[0].numpy(), right[0].numpy(), rtol=1e-5, atol=2e-6)
    exact = found[0].numpy().astype(np.float64).sum(0)
    np.testing.assert_array_equal(found[1].numpy(), exact.astype(np.float32))
