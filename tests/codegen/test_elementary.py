"""The elementary functions of kernels: how exact they are, and that loops with them are vectors."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from labcore.codegen import elementary, kernel_math
from labcore.codegen.jit import compile_kernels
from labcore.codegen.ranges import Loops
from labcore.runtime.loader import host, load
from labcore.shapes import Expr

TRUE: dict[str, Callable] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[float]),
}
LEAST = {"log": 0.0, "log1p": -1.0}
EDGES = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 0.9, 0.4, 4.0, 1e-7, 1e-40]
EDGES += [-1e-40, 1e-45, 88.7, 88.8, -87.4, -103.9, -104.1, 709.7, -745.2, 3e38, -3e38]
COUNT = 60_000
CASES = [
    (name, dtype)
    for name, errors in elementary.ERRORS.items()
    for dtype, error in zip((np.float32, np.float64), errors)
    if error is not None
]
cases = pytest.mark.parametrize(("name", "dtype"), CASES, ids=lambda v: getattr(v, "__name__", v))


def kernel(name: str, dtype: type):
    """A loop over COUNT elements that calls the function, as a kernel's text has it."""
    scope: dict = {}
    exec(
        f"def run(x, out):\n    for i0 in range({COUNT}):\n        out[i0] = {name}(x[i0])\n", scope
    )
    scope["run"].__annotations__.update(x=f"{dtype.__name__}*", out=f"{dtype.__name__}*")
    return compile_kernels([scope["run"]], {"run": Loops(Expr.of(COUNT), None)})


def numbers(name: str, dtype: type) -> np.ndarray:
    """Every magnitude there is, more of the usual ones, and the edges."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, COUNT, dtype=np.uint32).view(np.float32)
    wide = bits[np.isfinite(bits) & (bits >= LEAST.get(name, -np.inf))][: COUNT // 4].astype(dtype)
    limit = 100 if dtype is np.float32 else 740
    some = rng.uniform(max(LEAST.get(name, -limit), -limit), limit, COUNT // 4)
    few = rng.uniform(LEAST.get(name, -2), 2, COUNT - wide.size - some.size - len(EDGES))
    with np.errstate(over="ignore"):
        return np.concatenate([wide, some, few, EDGES]).astype(dtype)


def computed(name: str, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    code = kernel(name, x.dtype.type)
    load(code.data, code.kernels, code.externals)["run"](x, out)
    return out


@cases
def test_how_exact(name, dtype):
    x = numbers(name, dtype)
    with np.errstate(all="ignore"):
        true = TRUE[name](x.astype(np.float64 if dtype is np.float32 else np.longdouble))
        got, rounded = computed(name, x), true.astype(dtype)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(rounded))
        known = np.isfinite(rounded)
        signs = np.signbit(got) == np.signbit(rounded)
        assert signs[known].all()
        distance = np.abs(got.astype(np.longdouble) - true) / np.spacing(np.abs(rounded))
    allowed = elementary.ERRORS[name][dtype is np.float64]
    denormal = np.abs(rounded) < np.finfo(dtype).tiny
    worst = np.argmax(np.where(known, distance - denormal * 0.25, 0))
    assert distance[worst] <= allowed + denormal[worst] * 0.25, (x[worst], got[worst], true[worst])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_is_as_exact_as_the_rounding_of_its_result_allows(dtype):
    """It spends its units in the last place where those are small beside the number."""
    x = numbers("exp", dtype)
    with np.errstate(over="ignore"):
        got, true = computed("exp", x), np.exp(x.astype(np.longdouble))
    known = np.isfinite(got) & (got >= np.finfo(dtype).tiny)
    error = np.abs(got[known] - true[known]) / true[known]
    assert error.max() <= 1.05 * np.finfo(dtype).eps / 2


@cases
def test_plain_python_and_machine_code_give_the_same_bits(name, dtype):
    x = numbers(name, dtype)
    got = computed(name, x)
    some = [*range(0, COUNT, 100), *range(COUNT - len(EDGES), COUNT)]
    with np.errstate(all="ignore"):
        plain = np.array([getattr(kernel_math, name)(x[k]) for k in some])
    assert plain.dtype == dtype
    np.testing.assert_array_equal(plain, got[some])
    known = ~np.isnan(plain)
    np.testing.assert_array_equal(np.signbit(plain)[known], np.signbit(got[some])[known])


@pytest.mark.skipif("+fma" not in host()[1].split(","), reason="fma is a call here")
@cases
def test_nothing_is_called_from_the_loop(name, dtype):
    """A call of libm would keep LLVM from making vectors."""
    assert kernel(name, dtype).externals == []


def test_processors_without_wide_vectors_give_the_same_bits():
    """There 2 ** n is made in two steps."""
    text = (
        "import zlib; from tests.codegen.test_elementary import *\n"
        "for name, dtype in CASES:\n"
        "    print(name, zlib.crc32(np.nan_to_num(computed(name, numbers(name, dtype)))))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            env={**os.environ, **given},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for given in ({}, {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"})
    ]
    assert runs[0] == runs[1] and len(runs[0].splitlines()) == len(CASES)
