"""Short rows are worked on in strips: which loops, with which values, at which sizes."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import strips
from labcore.codegen.build import (
    compile_source,
    compiled_kernels,
    forms,
    python_kernels,
    rows_in_strips,
)
from labcore.runtime.loader import load

LENGTHS = [*range(1, 71), 127, 255, 256, 257, 300]


def kernel(body: str, more: str = "") -> str:
    """Two loops with these statements in them, over rows of s1."""
    lines = "\n".join(f"            {line}" for line in body.splitlines())
    return (
        f'def k(x: "float32*", b: "float32*", o: "float32*", t: "float64*", {more}'
        f's0: "int64", s1: "int64"):\n'
        f"    for i0 in range(s0):\n        for i1 in range(s1):\n{lines}\n"
    )


STRIPS = {
    "what rows read again": "o[s1*i0 + i1] = x[s1*i0 + i1] * b[i1]",
    "at a distance": "o[s1*i0 + i1 + 3] = x[s1*i0 + i1 + 1] * b[i1 + 2]",
    "two at a time": "o[s1*i0 + i1] = x[2*s1*i0 + 2*i1] * b[2*i1] + b[2*i1 + 1]",
    "backwards": "o[s1*i0 + i1] = x[s1*i0 + i1] * b[s1 - 1 - i1]",
    "the same for all": "o[s1*i0 + i1] = x[s1*i0 + i1] * b[0]",
    "in place": "x[s1*i0 + i1] = x[s1*i0 + i1] * b[i1]",
    "columns add up": "t[i1] = radd(t[i1], float64(x[s1*i0 + i1]))",
    "the largest of columns": "o[i1] = rmax(o[i1], x[s1*i0 + i1])",
    "in two steps":
        "tmp0 = x[s1*i0 + i1] * b[i1]\no[s1*i0 + i1] = tmp0\nt[i1] = radd(t[i1], float64(tmp0))",
}
ROWS = {
    "one for each row": "o[s1*i0 + i1] = x[s1*i0 + i1] * b[i0]",
    "transposed": "o[s1*i0 + i1] = x[s0*i1 + i0]",
    "a gap between rows": "o[s1*i0 + i1] = x[2*s1*i0 + i1]",
    "the position counts": "o[s1*i0 + i1] = float32(i1)",
    "the row counts": "o[s1*i0 + i1] = x[s1*i0 + i1] * float32(i0)",
    "in this order": "t[i1] = t[i1] + x[s1*i0 + i1]",
    "sums on the way": "t[i1] = radd(t[i1], x[s1*i0 + i1])\no[s1*i0 + i1] = t[i1]",
    "the last row stays": "o[i1] = x[s1*i0 + i1]",
    "written meanwhile": "o[s1*i0 + i1] = o[i1] * x[s1*i0 + i1]",
    "a place that a value tells": "tmp0 = int64(x[s1*i0 + i1])\no[s1*i0 + i1] = b[tmp0]",
    "handed on": "tmp0 = x[s1*i0 + i1] + tmp0\no[s1*i0 + i1] = tmp0",
}


@pytest.mark.parametrize("what", STRIPS)
def test_loops_that_become_strips(what):
    ((name, length, when),) = rows_in_strips(kernel(STRIPS[what]))
    assert (name, length, when) == ("k", "s1", "0 < s1 <= 256 and s0 * s1 >= 8192")


@pytest.mark.parametrize("what", ROWS)
def test_loops_that_stay(what):
    assert rows_in_strips(kernel(ROWS[what])) == []


@pytest.mark.parametrize(
    ("s0", "s1", "when"),
    [("4000", "24", [""]), ("40", "24", []), ("4000", "257", []), ("4000", "0", []),
     ("s0", "24", ["s0 * 24 >= 8192"]), ("32", "256", [""]), ("31", "256", [])],
)
def test_known_sizes_are_not_asked(s0, s1, when):
    text = kernel(STRIPS["what rows read again"])
    for name, size in (("s1", s1), ("s0", s0)):
        text = text.replace(f"{name}*", f"{size}*").replace(f"range({name})", f"range({size})")
    assert [asked for *_, asked in rows_in_strips(text)] == when


def test_a_loop_that_threads_share_is_whole_before_it_becomes_strips():
    text = kernel(STRIPS["columns add up"]).replace("range(s1)", "prange(s1)")
    ((*_, when),) = rows_in_strips(text)
    assert when.startswith("begin == 0 and end == s1 and ")


def test_names_do_not_collide():
    text = kernel("o[s1*i0 + i1] = x[s1*i0 + i1] * b[i1] + side[i1]", 'side: "float32*", ')
    (function,) = compiled_kernels(text, "<python>").values()
    assert {"side", "side_", "side_strip", "b_strip"} < set(function.__code__.co_varnames)


@pytest.fixture(scope="module")
def machine_code():
    """All of them, compiled."""
    text = "\n\n".join(
        kernel(body).replace("def k(", f"def k{n}(") for n, body in enumerate(STRIPS.values()))
    code = compile_source(text, "<strips>")
    return load(code.data, code.kernels, code.externals), text


def run(function, rows: int, length: int):
    rng = np.random.default_rng(length)
    x = rng.standard_normal(2 * rows * length + 8).astype(np.float32)
    b, o = (rng.standard_normal(n).astype(np.float32)
            for n in (2 * length + 8, rows * length + 8))
    t = np.zeros(length + 1)
    function(x, b, o, t, rows, length)
    return x, b, o, t


@pytest.mark.parametrize("number", range(len(STRIPS)), ids=list(STRIPS))
def test_values_at_every_length(machine_code, number):
    """Elements have the same bits as one after the other; sums are as near as float64 sums are."""
    launchers, text = machine_code
    for length in LENGTHS:
        for rows in (-(-strips.ENOUGH // length) + 3, -(-strips.ENOUGH // length) - 1):
            *made, total = run(launchers[f"k{number}"], rows, length)
            *right, sums = run(_by_arrays(number), rows, length)
            for one, other in zip(made, right):
                assert one.tobytes() == other.tobytes(), length
            np.testing.assert_allclose(total, sums, rtol=0, atol=1e-9)
    assert python_kernels(text)  # what is shown is still the two loops


def _by_arrays(number: int):
    """The two loops, by numpy."""

    def function(x, b, o, t, s0, s1):
        i1 = np.arange(s1)
        at = s1 * np.arange(s0)[:, None] + i1
        if number == 1:
            o[at + 3] = x[at + 1] * b[i1 + 2]
        elif number == 2:
            o[at] = x[2 * at] * b[2 * i1] + b[2 * i1 + 1]
        elif number == 3:
            o[at] = x[at] * b[s1 - 1 - i1]
        elif number == 4:
            o[at] = x[at] * b[0]
        elif number == 5:
            x[at] = x[at] * b[i1]
        elif number == 6:
            t[i1] += x[at].sum(0, np.float64)
        elif number == 7:
            o[i1] = np.maximum(o[i1], x[at].max(0, initial=-np.inf))
        else:
            o[at] = x[at] * b[i1]
        if number == 8:
            t[i1] += o[at].sum(0, np.float64)

    return function


def test_the_form_for_the_compiler_runs_as_python(monkeypatch):
    monkeypatch.setattr(strips, "ENOUGH", 0)
    for number, body in enumerate(STRIPS.values()):
        forms.cache_clear()  # of another number of elements that are worth it
        (function,) = compiled_kernels(kernel(body), "<python>").values()
        for rows, length in ((0, 3), (5, 1), (700, 3), (9, 70)):
            *made, total = run(function, rows, length)
            *right, sums = run(_by_arrays(number), rows, length)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(made, right))
            np.testing.assert_allclose(total, sums, rtol=0, atol=1e-9)


def centred(x, b):
    return x * b + x.mean(0), x.sum(0), x.amax(0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_program_at_sizes_that_it_was_not_compiled_for(dynamic):
    with trace.record() as story:
        compiled = torch.compile(centred, dynamic=dynamic)
        for rows, length in ((37, 29), (5000, 7), (3000, 5), (100, 200), (2, 5000)):
            x, b = torch.randn(rows, length), torch.randn(length)
            scaled, total, top = (t.numpy() for t in compiled(x, b))
            exact = x.numpy().astype(np.float64)
            near = {"rtol": 1e-6, "atol": 2e-6}
            np.testing.assert_allclose(scaled, exact * b.numpy() + exact.mean(0), **near)
            np.testing.assert_array_equal(total, exact.sum(0).astype(np.float32))
            np.testing.assert_array_equal(top, x.numpy().max(0))
    told = " ".join(story.text("short_rows").split())
    assert ("0 < s1 <= 256 and s0 * s1 >= 8192" in told) == dynamic
    assert "in strips of up to 1024" in told
