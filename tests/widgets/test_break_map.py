"""BreakMap: regions, breaks and the way of each call are the compiler's events, however it goes."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from labcore.compiler import reset
from tests.widgets.programs import block
from widgets import BreakMap
from widgets._route import Leg, Loop, folded, unrolled


@pytest.fixture(autouse=True)
def _fresh_ids():
    """Compile ids start at 0/0, as in a new notebook."""
    reset()


def compiled(fn):
    return torch.compile(fn, backend="eager")


def shown(fn, *calls):
    return BreakMap(compiled(fn), *calls)


def line_of(fn, text):
    lines, first = inspect.getsourcelines(fn)
    return first + next(n for n, line in enumerate(lines) if text in line)


def kinds(widget, call=None):
    return [e["kind"] for e in widget.trace["events"] if call in (None, e["call"])]


ONES = torch.ones(4)


def island(x):
    y = x * 3
    print(end="")
    return (y + 1).relu()


def test_one_break_two_regions(capsys):
    widget = shown(island, (ONES,), (ONES,))
    at = line_of(island, "print(")
    assert repr(widget) == (
        "BreakMap(island: 2 calls, 2 graphs in 2 regions, 1 break, met 2 times)\n"
        "  A   0/0  x * 3\n"
        "  B   1/0  y + 1, relu(add)\n"
        f"  ◆1  line {at}: call of print()\n"
        "  call 1  float32[4]: A ◆1, B\n"
        "  call 2  float32[4]: A ◆1, B"
    )
    assert kinds(widget, 0) == ["call", "enter", "break", "python", "enter", "return"]
    assert [e["new"] for e in widget.trace["events"] if e["kind"] == "enter"] == [
        True,
        True,
        False,
        False,
    ]


def test_lines_that_a_region_covers_and_the_piece_that_breaks(capsys):
    data = shown(island, (ONES,)).trace
    first, at, last = (line_of(island, text) for text in ("x * 3", "print(", "return"))
    assert [region["runs"] for region in data["regions"]] == [
        [[0, first, first]],
        [[0, last, last]],
    ]
    (stop,) = data["breaks"]
    begin, end = stop["at"]
    text = data["listings"][0]["lines"][at - data["listings"][0]["first"]]
    assert text[begin:end] == 'print(end="")' and stop["line"] == at
    assert stop["why"] and stop["hint"] and stop["instruction"].startswith("CALL")


def test_what_is_handed_over(capsys):
    (stop,) = [e for e in shown(island, (ONES,)).trace["events"] if e["kind"] == "break"]
    (frame,) = stop["handed"]
    assert frame["function"] == "island"
    assert frame["variables"] == [["y", "float32[4]"]]
    assert "print()" in frame["stack"]


def looping(x, n):
    for _ in range(n):
        print(end="")
        x = x + 1
    return x * 2


def test_a_thousand_rounds_are_few_beats(capsys):
    widget = shown(looping, (ONES, 1000))
    beats = widget.trace["events"]
    assert len(beats) < 30
    (rounds,) = [e for e in beats if e["kind"] == "rounds"]
    assert rounds["of"] == rounds["count"] + 2 == 999
    assert len(rounds["met"]) == 1
    assert "met 1000 times" in repr(widget)
    assert "999 times (B ◆1)" in repr(widget)


def test_the_body_of_a_loop_goes_back_up(capsys):
    data = shown(looping, (ONES, 5)).trace
    run = next(e for e in data["events"] if e["kind"] == "run" and e["region"] == "B")
    lines = [place["line"] for place in run["way"]]
    assert lines == [line_of(looping, "x + 1"), line_of(looping, "for _")]


def helper(y):
    z = y * 2
    print(end="")
    return z + 1


def outer(x):
    b = helper(x - 1)
    return b * 3


def test_a_break_in_a_callee_shows_its_source(capsys):
    data = shown(outer, (ONES,)).trace
    assert [listing["name"] for listing in data["listings"]] == ["outer", "helper"]
    (stop,) = data["breaks"]
    assert (stop["code"], stop["line"]) == (1, line_of(helper, "print("))
    assert [place["function"] for place in stop["chain"]] == ["outer", "helper"]
    runs = data["regions"][0]["runs"]
    assert [run[0] for run in runs] == [0, 1]
    node = next(n for n in data["regions"][0]["nodes"] if n["text"] == "sub * 2")
    assert (node["code"], node["line"]) == (1, line_of(helper, "y * 2"))


class Context:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def guarded(x):
    y = x + 1
    with Context():
        y = y * 2
        print(end="")
        try:
            y = y - int("seven")
        except ValueError:
            y = y.relu()
    return y / 2


def test_with_and_try(capsys):
    widget = shown(guarded, (ONES,))
    listing = widget.trace["listings"][0]
    last = listing["first"] + len(listing["lines"])
    for region in widget.trace["regions"]:
        for _, low, high in region["runs"]:
            assert listing["first"] <= low <= high < last
    assert kinds(widget)[-1] == "return"
    ElementTree.fromstring(widget.picture())


def branching(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def test_a_branch_says_which_way(capsys):
    widget = shown(branching, (ONES,), (-ONES,), (ONES,))
    ran = [e["result"] for e in widget.trace["events"] if e["kind"] == "python"]
    assert ran == ["True", "False", "True"]
    assert [line.split(": ")[1] for line in repr(widget).splitlines()[-3:]] == [
        "A ◆1, B",
        "A ◆1, C",
        "A ◆1, B",
    ]


def test_a_function_without_a_break():
    widget = BreakMap(block, 4)
    assert widget.summary() == "1 call, 1 graph in 1 region, 0 breaks"
    assert len(widget.trace["regions"][0]["kernels"]) == 1


def raising(x):
    y = x + 1
    print(file=3)
    return y


def test_an_error_belongs_to_its_call():
    widget = shown(raising, (ONES,), (ONES,))
    assert [e["result"] for e in widget.trace["events"] if e["kind"] == "return"] == ["raised"] * 2
    assert "raised AttributeError" in repr(widget).splitlines()[-1]


def test_a_compiled_function_is_compiled_anew(capsys):
    fn = compiled(island)
    fn(ONES)
    widget = BreakMap(fn, (ONES,))
    assert [e["new"] for e in widget.trace["events"] if e["kind"] == "enter"] == [True, True]


class Model:
    def __init__(self):
        self.scale = 3

    def __call__(self, x):
        y = x * self.scale
        print(end="")
        return y + 1

    def forward(self, x):
        return self(x) - 1


def test_methods_and_objects_that_are_called(capsys):
    model = Model()
    assert BreakMap(model, (ONES,)).trace["listings"][0]["name"] == "__call__"
    assert BreakMap(compiled(model), (ONES,)).trace["listings"][0]["name"] == "__call__"
    assert BreakMap(model.forward, (ONES,)).trace["listings"][0]["name"] == "forward"
    assert BreakMap(compiled(model.forward), (ONES,)).trace["listings"][0]["name"] == "forward"


def test_a_recording_gives_the_same(capsys):
    fn = compiled(island)
    with trace.record() as recorder:
        fn(ONES)
    mine = repr(BreakMap(trace=recorder))
    reset()
    assert mine == repr(shown(island, (ONES,)))


def test_a_recording_that_begins_too_late_is_refused(capsys):
    fn = compiled(island)
    fn(ONES)
    with trace.record() as recorder:
        fn(ONES)
    with pytest.raises(ValueError, match="was captured before this recording began"):
        BreakMap(trace=recorder)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: BreakMap(), "either a function and its calls, or a recording"),
        (lambda: BreakMap(block), "at least one call"),
        (
            lambda: BreakMap(island, ONES),
            r"a call is a tuple of arguments, as in BreakMap\(fn, \(x,",
        ),
        (lambda: BreakMap(block, 4, trace=[]), "either a function and its calls"),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(TypeError, match=said):
        make()


def test_the_trace_is_plain_without_paths_and_the_same_each_time(capsys):
    first = shown(guarded, (ONES,), (torch.ones(8),))
    told = json.dumps(first.trace, allow_nan=False)
    assert json.loads(told) == first.trace
    assert str(Path(__file__).parent) not in told and "0x" not in told
    reset()
    again = shown(guarded, (ONES,), (torch.ones(8),))
    assert again.trace == first.trace and again.picture() == first.picture()


def test_the_picture_is_svg(capsys):
    widget = shown(outer, (ONES,))
    ElementTree.fromstring(widget.picture())
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget) and data["image/svg+xml"] == widget.picture()
    assert "in helper" in widget.picture() and "◆" in widget.picture()


def test_a_long_function_is_folded_in_the_picture(tmp_path):
    lines = ["def long(x):", *("    x = x + 1" for _ in range(60)), "    return x"]
    file = tmp_path / "long.py"
    file.write_text("\n".join(lines))
    scope: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    picture = BreakMap(compiled(scope["long"]), (ONES,)).picture()
    assert "…" in picture and picture.count("x = x + 1") < 10


def test_a_function_without_source():
    scope: dict = {}
    exec("def made(x):\n    y = x + 1\n    return y * 2\n", scope)
    widget = BreakMap(compiled(scope["made"]), (ONES,))
    assert widget.trace["listings"][0]["lines"][0] == "# made: no source"
    ElementTree.fromstring(widget.picture())


# ---- loops, found in a row of legs --------------------------------------------------------------


@pytest.mark.parametrize(
    "row",
    [
        "",
        "A",
        "AAAA",
        "ABABABAB",
        "PBBBBBBBT",
        "PBBBBCBBBBCBBBBCBBBBCT",
        "ABCABCABCABCABD",
        "AABBAABBAABBAABB",
    ],
)
def test_nothing_is_left_out_of_a_route(row):
    legs = [Leg(name, ord(name)) for name in row]
    assert list(unrolled(folded(legs))) == legs


def test_loops_in_loops_are_found():
    legs = [Leg(name, None) for name in "P" + "BBBBBC" * 7 + "T"]
    first, around, last = folded(legs)
    assert (first.region, last.region) == ("P", "T")
    assert isinstance(around, Loop) and len(around.rounds) == 7
    inner, after = around.rounds[0]
    assert isinstance(inner, Loop) and len(inner.rounds) == 5 and after.region == "C"


def test_each_region_has_a_colour_of_its_own():
    def stopping(x):
        for step in range(4):
            x = x + step
            print(end="")
        print(end="")
        x = x * 2
        print(end="")
        return x.relu()

    widget = BreakMap(stopping, 4)
    letters = [region["id"] for region in widget.trace["regions"]]
    assert len(letters) >= 4
    inks = re.findall(r'fill="(#\w+)"[^>]*font-weight="600">([A-Z])</text>', widget.picture())
    by_letter = {letter: ink for ink, letter in inks}
    assert sorted(by_letter) == letters[: len(by_letter)] == letters
    assert len(set(by_letter.values())) == len(letters)
