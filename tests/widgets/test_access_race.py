"""AccessRace: the plan is the compiler's; counts, values, text and picture agree with it."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import traitlets

import labcore as torch
from labcore import trace
from labcore.compiler import reset
from tests.widgets.programs import PROGRAMS, X, block
from widgets import AccessRace, CannotShow
from widgets._race import formula, saved
from widgets.access_race import MOST

REPLAY = Path(__file__).parents[1] / "js" / "replay.js"


def race(name: str, n: int = 4) -> AccessRace:
    return AccessRace(PROGRAMS[name].fn, *PROGRAMS[name].inputs, n=n)


def test_block_has_the_counts_of_the_course():
    assert repr(AccessRace(block)) == "AccessRace(block, N=4: separate 28 accesses, fused 12)"
    assert repr(AccessRace(block, n=8)) == "AccessRace(block, N=8: separate 56 accesses, fused 24)"


@pytest.mark.parametrize("n", range(1, MOST + 1))
def test_block_is_7n_and_3n_for_every_n_of_the_slider(n):
    separate, fused = AccessRace(block, n=n).runs()
    assert (len(separate.accesses), len(fused.accesses)) == (7 * n, 3 * n)


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts(name):
    assert tuple(map(formula, race(name).trace["lanes"])) == (
        PROGRAMS[name].separate,
        PROGRAMS[name].fused,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_lanes_compute_what_eager_computes(name):
    widget, program = race(name), PROGRAMS[name]
    want = program.fn(*program.inputs)
    want = want if isinstance(want, tuple) else (want,)
    for done in widget.runs():
        got = [
            list(done.memory[b["name"]].values())
            for b in widget.trace["buffers"]
            if b["role"] == "output"
        ]
        for values, tensor in zip(got, want, strict=True):
            told = tensor.array.tolist()
            assert all(
                math.isclose(a, b, rel_tol=3e-7, abs_tol=0.0)
                for a, b in zip(values, told, strict=True)
            )


def test_the_trace_has_the_users_names():
    names = [(b["name"], b["role"]) for b in race("gate").trace["buffers"]]
    assert names == [
        ("hidden", "input"),
        ("weight", "input"),
        ("t1", "intermediate"),
        ("y1", "output"),
        ("y2", "output"),
    ]


def test_a_name_of_the_users_is_not_taken_twice():
    def shift(y, t):
        return (y + t) * 2

    assert [b["name"] for b in AccessRace(shift).trace["buffers"]] == ["y", "t", "step1", "out"]


def test_what_fusion_saved_is_the_traffic_of_the_intermediates():
    separate, fused = AccessRace(block).runs()
    gone = [access for access, away in zip(separate.accesses, saved(separate, fused)) if away]
    assert len(gone) == 16
    assert {buffer for _, buffer, _ in gone} == {"t1", "t2"}


def test_the_trace_is_plain_and_the_same_each_time():
    trace = race("pick").trace
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace
    assert race("pick").trace == trace
    assert str(Path(__file__).parent) not in json.dumps(trace)


def test_infinities_and_nan_travel():
    values = torch.tensor([float("inf"), float("nan"), -0.0, 1.0])
    widget = AccessRace(lambda x: x + 1, values)
    json.dumps(widget.trace, allow_nan=False)
    separate, _ = widget.runs()
    got = separate.memory["y"]
    assert got[0] == math.inf and math.isnan(got[1]) and got[2] == 1.0


def test_methods_compiled_functions_and_defaults():
    class Layer:
        def __init__(self):
            self.weight = torch.ones(4)

        def forward(self, x, *, shift=1.0):
            return x * self.weight + shift

        def __call__(self, x):
            return self.forward(x)

    layer = Layer()
    told = "N=4: separate 20 accesses, fused 12)"
    assert repr(AccessRace(layer.forward, X)) == f"AccessRace(forward, {told}"
    assert repr(AccessRace(layer, X)) == f"AccessRace(Layer, {told}"
    assert repr(AccessRace(torch.compile(block))) == repr(AccessRace(block))


def test_a_race_uses_up_no_variant():
    reset()
    AccessRace(block)
    fn = torch.compile(block, backend="eager")
    with trace.record() as recorder:
        fn(X, X)
    assert [e.compile_id for e in recorder.of(trace.VariantAdded)] == ["0/0"]


def test_the_function_is_left_as_it_was():
    calls = []

    def counted(x):
        return x + 1

    AccessRace(counted)
    assert calls == [] and counted(torch.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("fn", "inputs", "said"),
    [
        (lambda x: x.sum(0) * 2, (torch.ones(40),), "its arrays have up to 40 elements"),
        (lambda x: x, (), "it does no tensor arithmetic"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_reason(fn, inputs, said):
    with pytest.raises(CannotShow, match="AccessRace cannot show <lambda>: " + said):
        AccessRace(fn, *inputs)


def test_what_capture_cannot_take_is_refused_with_the_users_line():
    def noisy(x):
        print("hi")
        return x + 1

    with pytest.raises(CannotShow, match=r"(?s)cannot show noisy: .*print"):
        AccessRace(noisy)


def test_a_refusal_shows_no_frames_of_the_widget_between_the_users_line_and_the_reason():
    """IPython leaves out frames that say `__tracebackhide__`, except the one that raised."""
    with pytest.raises(CannotShow) as caught:
        AccessRace(lambda x: x.sum(), torch.ones(99))
    here, *between, _ = [entry.frame for entry in caught.traceback]
    assert here.code.path == Path(__file__)
    assert all(frame.f_locals.get("__tracebackhide__") for frame in between)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_the_users_own_error_stays_the_users():
    with pytest.raises(RuntimeError, match="must match the size"):
        AccessRace(block, torch.ones(3), torch.ones(4))


@pytest.mark.parametrize("n", [0, 17])
def test_n_has_the_range_of_the_slider(n):
    with pytest.raises(traitlets.TraitError):
        AccessRace(block, n=n)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [1, 4, 16])
def test_the_picture_is_svg_and_the_same_each_time(name, n):
    widget = race(name, n)
    svg = widget.picture()
    ElementTree.fromstring(svg)
    assert svg == race(name, n).picture()
    separate, fused = (len(done.accesses) for done in widget.runs())
    assert f">{separate}</text>" in svg and f">{fused}</text>" in svg


def test_a_cell_shows_the_widget_its_picture_and_its_text():
    widget = AccessRace(block)
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == repr(widget)
    assert data["image/svg+xml"] == widget.picture()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert repr(widget.still()) == repr(widget) and widget.still()._repr_svg_() == widget.picture()


ROWS = torch.tensor([[-2.0, -1.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0]])
SCHEDULES = {
    "softmax": (lambda x: torch.softmax(x, -1), (ROWS,), 72, 16),
    "sums": (lambda x: (x.sum(0), x.sum(1)), (ROWS,), 22, 14),
    "layer": (lambda x, w: torch.relu(x @ w + 1), (ROWS, torch.ones(4, 3)), 24, 12),
    "gate": (lambda u, v: u[:, None] * (v + 1)[None, :], (X, X), 44, 36),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_any_schedule_is_shown_for_its_inputs(name):
    fn, inputs, separate, fused = SCHEDULES[name]
    widget = AccessRace(fn, *inputs)
    assert tuple(len(done.accesses) for done in widget.runs()) == (separate, fused)
    assert repr(widget) == (
        f"AccessRace(<lambda>: separate {separate} accesses, fused {fused})"
    )
    ElementTree.fromstring(widget.picture())
    assert json.loads(json.dumps(widget.trace, allow_nan=False)) == widget.trace
    want = fn(*inputs)
    names = [b["name"] for b in widget.trace["buffers"] if b["role"] == "output"]
    for done in widget.runs():
        for name, tensor in zip(names, want if isinstance(want, tuple) else (want,), strict=True):
            got = list(done.memory[name].values())
            assert got == pytest.approx(tensor.reshape(-1).tolist(), rel=1e-6)


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the widget's JavaScript")
def test_the_widgets_javascript_does_the_same():
    traces = {name: race(name).trace for name in PROGRAMS}
    sent = json.dumps({"traces": traces, "sizes": [1, 4, 7, 16]})
    done = subprocess.run(
        ["node", str(REPLAY)], input=sent, capture_output=True, text=True, check=True
    )
    for name, by_size in json.loads(done.stdout).items():
        for n, lanes in by_size.items():
            for ours, theirs in zip(race(name, int(n)).runs(), lanes, strict=True):
                assert [list(access) for access in ours.accesses] == theirs["accesses"]
                for buffer, values in theirs["memory"].items():
                    told = [float(v) for v in ours.memory[buffer].values()]
                    assert all(
                        math.isclose(a, b, rel_tol=2.4e-7)
                        for a, b in zip(told, values, strict=True)
                    )


def test_any_schedule_of_the_same_function():
    x = torch.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]])
    chain = lambda x: torch.relu(x + 1) * x.sum(-1, True)
    whole, apart = AccessRace(chain, x), AccessRace(chain, x, options={"max_nodes": 1})
    fused = [len(widget.runs()[1].accesses) for widget in (whole, apart)]
    assert fused[0] < fused[1]
    for widget in (whole, apart):
        (name,) = [b["name"] for b in widget.trace["buffers"] if b["role"] == "output"]
        assert list(widget.runs()[1].memory[name].values()) == chain(x).reshape(-1).tolist()
    with pytest.raises(ValueError, match="unexpected option 'fuse'; known are max_nodes"):
        AccessRace(chain, x, options={"fuse": False})
