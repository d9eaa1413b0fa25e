"""SaveOrRecompute: every cut is the partitioner's, in the widget, its text and its picture."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import labcore as torch
from labcore import trace
from labcore.autodiff.mincut import min_cut_partition
from tests.widgets import save_fixture
from tests.widgets.programs import block
from tests.widgets.save_fixture import layer, wave
from widgets import SaveOrRecompute
from widgets.save_or_recompute import joint_of


def weights():
    return torch.ones(4, 4, requires_grad=True), torch.ones(4, requires_grad=True)


def within(cuts, budget):
    high, low = cuts[0]["bytes"], cuts[-1]["bytes"]
    return next(cut for cut in cuts if cut["bytes"] <= low + budget * (high - low))


def test_the_text():
    assert repr(SaveOrRecompute(wave)).splitlines() == [
        "SaveOrRecompute(wave: default saves 64 bytes, min-cut 48 and computes 1 operator again)",
        "  default  64 bytes: x, w, mul, tanh",
        "     100%  48 bytes: x, w, tanh; again: mul (4 operations)",
        "       0%  32 bytes: x, w; again: mul, sin, add, tanh (16 operations)",
        "  x: input: there is nothing to compute it from",
        "  w: input: there is nothing to compute it from",
        "  mul: cheap: mul of x, w joins the loop that reads it",
        "  tanh: output: it lies in memory in any case: it is returned",
    ]
    assert repr(SaveOrRecompute(block)).splitlines()[1:3] == [
        "  default  16 bytes: relu",
        "     100%  4 bytes: le",
    ]


def two_layers(x, first, second):
    return (x @ first).tanh() @ second


def test_a_percent_that_is_shown_allows_the_cut_beside_it():
    def leaf(*sizes):
        return torch.ones(*sizes, requires_grad=True)

    widget = SaveOrRecompute(two_layers, leaf(8, 4), leaf(4, 6), leaf(6, 2))
    shown = re.findall(r"^ +(\d+)%  ([\d,]+) bytes", repr(widget), re.M)
    cuts = widget.trace["answers"][""]["cuts"]
    assert len(shown) == len(cuts) > 1
    for percent, size in shown:
        assert within(cuts, int(percent) / 100)["bytes"] == int(size.replace(",", ""))


def test_it_shows_what_the_compiler_does():
    x, w = torch.ones(4, requires_grad=True), torch.ones(4, requires_grad=True)
    widget = SaveOrRecompute(wave, x, w)
    for budget in (1, 0.5, 0):
        options = {"partitioner": "min_cut", "activation_memory_budget": budget}
        with trace.record() as story:
            torch.compile(wave, options=options)(x, w)
        told = next(g for g in story.of(trace.AotGraph) if g.phase == "forward")
        cut = within(widget.trace["answers"][""]["cuts"], budget)
        assert (cut["saved"], cut["bytes"]) == (told.saved, told.saved_bytes)


def test_every_budget_and_forced_value_is_the_partitioners_answer():
    args = torch.ones(8, 4), *weights()
    joint, _, _ = joint_of(layer, args, 0)
    widget = SaveOrRecompute(layer, *args)
    for key, answer in widget.trace["answers"].items():
        forced = dict(part.split(":") for part in key.split(",") if part)
        save = [name for name, way in forced.items() if way == "save"]
        again = [name for name, way in forced.items() if way == "again"]
        if "refused" in answer:
            with pytest.raises(ValueError, match="cannot be computed again"):
                min_cut_partition(joint, 1, save, again)
            continue
        for budget in (0, 0.3, 0.7, 1):
            expected = min_cut_partition(joint, budget, save, again)
            cut = within(answer["cuts"], budget)
            assert cut["saved"] == [value.name for value in expected.saved]
            assert cut["again"] == expected.recomputed


def test_several_forced_values_are_asked_of_the_kernel():
    widget = SaveOrRecompute(wave)
    widget.forced = {"tanh": "again", "mul": "save"}
    (answer,) = widget.answers.values()
    assert widget.answers.keys() == {"mul:save,tanh:again"}
    assert answer["cuts"][0]["saved"] == ["primals_1", "primals_2", "mul"]
    widget.forced = {"tanh": "again"}  # known beforehand
    assert len(widget.answers) == 1
    widget.forced = {"primals_1": "again", "mul": "save"}
    refused = widget.answers["mul:save,primals_1:again"]["refused"]
    assert refused == "'x' cannot be computed again: there is nothing to compute it from"


def test_a_large_graph_is_worked_out_when_it_is_asked():
    def many(x):
        for _ in range(30):
            x = torch.sin(x)
        return x

    widget = SaveOrRecompute(many)
    assert list(widget.trace["answers"]) == [""]
    widget.forced = {"sin_3": "save"}
    assert "sin_3" in widget.answers["sin_3:save"]["cuts"][0]["saved"]


def test_the_second_graph_of_a_call():
    def broken(x):
        y = torch.sin(x)
        print("between")
        return torch.exp(y) * 2

    first, second = (SaveOrRecompute(broken, torch.ones(4).requires_grad_(), graph=n)
                     for n in (0, 1))
    assert "sin" in {node["name"] for node in first.trace["nodes"]}
    assert "exp" in {node["name"] for node in second.trace["nodes"]}
    assert repr(first).startswith("SaveOrRecompute(broken, graph=0 of 2 graphs: default saves")
    with pytest.raises(ValueError, match=r"this call has 2 graph\(s\) that are trained"):
        SaveOrRecompute(broken, torch.ones(4).requires_grad_(), graph=2)


def test_a_call_that_trains_nothing():
    with pytest.raises(ValueError, match="nothing of this call is trained. Give it a tensor"):
        SaveOrRecompute(wave, torch.ones(4), torch.ones(4))


def test_an_exception_of_the_call_is_raised_as_it_is():
    with pytest.raises(RuntimeError, match="must match the size"):
        SaveOrRecompute(wave, torch.ones(4).requires_grad_(), torch.ones(3))


def test_a_compiled_function_is_looked_at_anew():
    compiled = torch.compile(wave)
    assert repr(SaveOrRecompute(compiled)) == repr(SaveOrRecompute(wave))


def test_nodes_know_their_place():
    args = torch.ones(8, 4), *weights()
    nodes = {node["name"]: node for node in SaveOrRecompute(layer, *args).trace["nodes"]}
    assert nodes["matmul"]["text"] == "x @ w" and nodes["matmul"]["side"] == "forward"
    assert nodes["primals_1"]["text"] == "x" and nodes["tangents_1"]["text"] == "gradient"
    assert nodes["le"]["side"] == "either" and nodes["relu"]["returned"]
    assert {n for node in nodes.values() for n in node.get("gradient_of", ())} == {"w", "bias"}


def test_the_picture():
    widget = SaveOrRecompute(wave)
    svg = ElementTree.fromstring(widget.picture())
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("mul = x * w") == 2 and texts.count("16 B") == 3
    assert "output: it lies in memory in any case: it is returned" in texts
    assert widget.still()._repr_svg_() == SaveOrRecompute(wave).picture()
    bundle, _ = widget._repr_mimebundle_()
    assert bundle["image/svg+xml"] == widget.picture() and bundle["text/plain"] == repr(widget)


def test_the_fixture_is_up_to_date():
    assert save_fixture.FILE.read_text() == save_fixture.printed(), (
        "run: python -m tests.widgets.save_fixture"
    )


HASHED = """
import labcore as torch
from widgets import SaveOrRecompute

def gated(x, gate, up, down):
    return (torch.sigmoid(x @ gate) * (x @ up)) @ down

sizes = (8, 4), (4, 16), (4, 16), (16, 4)
print(SaveOrRecompute(gated, *(torch.ones(*s, requires_grad=True) for s in sizes)).picture())
"""


def test_the_picture_is_the_same_whatever_texts_hash_to():
    pictures = {
        subprocess.run(
            [sys.executable, "-c", HASHED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(pictures) == 1
