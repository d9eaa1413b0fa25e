"""GuardMatrix: every mark is an answer of a guard; what was not asked is not marked."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from labcore.compiler import reset
from tests.widgets.programs import block
from widgets import GuardMatrix, VariantTheater


@pytest.fixture(autouse=True)
def _fresh_ids():
    reset()


def compiled(fn=block):
    return torch.compile(fn, backend="eager", dynamic=False)


def line_of(widget):
    return next(c["place"]["line"] for c in widget.trace["rows"]["0/0"] if "place" in c)


def test_the_text_has_a_line_a_call_and_one_for_each_variant_asked():
    widget = GuardMatrix(block, 4, 4, 8, 4)
    line, all_ = line_of(widget), len(widget.trace["rows"]["0/0"])
    held, rest = "✓" * all_, "·" * (all_ - 3)
    assert repr(widget) == f"""\
GuardMatrix(block: 4 calls, 2 variants, {2 * all_ + 6} guards asked, 2 failed)
  call 1  float32[4], float32[4]  no variant yet, compiled 0/0
  call 2  float32[4], float32[4]  hit 0/0
          0/0  {held}
  call 3  float32[8], float32[8]  compiled 0/1
          0/0  ✓✓✕{rest}  x.size() == (4,): actual (8,), line {line}
  call 4  float32[4], float32[4]  hit 0/0
          0/1  ✓✓✕{rest}  x.size() == (8,): actual (4,), line {line}
          0/0  {held}"""


def test_the_marks_are_the_events():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        widget = GuardMatrix(block, 4, 8, 16, 8, 4, 32)
    fn = compiled()
    with trace.record() as recorder:
        for n in (4, 8, 16, 8, 4, 32):
            fn(torch.ones(n), torch.ones(n))
    told = [(e.compile_id, e.index, e.ok) for e in recorder.of(trace.GuardCheck)]
    shown = [
        (e["variant"], e["guard"], e["ok"])
        for e in widget.trace["play"]["events"]
        if e["kind"] == "guard"
    ]
    assert shown == told and f"{len(told)} guards asked" in repr(widget)


def test_a_column_is_a_kind_of_guard_of_one_source_in_the_order_of_asking():
    widget = GuardMatrix(block, 4, 8)
    columns = [(c["kind"], c["source"]) for c in widget.trace["columns"]]
    assert columns[:4] == [
        ("GRAD_MODE", "global state"),
        ("TENSOR_MATCH", "x"),
        ("SIZE_MATCH", "x"),
        ("STRIDE_MATCH", "x"),
    ]
    for row in widget.trace["rows"].values():
        assert [cell["column"] for cell in row] == list(range(len(columns)))


def test_variants_with_other_guards_share_the_columns_they_have_in_common():
    def scaled(x, s, flag):
        return x * s if flag else x

    x = torch.ones(4)
    widget = GuardMatrix(scaled, (x, 0.5, True), (x, 0.5, False), (x, 0.25, True), dynamic=None)
    columns, rows = widget.trace["columns"], widget.trace["rows"]
    assert len({(c["kind"], c["source"]) for c in columns}) == len(columns)
    by_name = [{columns[c["column"]]["source"] for c in row} for row in rows.values()]
    assert "s" in by_name[0] and "s" not in by_name[1]


def test_the_whole_matrix_says_what_variants_behind_the_hit_would_have_said():
    widget = GuardMatrix(block, 4, 8, 8)
    whole = widget.trace["whole"]
    assert whole[0] == {} and list(whole[2]) == ["0/1", "0/0"]
    assert whole[2]["0/1"] == {"held": len(widget.trace["rows"]["0/1"])}
    assert whole[2]["0/0"]["held"] == 2 and whole[2]["0/0"]["actual"] == "(8,)"
    events = widget.trace["play"]["events"]
    asked = {e["variant"] for e in events if e["call"] == 2 and "guard" in e}
    assert asked == {"0/1"}  # in the call itself the row behind was not asked


def test_a_guard_knows_the_users_line_and_columns():
    widget = GuardMatrix(block, 4, 8)
    (listing,) = widget.trace["listings"]
    place = next(c["place"] for c in widget.trace["rows"]["0/0"] if "x.size()" in c["text"])
    first, end = place["at"]
    assert listing["lines"][place["line"] - listing["first"]][first:end] == "x + bias"
    assert "place" not in widget.trace["rows"]["0/0"][0]  # the global state is nobody's line


def helper(x):
    return x + 1 if x.shape[0] > 2 else x


def test_a_guard_of_a_function_that_is_called_is_shown_in_that_function():
    def outer(x):
        return helper(x * 2)

    widget = GuardMatrix(outer, 4, 8, dynamic=True)
    assert [listing["name"] for listing in widget.trace["listings"]] == ["outer", "helper"]
    (branch,) = (c for c in widget.trace["rows"]["0/0"] if c["text"] == "x.size()[0] > 2")
    place, listing = branch["place"], widget.trace["listings"][1]
    first, end = place["at"]
    assert place["code"] == 1
    assert listing["lines"][place["line"] - listing["first"]][first:end] == "x.shape[0] > 2"


def test_variants_of_a_compiled_function_are_there_from_the_start():
    fn = compiled()
    fn(torch.ones(4), torch.ones(4))
    widget = GuardMatrix(fn, 8, 4)
    assert repr(widget).splitlines()[1].endswith("compiled 0/1")
    assert "x.size() == (4,): actual (8,)" in repr(widget)
    rows = widget.trace["rows"]
    assert len(rows["0/0"]) == len(rows["0/1"])  # all of them, not only those that were asked
    assert [c["column"] for c in rows["0/0"]] == list(range(len(rows["0/0"])))


def test_a_recording_has_what_was_asked():
    fn = compiled()
    fn(torch.ones(4), torch.ones(4))
    with trace.record() as recorder:
        fn(torch.ones(8), torch.ones(8))
    widget = GuardMatrix(trace=recorder)
    assert widget.trace["whole"] == [] and len(widget.trace["rows"]["0/0"]) == 3
    assert "0/0  ✓✓✕  x.size() == (4,): actual (8,)" in repr(widget)


def test_calls_that_change_the_global_state():
    def without_grad(f):
        with torch.no_grad():
            f(torch.ones(4), torch.ones(4))

    widget = GuardMatrix(block, 4, without_grad, 4, without_grad)
    asked = 3 + 2 * len(widget.trace["rows"]["0/0"])
    assert widget.summary() == f"4 calls, 2 variants, {asked} guards asked, 3 failed"
    assert "0/0  ✕····" in repr(widget)


def test_an_error_belongs_to_its_call():
    ones = torch.ones(4)
    widget = GuardMatrix(block, (ones, ones), (ones, torch.ones(3)), (ones, ones))
    lines = repr(widget).splitlines()
    assert any("raised RuntimeError: The size of tensor" in line for line in lines)
    assert "hit 0/0" in repr(widget)


def test_the_trace_is_plain_and_the_same_each_time():
    first, again = GuardMatrix(block, 4, 8, 4), GuardMatrix(block, 4, 8, 4)
    told = json.dumps(first.trace, allow_nan=False)
    assert json.loads(told) == first.trace == again.trace
    assert str(Path(__file__).parent) not in told
    assert first.picture() == again.picture()
    ElementTree.fromstring(first.picture())


def test_the_picture_of_many_columns_and_rows_is_svg():
    def many(x, a, b, c, d, e, f):
        return x + a + b + c + d + e + f

    x = torch.ones(4)
    widget = GuardMatrix(many, (x, 1, 2, 3, 4, 5, 6), (x, 1, 2, 3, 4, 5, 7), (x, 1, 2, 3, 4, 5, 8))
    ElementTree.fromstring(widget.picture())
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget)


def test_it_tells_what_the_theater_tells():
    matrix, theater = GuardMatrix(block, 4, 8, 4).trace["play"], VariantTheater(block, 4, 8, 4).play
    told = [e for e in theater["events"] if e["kind"] != "stage"]
    assert matrix == theater | {"events": told}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: GuardMatrix(), "either a function and its calls, or a recording"),
        (lambda: GuardMatrix(block), "at least one call"),
        (lambda: GuardMatrix(compiled(), 4, dynamic=True), "for a plain function"),
        (lambda: GuardMatrix(block, (torch.ones(4),)), "missing a required argument: 'bias'"),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(TypeError, match=said):
        make()
