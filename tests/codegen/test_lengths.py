"""Rows of unknown length: which kernels have machine code for short ones, and what it computes."""

from __future__ import annotations

import platform
import re
import warnings

import llvmlite.binding as binding
import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen.build import compile_source, compiled_kernels, rows_of_any_length
from labcore.codegen.lengths import KNOWN
from labcore.codegen.numba_ir import lower, wrapping_integers
from labcore.runtime.loader import load

LENGTHS = [0, 1, *range(2, 20), 31, 32, 33, 62, 63, 64, 65, 100, 1023, 1024, 1025, 3000]
HEAD = 'def k(x: "float32*", o: "float32*", t: "float64*", s1: "int64", s0: "int64"):\n'
SUM = """\
    for i0 in prange(s0):
        total = float64(0.0)
        for i1 in range(s1):
            total = radd(total, float64(x[s1*i0 + i1]))
        o[i0] = float32(total)
"""
TOP = """\
    for i0 in prange(s0):
        top = float32(-inf)
        for i1 in range(s1):
            top = rmax(top, x[s1*i0 + i1])
        for i1 in range(s1):
            o[s1*i0 + i1] = x[s1*i0 + i1] - top
"""
BLOCKS = """\
    for i0 in prange(s0):
        total = float64(0.0)
        for block in range((s1 + 1023) // 1024):
            part = float32(0.0)
            for i1 in range(1024 * block, min(1024 * block + 1024, s1)):
                part = radd(part, exp(x[s1*i0 + i1]))
            total = radd(total, float64(part))
        o[i0] = float32(total)
"""
TURNED = """\
    for i0 in prange(s0):
        for i1 in range(s1):
            o[s1*i0 + i1] = x[s0*i1 + i0] + float32(1.0)
"""
STRIPS = """\
    for i0 in prange(s0):
        for i1 in range(s1):
            o[s1*i0 + i1] = x[s1*i0 + i1] * x[i1]
"""
COUNTED = SUM.replace("o[i0] = float32(total)", "o[i0] = float32(total) / float32(s1)")
CHECKED = """\
    for i0 in prange(s0):
        total = float64(0.0)
        for i1 in range(s1):
            check_index(i1, s1 - int64(x[0] < float32(0.0)))
            total = radd(total, float64(x[s1*i0 + i1]))
        o[i0] = float32(total)
"""
on_x86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="the width of its vectors"
)
WITH_FORMS = {"a sum": SUM, "two passes": TOP, "in blocks": BLOCKS, "turned": TURNED,
              "the length counts": COUNTED}


@pytest.mark.parametrize("what", WITH_FORMS)
def test_kernels_that_have_forms(what):
    """For the length of a row; of an array that is read across, for that of its rows."""
    number = "s0" if what == "turned" else "s1"
    assert rows_of_any_length(HEAD + WITH_FORMS[what]) == [("k", number)]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + STRIPS,
        (HEAD + SUM).replace("range(s1)", "range(7)"),
        (HEAD + SUM).replace("prange(s0)", "prange(s1)"),
        (HEAD + SUM).replace("range(s1)", "range(s1 * 2)"),
        HEAD + "    for i0 in prange(s1):\n        o[i0] = x[i0]\n",
        HEAD.replace("s0:", 's2: "int64", s0:') + SUM + SUM.replace("range(s1)", "range(s2)"),
    ],
    ids=["strips", "a length", "square", "a product", "one loop", "two lengths"],
)
def test_kernels_that_have_none(text):
    assert rows_of_any_length(text) == []


@pytest.fixture(scope="module")
def machine_code():
    bodies = [*WITH_FORMS.values(), CHECKED]
    text = "\n\n".join(HEAD.replace("k(", f"k{n}(") + body for n, body in enumerate(bodies))
    code = compile_source(text, "<lengths>")
    return load(code.data, code.kernels, code.externals)


def by_arrays(what: str, x: np.ndarray, rows: int, length: int) -> np.ndarray:
    row = x[: rows * length].reshape(rows, length)
    if what == "two passes":
        return row - row.max(1, keepdims=True, initial=-np.inf)
    if what == "turned":
        return row.reshape(length, rows).T + np.float32(1)
    values = np.exp(row, dtype=np.float64) if what == "in blocks" else row.astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return values.sum(1) / (length if what == "the length counts" else 1)


@pytest.mark.parametrize("number", range(len(WITH_FORMS)), ids=list(WITH_FORMS))
def test_values_at_every_length(machine_code, number):
    what = list(WITH_FORMS)[number]
    for length in LENGTHS:
        for rows in (1, 5, 37):
            x = np.random.default_rng(length).standard_normal(rows * length).astype(np.float32)
            right = by_arrays(what, x, rows, length).astype(np.float32).ravel()
            made = np.full(right.size + 2, 7, np.float32)
            machine_code[f"k{number}"](x, made, np.zeros(1), length, rows)
            if what in ("two passes", "turned"):
                np.testing.assert_array_equal(made[:-2], right)
            else:
                np.testing.assert_allclose(made[:-2], right, rtol=2e-6, atol=1e-6)
            assert (made[-2:] == 7).all()  # nothing behind the last element


@pytest.mark.parametrize("length", LENGTHS[1:])
def test_a_form_says_what_is_wrong_as_the_kernel_does(machine_code, length):
    x, made = np.ones(3 * length, np.float32), np.zeros(3, np.float32)
    machine_code[f"k{len(WITH_FORMS)}"](x, made, np.zeros(1), length, 3)
    assert made.tolist() == [length] * 3
    x[0] = -1
    with pytest.raises(IndexError):
        machine_code[f"k{len(WITH_FORMS)}"](x, made, np.zeros(1), length, 3)


def functions_of(length: str) -> dict[str, str]:
    """LLVM's text of the functions that a sum of rows becomes, without what they begin with, by the
    ends of their names."""
    (function,) = compiled_kernels(HEAD + SUM, "<lengths>").values()
    with wrapping_integers():
        lowered = lower(function, length=length)
    module = binding.parse_bitcode(lowered.bitcode)
    made = [f for f in module.functions if not f.is_declaration]
    return {f.name.removeprefix(lowered.symbol): str(f).partition("{\n")[2] for f in made}


def added_a_turn(text: str) -> int:
    """How many numbers a turn of a loop adds, at most."""
    blocks = re.split(r"^(?=\S+:)", text, flags=re.M)
    turns = [block for block in blocks if re.match(r"vector\.body", block)]
    adds = [re.findall(r"fadd reassoc <(\d+) x double>", block) for block in turns]
    return max(sum(map(int, lanes)) for lanes in adds)


@on_x86
def test_the_forms_are_what_they_are_said_to_be():
    forms = functions_of("s1")
    known = [f"_{n}" for n in KNOWN]
    assert set(forms) == {"", *known, "_short", "_any"}
    assert set(functions_of("")) == {""}
    for name in known:  # the row is written out, for its length is a constant: no sum is handed on
        assert "%arg.s1" not in forms[name]
        assert not re.search(r"phi (<\d+ x )?double", forms[name])
    assert added_a_turn(forms["_short"]) == 8 < added_a_turn(forms["_any"])
    asked = dict(re.findall(r"i64 (\d+), label %rows\.(\w+)", forms[""]))
    right = {n: str(n) for n in KNOWN} | dict.fromkeys(range(16, 64), "short")
    assert asked == {str(n): form for n, form in right.items()}


@pytest.mark.parametrize("value", ["total", "sin(x[s1*i0 + i1])", "float64(1.0) // total"])
def test_nothing_is_said_of_loops_that_are_no_vectors(value, capfd):
    """Of hints that LLVM could not follow it would tell the user."""
    line = f"            o[s1*i0 + i1] = float32({value})\n"
    text = HEAD + SUM.replace("        o[i0]", line + "        o[i0]")
    assert rows_of_any_length(text) == [("k", "s1")]
    compile_source(text, "<lengths>")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_program_at_sizes_that_it_was_not_compiled_for(dynamic):
    with trace.record() as story:
        compiled = torch.compile(lambda x: torch.softmax(x, -1), dynamic=dynamic)
        for rows, length in ((37, 99), (50, 7), (30, 5), (100, 20), (2, 5000)):
            x = torch.randn(rows, length)
            powers = np.exp(x.numpy().astype(np.float64))
            right = powers / powers.sum(1, keepdims=True)
            np.testing.assert_allclose(compiled(x).numpy(), right, rtol=3e-6, atol=1e-7)
    found = story.of(trace.RowForms)
    said = ("s1", [2, 3, 4, 5, 6, 7, 8], [16, 63])
    assert [(e.length, e.known, e.short) for e in found] == [said] * dynamic
    told = " ".join(story.text("short_rows").split())
    line = "rows of s1: 2 to 8 are constants, 16 to 63 have loops of their own"
    assert (line in told) == dynamic
