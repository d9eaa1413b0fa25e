"""Rows of unknown length: when short ones get machine code of their own, and what it computes."""

from __future__ import annotations

import ast
import platform
import re
import threading
import warnings

import llvmlite.binding as binding
import numpy as np
import pytest

import labcore as torch
from labcore import trace
from labcore.codegen import lengths
from labcore.codegen.build import build, compiled_kernels, rows_of_any_length
from labcore.codegen.lengths import LONGEST, Rows, in_one_block, rows_in, text_for
from labcore.codegen.numba_ir import known, lowered, nothing_remembered, wrapping_integers
from labcore.measure.any_length import ELEMENTS

FORMS = [2, 3, 5, 8, 9, 12, 16, 17, 20, 23, 24, 31, 64, 100, 127, 128]
LENGTHS = [0, 1, *FORMS, 129, 1023, 1024, 1025, 3000]
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


@pytest.fixture
def at_any_call(monkeypatch):
    """Calls get machine code for their rows, however little they are to do."""
    monkeypatch.setattr(lengths, "ENOUGH", 1)


# ---- which rows, and when ------------------------------------------------------------------------


def asked_for(calls):
    """What is launched in each call, "any" or a length, and which lengths were compiled for."""
    (kernel,) = ast.parse(HEAD + SUM).body
    told, made = [], []

    def compiled(rows):
        made.append(rows.size)
        return lambda *_: told.append(rows.size)

    launch = lengths.by_length(kernel, "s1", lengths.Expr.of("s0") * lengths.Expr.of("s1"),
                               lambda *_: told.append("any"), compiled)
    for length, rows in calls:
        launch(None, None, None, length, rows)
    return told, made


def test_calls_that_are_worth_it_choose_by_the_length():
    much = [(length, ELEMENTS // length) for length in (2, 20, 22, 128, 129, 20, 1024)]
    little = [(0, 10**6), (1, 10**6), (5, 10), (20, 500)]
    told, made = asked_for(much + little)
    assert told == [2, 20, 22, 128, "any", 20, "any"] + ["any"] * 4
    assert made == [2, 20, 22, 128]  # each once, at the first call that wants it


def test_two_threads_that_want_the_same_wait_for_one():
    (kernel,) = ast.parse(HEAD + SUM).body
    both, made = threading.Barrier(2, timeout=10), []

    def compiled(rows):
        made.append(rows)
        return lambda *_: 0

    launch = lengths.by_length(kernel, "s1", lengths.Expr.of("s1") * 10**6, None, compiled)

    def call():
        both.wait()
        launch(None, None, None, 7, 10**6)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert made == [Rows("s1", 7)]


def test_what_a_call_computes_does_not_depend_on_earlier_calls():
    """Sums have another order in other code, so a call of little work goes on with its own."""
    launch = build(HEAD + SUM).launchers["k"]
    x = np.random.default_rng(0).standard_normal(11 * 20_000).astype(np.float32) * 1e6

    def total(rows):
        made = np.zeros(rows, np.float32)
        launch(x, made, np.zeros(1), 11, rows)
        return made.tobytes()

    before = total(50)
    with trace.record() as story:
        much = total(20_000)
    assert [e.size for e in story.of(trace.RowsCompiled)] == [11]
    assert total(50) == before and total(20_000) == much


# ---- what they compute ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def machine_code():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "ENOUGH", 1)
        bodies = [*WITH_FORMS.values(), CHECKED]
        return build("\n\n".join(HEAD.replace("k(", f"k{n}(") + body
                                 for n, body in enumerate(bodies))).launchers


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
def test_values_at_many_lengths(machine_code, number):
    for length in LENGTHS:
        check_values(machine_code, number, length)


def test_values_at_every_length(machine_code):
    for length in range(70):
        check_values(machine_code, list(WITH_FORMS).index("two passes"), length)


def check_values(machine_code, number, length):
    what = list(WITH_FORMS)[number]
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


# ---- how they are made ---------------------------------------------------------------------------


def text_of(rows: Rows | None, text: str = HEAD + SUM) -> str:
    """LLVM's text of the kernel for rows of one length, without what it begins with."""
    (function,) = compiled_kernels(text, "<lengths>").values()
    with wrapping_integers():
        module = binding.parse_bitcode(lowered(function, rows=rows).bitcode)
    (made,) = [f for f in module.functions if not f.is_declaration]
    return str(made).partition("{\n")[2]


@pytest.mark.parametrize("length", [2, 8, 13, 24, 100])
def test_the_length_is_a_constant(length):
    assert "%arg.s1" in text_of(None)
    text = text_of(Rows("s1", length))
    assert "%arg.s1" not in text
    if length < 16:  # the row is written out: no sum is handed on from turn to turn
        assert not re.search(r"phi (<\d+ x )?double", text)


@on_x86
def test_a_row_of_whole_vectors_has_no_remainder():
    text = text_of(Rows("s1", 64))
    assert re.search(r"phi <\d+ x double>", text) and not re.search(r"phi double", text)


def test_the_place_of_the_number_counts_not_its_name():
    """Kernels that are alike but for names are read by numba once."""
    renamed = (HEAD + SUM).replace("s1", "n").replace("s0", "m")
    one, other = (text_of(Rows(name, 3), text)
                  for name, text in (("s1", HEAD + SUM), ("n", renamed)))
    assert one == other


def test_numba_reads_a_kernel_once_for_all_rows():
    (function,) = compiled_kernels(HEAD + SUM, "<lengths>").values()
    rows = [Rows("s1", 5), Rows("s1", 20)]
    with nothing_remembered(), wrapping_integers():
        assert not known(function, rows[0])
        lowered(function, rows=rows[0])
        assert known(function, rows[1]) and not known(function)


def test_a_row_is_one_block():
    (kernel,) = ast.parse(HEAD + BLOCKS).body
    assert ast.unparse(in_one_block(kernel).body[0]) == """\
for i0 in prange(s0):
    total = float64(0.0)
    part = float32(0.0)
    for i1 in range(s1):
        part = radd(part, exp(x[s1 * i0 + i1]))
    total = float64(part)
    o[i0] = float32(total)"""


def test_a_text_says_which_rows_it_is_for():
    rows = Rows("s1", 20)
    text = text_for(HEAD + SUM, rows)
    assert rows_in(text) == rows and rows_in(HEAD + SUM) is None
    assert text.startswith("# What a program calls for rows of 20.\nrows = 's1', 20\n")


@pytest.mark.parametrize("value", ["total", "sin(x[s1*i0 + i1])", "float64(1.0) // total"])
def test_nothing_is_said_of_loops_that_are_no_vectors(value, capfd, at_any_call):
    """LLVM would tell the user of what it was asked to do, and could not."""
    line = f"            o[s1*i0 + i1] = float32({value})\n"
    text = HEAD + SUM.replace("        o[i0]", line + "        o[i0]")
    assert rows_of_any_length(text) == [("k", "s1")]
    launch, x = build(text).launchers["k"], np.ones(3 * 33, np.float32)
    for length in (3, 20, 32):
        launch(x, np.zeros_like(x), np.zeros(1), length, 3)
    assert capfd.readouterr() == ("", "")


# ---- a program -----------------------------------------------------------------------------------


def test_a_program_at_sizes_that_it_was_not_compiled_for():
    with trace.record() as story:
        compiled = torch.compile(lambda x: torch.softmax(x, -1), dynamic=True)
        for rows, length in ((37, 99), (4000, 7), (3, 7), (4000, 7), (2000, 20), (2, 5000)):
            x = torch.randn(rows, length)
            powers = np.exp(x.numpy().astype(np.float64))
            right = powers / powers.sum(1, keepdims=True)
            np.testing.assert_allclose(compiled(x).numpy(), right, rtol=3e-6, atol=1e-7)
    assert len(story.of(trace.GraphCaptured)) == len(story.of(trace.OutputCode)) == 1
    (told,) = story.of(trace.RowForms)
    assert (told.length, told.longest, told.enough) == ("s1", LONGEST, lengths.ENOUGH)
    made = story.of(trace.RowsCompiled)
    assert [(e.kernel, e.size) for e in made] == [(told.kernel, 7), (told.kernel, 20)]
    assert {e.compile_id for e in made} == {told.compile_id} != {""}
    text = " ".join(story.text("short_rows").split())
    assert "rows of s1: calls of work 131072 and more on up to 128 get their own code" in text
    assert re.search(r"for rows of s1 = 20: (compiled|from disk) in \d+ ms", text)


def test_a_program_of_known_sizes_has_none():
    with trace.record() as story:
        torch.compile(lambda x: torch.softmax(x, -1), dynamic=False)(torch.randn(4000, 7))
    assert not story.of(trace.RowForms) and not story.of(trace.RowsCompiled)


def test_they_are_kept_on_disk(at_any_call):
    x = np.ones(3 * 19, np.float32)
    text, outcomes = HEAD + TOP.replace("- top", "- top * float32(0.625)"), []
    for _ in range(2):
        with trace.record() as story:
            build(text).launchers["k"](x, np.zeros_like(x), np.zeros(1), 19, 3)
        outcomes += [(e.outcome, bool(e.reason)) for e in story.of(trace.RowsCompiled)]
    assert outcomes == [("miss", True), ("hit", False)]
