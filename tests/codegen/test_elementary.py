"""The elementary functions of kernels: how exact they are, and that loops with them are vectors."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from labcore.codegen import elementary, kernel_math
from labcore.codegen.assembly import assembly_of
from labcore.codegen.jit import compile_kernels
from labcore.codegen.ranges import Loops
from labcore.runtime.loader import host, load
from labcore.shapes import Expr

TRUE: dict[str, Callable] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "sin": np.sin,
    "cos": np.cos,
    "pow": np.power,
}
OF_TWO = ("pow",)
LEAST = {"log": 0.0, "log1p": -1.0}
EDGES = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 0.9, 0.4, 4.0, 1e-7, 1e-40]
EDGES += [-1e-40, 1e-45, 88.7, 88.8, -87.4, -103.9, -104.1, 709.7, -745.2, 3e38, -3e38]
EDGES += [16367173 * 2.0**72, 3.1415927, -1.5707964, 1e10, 2.0**83, -(2.0**127)]
BASES = [math.nan, math.inf, 0.0, 1.0, 2.0, 0.5, 3.0, 1e-40, 1e-45, 3e38, 1.0000001, 0.9999999]
POWERS = [*BASES, 1.5, 2.5, 8388609.0, 16777215.0, 16777216.0, 33554432.0]
COUNT = 60_000
CASES = [
    (name, dtype)
    for name, errors in elementary.ERRORS.items()
    for dtype, error in zip((np.float32, np.float64), errors)
    if error is not None
]
cases = pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda v: getattr(v, "__name__", v))


@cache
def kernel(name: str, dtype: type):
    """A loop over COUNT elements that calls the function, as a kernel's text has it, compiled."""
    scope: dict = {}
    exec(compile(text_of(name, dtype), "<kernel>", "exec", dont_inherit=True), scope)
    return compile_kernels([scope["run"]], {"run": Loops(Expr.of(COUNT), None)})


def text_of(name: str, dtype: type) -> str:
    given = ("x", "y") if name in OF_TWO else ("x",)
    parameters = ", ".join(f'{each}: "{dtype.__name__}*"' for each in (*given, "out"))
    elements = ", ".join(f"{each}[i0]" for each in given)
    return (
        f"def run({parameters}):\n"
        f"    for i0 in range({COUNT}):\n"
        f"        out[i0] = {name}({elements})\n"
    )


def numbers(name: str, dtype: type) -> list[np.ndarray]:
    """The arguments: every magnitude there is, more of the usual ones, and the edges."""
    if name in OF_TWO:
        return bases_and_powers()
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, COUNT, dtype=np.uint32).view(np.float32)
    wide = bits[np.isfinite(bits) & (bits >= LEAST.get(name, -np.inf))][: COUNT // 4].astype(dtype)
    limit = 100 if dtype is np.float32 else 740
    some = rng.uniform(max(LEAST.get(name, -limit), -limit), limit, COUNT // 4)
    few = rng.uniform(LEAST.get(name, -2), 2, COUNT - wide.size - some.size - len(EDGES))
    with np.errstate(over="ignore"):
        return [np.concatenate([wide, some, few, EDGES]).astype(dtype)]


def bases_and_powers() -> list[np.ndarray]:
    """Results of every magnitude, bases near 1 and small whole exponents, and all pairs of edges.
    """
    rng = np.random.default_rng(0)
    bases = np.array([sign * base for base in BASES for sign in (1, -1)])
    powers = np.array([sign * power for power in POWERS for sign in (1, -1)])
    edges = [found.ravel() for found in np.meshgrid(bases, powers)]
    count = COUNT - edges[0].size
    x = rng.integers(1, 0x7F800000, count, dtype=np.uint32).view(np.float32).astype(float)
    x[::3] = rng.uniform(0.9, 1.1, x[::3].size)
    x[x == 1] = 1.5
    y = rng.uniform(-152, 130, count) / np.log2(x)
    y[1::3] = rng.integers(-9, 10, y[1::3].size)
    x[1::6] *= -1
    x, y = np.append(x, edges[0]), np.append(y, edges[1])
    return [x.astype(np.float32), y.astype(np.float32)]


def computed(name: str, *given: np.ndarray) -> np.ndarray:
    out = np.empty_like(given[0])
    code = kernel(name, out.dtype.type)
    load(code.data, code.kernels, code.externals)["run"](*given, out)
    return out


@cases
def test_how_exact(name, dtype):
    given = numbers(name, dtype)
    with np.errstate(all="ignore"):
        wider = np.float64 if dtype is np.float32 else np.longdouble
        true = TRUE[name](*(each.astype(wider) for each in given))
        got, rounded = computed(name, *given), true.astype(dtype)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(rounded))
        known = np.isfinite(rounded)
        signs = np.signbit(got) == np.signbit(rounded)
        assert signs[~np.isnan(rounded)].all()
        distance = np.abs(got.astype(np.longdouble) - true) / np.spacing(np.abs(rounded))
    allowed = elementary.ERRORS[name][dtype is np.float64]
    denormal = np.abs(rounded) < np.finfo(dtype).tiny
    worst = np.argmax(np.where(known, distance - denormal * 0.25, 0))
    assert distance[worst] <= allowed + denormal[worst] * 0.25, (
        [each[worst] for each in given], got[worst], true[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_is_as_exact_as_the_rounding_of_its_result_allows(dtype):
    """It spends its units in the last place where those are small beside the number."""
    (x,) = numbers("exp", dtype)
    with np.errstate(over="ignore"):
        got, true = computed("exp", x), np.exp(x.astype(np.longdouble))
    known = np.isfinite(got) & (got >= np.finfo(dtype).tiny)
    error = np.abs(got[known] - true[known]) / true[known]
    assert error.max() <= 1.05 * np.finfo(dtype).eps / 2


@cases
def test_plain_python_and_machine_code_give_the_same_bits(name, dtype):
    given = numbers(name, dtype)
    got = computed(name, *given)
    some = [*range(0, COUNT, 100), *range(COUNT - 4 * len(BASES) * len(POWERS), COUNT)]
    with np.errstate(all="ignore"):
        plain = np.array([getattr(kernel_math, name)(*(a[k] for a in given)) for k in some])
    assert plain.dtype == dtype
    np.testing.assert_array_equal(plain, got[some])
    known = ~np.isnan(plain)
    np.testing.assert_array_equal(np.signbit(plain)[known], np.signbit(got[some])[known])


@pytest.mark.skipif("+fma" not in host()[1].split(","), reason="fma is a call here")
@cases
def test_nothing_is_called_from_the_loop(name, dtype):
    """A call of libm would keep LLVM from making vectors."""
    assert kernel(name, dtype).externals == []


@pytest.mark.skipif("+avx2" not in host()[1].split(","), reason="instructions of x86")
@cases
def test_loops_are_vectors(name, dtype):
    (loop,) = assembly_of(text_of(name, dtype)).bodies
    assert all(i.lanes > 1 for i in loop.instructions if i.op in ("fma", "multiply", "divide"))
    assert loop.turn > 1 and loop.each("fma") > 1


def checksums() -> list[str]:
    """Of what each function gives."""
    given = [(name, computed(name, *numbers(name, dtype))) for name, dtype in CASES]
    return [f"{name} {zlib.crc32(np.nan_to_num(found))}" for name, found in given]


def test_processors_without_wide_vectors_give_the_same_bits():
    """There 2 ** n is made in two steps."""
    text = "from tests.codegen.test_elementary import checksums; print(*checksums(), sep='\\n')"
    other = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"}
    told = subprocess.check_output(
        [sys.executable, "-W", "ignore", "-c", text], env={**os.environ, **other}, text=True
    )
    assert told.splitlines() == checksums()
