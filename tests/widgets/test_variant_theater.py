"""VariantTheater: beats, text and picture are the compiler's events, whatever the calls do."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from traitlets import TraitError

import labcore as torch
from labcore import nn, trace
from labcore.compiler import guard_matrix, reset
from tests.widgets.programs import block
from widgets import VariantTheater


@pytest.fixture(autouse=True)
def _fresh_ids():
    """Compile ids start at 0/0, as in a new notebook."""
    reset()


def compiled(fn=block):
    return torch.compile(fn, backend="eager", dynamic=False)


def kinds(widget, call=None):
    return [e["kind"] for e in widget.play["events"] if call in (None, e["call"])]


def noisy(x, k):
    y = x * k
    if y.sum() > 0:
        return y + 1
    return y


STATIC = """\
VariantTheater(block: 4 calls, 2 hits, 2 misses, 1 recompile, 2 variants)
  call 1  float32[4], float32[4]  miss, compiled 0/0
  call 2  float32[4], float32[4]  hit 0/0
  call 3  float32[8], float32[8]  miss, compiled 0/1
          0/0: tensor 'x' size mismatch at index 0. expected 4, actual 8
  call 4  float32[4], float32[4]  hit 0/0"""

THREE = (
    STATIC.replace("(block:", "(block, dynamic=False:")
    + """
  with dynamic=None: 4 calls, 2 hits, 2 misses, 1 recompile, 2 variants
  with dynamic=True: 4 calls, 3 hits, 1 miss, 0 recompiles, 1 variant"""
)


def test_sizes_4_4_8_4():
    assert repr(VariantTheater(compiled(), 4, 4, 8, 4)) == STATIC


def test_calls_as_tuples_and_in_a_list():
    four, eight = (torch.ones(4), torch.ones(4)), (torch.ones(8), torch.ones(8))
    assert repr(VariantTheater.watch(compiled(), [four, four, eight, four])) == STATIC


def test_a_recording_gives_the_same():
    fn = compiled()
    with trace.record() as recorder:
        for n in (4, 4, 8, 4):
            fn(torch.ones(n), torch.ones(n))
    assert repr(VariantTheater(trace=recorder)) == STATIC
    assert repr(VariantTheater(trace=recorder.events)) == STATIC


def test_a_plain_function_is_compiled_first():
    assert repr(VariantTheater(block, 4, 4, 8, 4)) == THREE


def test_guards_are_asked_in_the_order_of_the_check_up_to_the_first_that_fails():
    widget = VariantTheater(compiled(), 4, 4, 8, 4)
    asked = [
        (e["variant"], e["guard"], e["ok"])
        for e in widget.play["events"]
        if e["kind"] == "guard" and e["call"] == 3
    ]
    total = len(widget.play["variants"][0]["guards"])
    first = [a for a in asked if a[0] == "0/1"]
    assert [ok for _, _, ok in first] == [True] * (len(first) - 1) + [False]
    assert asked[len(first) :] == [("0/0", k, True) for k in range(total)]


def test_guard_texts_are_the_real_ones():
    fn = compiled()
    with trace.record() as recorder:
        fn(torch.ones(4), torch.ones(4))
    installed = [g.text for g in recorder.of(trace.GuardsInstalled)[0].guards]
    shown = [g["text"] for g in VariantTheater(trace=recorder).play["variants"][0]["guards"]]
    assert shown == installed and "x.size() == (4,)" in shown


def test_a_failed_guard_says_what_and_whose_line():
    widget = VariantTheater(compiled(), 4, 8)
    failed = next(e for e in widget.play["events"] if e["kind"] == "guard" and not e["ok"])
    assert (failed["expected"], failed["actual"]) == ("(4,)", "(8,)")
    first, end = failed["at"]
    assert failed["source"][first:end] == "x + bias"


def test_labels_tell_the_calls_apart():
    calls = VariantTheater(compiled(), 4, 8).play["calls"]
    assert [c["label"] for c in calls] == ["x[4]", "x[8]"]
    mixed = VariantTheater(
        compiled(), (torch.ones(4), torch.ones(4)), (torch.ones(4).double(), torch.ones(4))
    )
    assert [c["label"] for c in mixed.play["calls"]] == ["x: float32[4]", "x: float64[4]"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x, pair, options):
        y = self.lin(x) + pair[0]
        return y.relu() if options["relu"] else y


def test_calls_of_a_module_with_containers_are_told_apart():
    x, pair = torch.ones(2, 4), (torch.ones(3), 1)
    on, off = {"relu": True}, {"relu": False}
    widget = VariantTheater(Net(), (x, pair, on), (x, pair, off), (x, pair, on))
    assert [c["label"] for c in widget.play["calls"]] == [
        "args[2]['relu']: True",
        "args[2]['relu']: False",
        "args[2]['relu']: True",
    ]
    assert repr(widget).splitlines()[:2] == [
        "VariantTheater(Net, dynamic=False: 3 calls, 1 hit, 2 misses, 1 recompile, 2 variants)",
        "  call 1  float32[2, 4], (float32[3], 1), {'relu': True}   miss, compiled 0/0",
    ]
    method = VariantTheater(Net().forward, (x, pair, on), (x, pair, off))
    assert method.play["calls"][1]["label"] == "options['relu']: False"


def test_lists_and_objects_are_told_apart_by_what_they_hold():
    x = torch.ones(3)
    lists = VariantTheater(lambda xs: xs[0] * 2, ([x],), ([x, x],), ([x],))
    assert [c["label"] for c in lists.play["calls"]] == [
        "len(xs): 1",
        "len(xs): 2 xs[1]: float32[3]",
        "len(xs): 1",
    ]

    def scaled(by, x):
        return x * by.rate

    class By:
        def __init__(self, rate):
            self.rate = rate

    objects = VariantTheater(scaled, (By(1), x), (By(2), x))
    assert [c["label"] for c in objects.play["calls"]] == ["by.rate: 1", "by.rate: 2"]


def test_a_module_is_called_with_tensors_of_a_size():
    widget = VariantTheater(nn.Linear(4, 2), 4, 4)
    assert widget.summary() == "2 calls, 1 hit, 1 miss, 0 recompiles, 1 variant"


def test_keyword_arguments_and_those_that_some_calls_lack():
    def call(bias=None):
        def made(f):
            f(torch.ones(4)) if bias is None else f(torch.ones(4), bias=bias)

        return made

    def shifted(x, *, bias=0.0):
        return x + bias

    widget = VariantTheater(shifted, call(), call(0.5))
    assert [c["label"] for c in widget.play["calls"]] == ["bias: 0.0", "bias: 0.5"]
    variadic = VariantTheater(lambda *xs: xs[0] + 1, (torch.ones(4),), (torch.ones(4), 2))
    assert [c["label"] for c in variadic.play["calls"]] == ["()", "xs[1]: 2"]


def test_kernels_of_one_name_are_told_by_their_loops():
    widget = VariantTheater(block, 4, 8)
    named = "numba_fused_add_mul_relu_0"
    assert [v["kernels"] for v in widget.play["variants"]] == [
        [f"{named} · range(4)"],
        [f"{named} · range(8)"],
    ]
    widget.dynamic = True
    assert widget.play["variants"][0]["kernels"] == [f"{named} · range(s0)"]


def test_a_variant_whose_graph_is_known_says_whose():
    def of_either(xs):
        return xs[0] * 2

    x = torch.ones(4)
    first, second = VariantTheater(of_either, ([x],), ((x,),)).play["variants"]
    assert first["kernels"] and (second["kernels"], second["same"]) == ([], "0/0")


def test_every_variant_that_ends_at_a_break_says_so():
    calls = (torch.ones(3), 2), (torch.ones(3), 3), (torch.ones(3), 3)
    widget = VariantTheater(compiled(noisy), *calls)
    assert [v["stop"]["what"] for v in widget.play["variants"]] == [
        "branch on a tensor's value"
    ] * 2
    assert [e["call"] for e in widget.play["events"] if e["kind"] == "break"] == [0, 1]


def test_a_break_is_shown_with_its_reason():
    widget = VariantTheater(compiled(noisy), (torch.ones(3), 2), (torch.ones(3), 2))
    stop = next(e for e in widget.play["events"] if e["kind"] == "break")
    assert stop["source"].strip() == "if y.sum() > 0:" and stop["what"] and stop["why"]
    assert [v["id"] for v in widget.play["variants"]] == ["0/0"]  # what follows is not on stage
    assert repr(widget).splitlines()[1:] == [
        "  call 1  float32[3], 2  miss, compiled 0/0",
        "  call 2  float32[3], 2  hit 0/0",
        f"  0/0 ends at line {stop['line']}, {stop['what']}; the regions behind it are not shown",
    ]
    assert kinds(widget, 1)[-2:] == ["execute", "return"]
    assert "◆" in widget.picture()


def test_an_error_belongs_to_its_call_and_the_next_goes_on():
    ones = torch.ones(4)
    widget = VariantTheater(compiled(), (ones, ones), (ones, torch.ones(3)), (ones, ones))
    lines = repr(widget).splitlines()
    assert lines[0].endswith("2 variants, 1 raised)")
    assert "raised RuntimeError: The size of tensor" in lines[2]
    assert lines[-1].endswith("hit 0/0")
    assert [e for e in widget.play["events"] if e["kind"] == "return"][1]["result"] == "raised"


def test_arguments_that_no_call_can_have_are_the_users_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        VariantTheater(compiled(), (torch.ones(4),))


def test_the_recompile_limit_is_shown_as_python():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        widget = VariantTheater(compiled(), *range(2, 11))
    assert "9 calls, 0 hits, 9 misses, 7 recompiles, 8 variants" in repr(widget)
    last = [e for e in widget.play["events"] if e["call"] == 8]
    assert next(e for e in last if e["kind"] == "miss")["instead"] == "python"
    assert repr(widget).splitlines()[-1].strip() == "and 6 more"


def test_variants_made_before_the_recording_are_there_from_the_start():
    fn = compiled()
    fn(torch.ones(4), torch.ones(4))
    widget = VariantTheater(fn, 4, 8)
    assert widget.play["earlier"] == ["0/0"]
    assert widget.summary() == "2 calls, 1 hit, 1 miss, 1 recompile, 2 variants"


def test_only_the_function_of_the_first_call_is_on_stage():
    one, two = compiled(), compiled(noisy)
    with trace.record() as recorder:
        one(torch.ones(4), torch.ones(4))
        two(torch.ones(4), 3)
        one(torch.ones(4), torch.ones(4))
    widget = VariantTheater(trace=recorder)
    assert (widget.play["function"], widget.summary()) == (
        "block",
        "2 calls, 1 hit, 1 miss, 0 recompiles, 1 variant",
    )


def test_the_trace_is_plain_without_times_or_paths_and_the_same_each_time():
    first = VariantTheater(compiled(), 4, 4, 8, 4)
    told = json.dumps(first.trace, allow_nan=False)
    assert json.loads(told) == first.trace
    assert str(Path(__file__).parent) not in told and "seconds" not in told
    reset()
    again = VariantTheater(compiled(), 4, 4, 8, 4)
    assert again.trace == first.trace and again.picture() == first.picture()


def test_the_whole_pipeline_shows_its_four_stages_and_the_kernel():
    widget = VariantTheater(block, 4, 8)
    stages = [e["stage"] for e in widget.play["events"] if e["kind"] == "stage" and e["call"] == 0]
    assert stages == ["capture", "autodiff", "fusion", "codegen"]
    assert all(e["note"] for e in widget.play["events"] if e["kind"] == "stage")
    assert [len(v["kernels"]) for v in widget.play["variants"]] == [1, 1]


def test_the_picture_is_svg():
    widget = VariantTheater(compiled(), 4, 4, 8, 4)
    ElementTree.fromstring(widget.picture())
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == STATIC and data["image/svg+xml"] == widget.picture()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: VariantTheater(), "either a function and its calls, or a recording"),
        (lambda: VariantTheater(block), "at least one call"),
        (lambda: VariantTheater(block, torch.ones(4)), "a call is a tuple of arguments"),
        (lambda: VariantTheater(block, "4"), "got str"),
        (lambda: VariantTheater(block, True), "got bool"),
        (lambda: VariantTheater(nn.Linear, 4), "Linear is a class, and compiling it compiles"),
        (
            lambda: VariantTheater(block, 4, trace=[]),
            "either a function and its calls, or a recording",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(TypeError, match=said):
        make()


@pytest.mark.parametrize("size", [-1, 4097, 10**12])
def test_a_size_out_of_range_is_refused(size):
    with pytest.raises(ValueError, match=f"a size is a number from 0 to 4096, not {size}"):
        VariantTheater(block, 4, size)


# ---- the switch, the sizes, the limit ----


def recompiles(widget):
    """Captures so far after each call, from the beats."""
    made, series = 0, []
    for beat in widget.play["events"]:
        made += beat["kind"] == "variant"
        if beat["kind"] == "return":
            series.append(made)
    return series


@pytest.mark.parametrize(
    ("sizes", "dynamic", "captures"),
    [
        ([4, 4, 8, 4], False, [1, 1, 2, 2]),
        ([4, 4, 8, 4], None, [1, 1, 2, 2]),
        ([4, 4, 8, 4], True, [1, 1, 1, 1]),
        ([4, 5, 6, 7, 4], None, [1, 2, 2, 2, 2]),
        ([3, 4, 1, 0, 9, 1], None, [1, 2, 3, 4, 4, 4]),
        ([1, 2, 3], True, [1, 2, 2]),
    ],
)
def test_each_setting_is_the_real_compiler(sizes, dynamic, captures):
    widget = VariantTheater(block, *sizes, dynamic=dynamic)
    assert recompiles(widget) == captures
    other = VariantTheater(block, *sizes)
    other.dynamic = dynamic
    assert recompiles(other) == captures
    assert other.counts() == widget.counts()


def test_the_switch_says_what_the_other_settings_came_to():
    widget = VariantTheater(block, 4, 4, 8, 4, dynamic=True)
    lines = repr(widget).splitlines()
    assert lines[0].startswith("VariantTheater(block, dynamic=True: 4 calls, 3 hits, 1 miss")
    assert [line.split(":")[0].strip() for line in lines[-2:]] == [
        "with dynamic=False",
        "with dynamic=None",
    ]
    assert list(widget.trace["plays"]) == ["static", "automatic", "dynamic"]


def test_other_sizes_are_run_by_the_compiler():
    widget = VariantTheater(block, 4, 4, 8, 4)
    widget.sizes = [2, 3, 3]
    assert widget.summary() == "3 calls, 1 hit, 2 misses, 1 recompile, 2 variants"
    assert widget.trace["sizes"] == [2, 3, 3]
    widget.sizes = []  # as they were given
    assert repr(widget) == THREE


def test_the_limit_is_a_cliff():
    widget = VariantTheater(block, 2, 3, 4, 5, 2)
    for limit, variants, python in ((1, 1, 3), (2, 2, 2), (4, 4, 0), (8, 4, 0)):
        widget.recompile_limit = limit
        assert widget.counts()["variants"] == variants
        results = [e["result"] for e in widget.play["events"] if e["kind"] == "return"]
        assert results.count("eager") == python and results[-1] == "hit"  # old ones still serve
        assert widget.trace["limit"] == limit


def test_twelve_sizes_make_eight_variants_then_python():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the widget itself tells it
        widget = VariantTheater(block, *range(2, 14))
    assert widget.summary() == "12 calls, 0 hits, 12 misses, 7 recompiles, 8 variants"
    widget.dynamic = None
    assert widget.summary() == "12 calls, 10 hits, 2 misses, 1 recompile, 2 variants"


@pytest.mark.parametrize("wrong", [{"sizes": [-1]}, {"sizes": [4097]}, {"recompile_limit": 0}])
def test_what_is_out_of_range_is_refused(wrong):
    widget = VariantTheater(block, 4, 8)
    with pytest.raises(TraitError):
        widget.set_trait(*wrong.popitem())
    assert widget.trace["sizes"] == [4, 8]


def test_a_shape_that_was_given_as_arguments():
    hint = r"takes 1 positional argument but 2 were given; .* give torch\.ones\(4, 16\)$"
    with pytest.raises(TypeError, match=hint):
        VariantTheater(lambda x: x + 1, (4, 16), (6, 16))
    with pytest.raises(TypeError, match="given$"):
        VariantTheater(lambda x: x + 1, (torch.ones(4), torch.ones(4)))


def test_what_the_replays_print_is_not_shown_again(capsys):
    def telling(x):
        print("called")
        return x + 1

    VariantTheater(telling, 4, 8)
    assert capsys.readouterr().out == "called\n" * 2


def test_ids_begin_anew_and_those_of_the_program_go_on():
    fn = compiled()
    fn(torch.ones(4), torch.ones(4))
    widget = VariantTheater(block, 4, 8)
    assert [v["id"] for v in widget.play["variants"]] == ["0/0", "0/1"]
    fn(torch.ones(8), torch.ones(8))
    assert [row.variant for row in guard_matrix(fn)(torch.ones(4), torch.ones(4)).rows] == [
        "0/1",
        "0/0",
    ]


def test_a_call_may_be_a_function_that_makes_it():
    def without_grad(f):
        with torch.no_grad():
            f(torch.ones(4), bias=torch.ones(4))

    widget = VariantTheater(block, 4, without_grad, without_grad)
    assert widget.summary() == "3 calls, 1 hit, 2 misses, 1 recompile, 2 variants"
    assert widget.sizes == []  # no sizes to edit


def test_what_is_compiled_already_has_its_own_settings():
    widget = VariantTheater(compiled(), 4, 8)
    assert list(widget.trace["plays"]) == ["own"] and widget.trace["limit"] is None
    with pytest.raises(TypeError, match="dynamic and recompile_limit are for a plain function"):
        VariantTheater(compiled(), 4, dynamic=True)
    with pytest.raises(TypeError, match="dynamic and recompile_limit are for a plain function"):
        VariantTheater(compiled(), 4, recompile_limit=2)


class Doubling:
    def __call__(self, x):
        return x * 2


def test_an_object_that_is_called_can_be_watched():
    widget = VariantTheater(Doubling(), 4, 4, 8)
    assert widget.summary() == "3 calls, 1 hit, 2 misses, 1 recompile, 2 variants"


def test_an_empty_recording_is_refused():
    with pytest.raises(ValueError, match="no call of a compiled function"):
        VariantTheater(trace=[])


def test_regions_behind_a_break_are_said_to_be_elsewhere():
    def printing(x):
        y = x + 1
        print(end="")
        return y * 2

    shown = VariantTheater(printing, 4, 4)
    identity = shown.play["variants"][0]["id"]
    last = repr(shown).splitlines()[-3]
    assert last.startswith(f"  {identity} ends at line ")
    assert last.endswith("call of print(); the regions behind it are not shown")
    assert "regions behind" not in repr(VariantTheater(compiled(), 4, 4))
