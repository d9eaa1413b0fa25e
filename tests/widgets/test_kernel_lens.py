"""KernelLens: what is kin to what, in the widget, its text and its picture."""

from __future__ import annotations

import json
import platform
import re
from xml.etree import ElementTree

import pytest
import traitlets

import labcore as torch
from labcore import cuda, trace
from tests.codegen.test_provenance import SORTS
from tests.widgets import lens_fixture
from tests.widgets.programs import block
from widgets import KernelLens

X = torch.arange(12.0).reshape(3, 4)
on_x86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="instructions of x86"
)


def layer(x, w):
    h = torch.relu(x @ w + 1)
    return (h * h).sum(1)


def kin_of(kernel, stage, text):
    """The kin of the row of a level with this text, as names."""
    (row,) = [r for r in kernel["stages"][stage] if r["text"].strip() == text]
    known = {kin["id"]: f"{kin['word']} {kin['of']}".strip() for kin in kernel["kin"]}
    return [known[key] for key in row["kin"]]


def test_the_text():
    assert repr(KernelLens(block, machine=False)).splitlines() == [
        "KernelLens(block: 1 kernel)",
        "  numba_fused_add_mul_relu_0",
        f"    tmp0 = x[i0]              <- add, line {LINE}",
        f"    tmp1 = bias[i0]           <- add, line {LINE}",
        f"    tmp2 = tmp0 + tmp1        <- add, line {LINE}",
        f"    tmp3 = relu(tmp2)         <- relu, line {LINE}",
        f"    tmp4 = tmp3 * float32(2)  <- mul, line {LINE}",
        f"    mul[i0] = tmp4            <- mul, line {LINE}",
    ]


LINE = block.__code__.co_firstlineno + 1


def test_kin_goes_from_each_level_to_each_other():
    (kernel,) = KernelLens(block, machine=False).trace["kernels"]
    assert kin_of(kernel, "graph", "x: float32[4096]") == ["load x"]
    assert kin_of(kernel, "graph", "add = x + bias") == ["load x", "load bias", "add"]
    assert kin_of(kernel, "graph", "return mul") == ["store mul"]
    assert kin_of(kernel, "loops", "tmp3 = relu(tmp2)") == ["relu"]
    assert kin_of(kernel, "run", "tmp4 = tmp3 * float32(2)") == ["mul"]
    assert kin_of(kernel, "plain", "mul[i0] = tmp4") == ["store mul"]
    assert kin_of(kernel, "run", "for i0 in range(4096):") == []
    everything = "load x|load bias|add|relu|mul|store mul".split("|")
    assert kin_of(kernel, "source", "return (x + bias).relu() * 2") == everything


def test_a_line_of_the_source_is_cut_where_operations_are():
    (kernel,) = KernelLens(block, machine=False).trace["kernels"]
    (row,) = [r for r in kernel["stages"]["source"] if r["kin"]]
    names = {kin["id"]: kin["word"] for kin in kernel["kin"]}
    told = [(p["text"], [names[key] for key in p["kin"]]) for p in row["pieces"]]
    assert told == [
        ("    return ", []),
        ("(", ["relu"]),
        ("x + bias", ["load", "load", "add"]),
        (").relu()", ["relu"]),
        (" * 2", ["mul", "store"]),
    ]


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("form", ["run", "plain"])
def test_each_statement_of_each_sort_of_kernel_has_its_kin(name, form):
    fn = SORTS[name]
    for kernel in KernelLens(fn, X, machine=False).trace["kernels"]:
        known = {kin["id"] for kin in kernel["kin"]}
        rows = kernel["stages"][form]
        statements = [r for r in rows if re.search(r"^\s+\S+ \+?= ", r["text"])]
        assert statements and all(set(r["kin"]) <= known and r["kin"] for r in statements)
        for stage in ("source", "graph", "loops"):
            reached = {key for row in kernel["stages"][stage] for key in row["kin"]}
            assert {key for r in statements for key in r["kin"]} <= reached, stage


@pytest.mark.parametrize("name", SORTS)
def test_the_kernels_are_those_that_are_compiled(name):
    fn = SORTS[name]
    with trace.record() as story:
        torch.compile(fn)(X.clone())
    compiled = [ready.source for ready in story.of(trace.KernelReady)]
    shown = [
        [row["text"] for row in kernel["stages"]["run"]]
        for kernel in KernelLens(fn, X.clone(), machine=False).trace["kernels"]
        if "library" not in kernel
    ]
    assert shown == [[re.sub(r"\s+# .*", "", r) for r in s.splitlines()] for s in compiled]


def test_forward_backward_and_the_librarys_calls():
    x, w = torch.ones(8, 30, requires_grad=True), torch.ones(30, 20, requires_grad=True)
    lens = KernelLens(layer, x, w, machine=False)
    told = [(k["phase"], k["name"].split("_0")[0]) for k in lens.trace["kernels"]]
    assert told == [
        ("forward", "matmul"),
        ("forward", "numba_fused_add_mul_relu_sum"),
        ("backward", "numba_fused_add_le_mul_where"),
        ("backward", "matmul"),
        ("backward", "matmul"),
    ]
    assert lens.summary() == "2 kernels and 3 library calls"
    assert x.grad is None and w.grad is None
    call = lens.trace["kernels"][0]
    assert "BLAS" in call["library"] and kin_of(call, "graph", "matmul = x @ w") == ["matmul"]
    elsewhere = [r["text"] for r in call["stages"]["graph"] if r.get("elsewhere")]
    assert "add = matmul + 1" in elsewhere
    assert "tmp2 = relu(tmp1)" in repr(lens) and "primals" not in repr(lens)


def test_a_module_is_differentiated_by_its_parameters():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    phases = [k["phase"] for k in KernelLens(model, X, machine=False).trace["kernels"]]
    assert "backward" in phases
    assert all(p.grad is None for p in model.parameters())


def helper(x):
    return x.exp()


def test_what_another_function_computes_stands_below():
    (kernel,) = KernelLens(lambda x: helper(x) + 1, X, machine=False).trace["kernels"]
    rows = [r["text"] for r in kernel["stages"]["source"]]
    assert rows[-2:] == ["helper (test_kernel_lens.py)", "return x.exp()"]
    assert kin_of(kernel, "source", "return x.exp()") == ["load x", "exp"]


@on_x86
def test_instructions_are_kin_of_the_line_that_llvm_names():
    lens = KernelLens(block)
    (kernel,), machine = lens.trace["kernels"], lens.machines["0"]["run"]
    assert machine["same"] and machine["known"]
    (body,) = [s for s in machine["sections"] if s["body"]]
    assert body["loop"] and body["each"] == {
        "load": 2, "store": 1, "fma": 0, "other": 3, "constant": 0,
    }
    names = {kin["id"]: kin["word"] for kin in kernel["kin"]}
    told = [(row["op"], row["access"], *[names[k] for k in row["kin"]]) for row in body["rows"]]
    assert told[:5] == [
        ("move", "load", "load"), ("add", "load", "add"), ("maximum", "", "relu"),
        ("add", "", "mul"), ("move", "store", "store"),
    ]  # fmt: skip
    shown = sum(row["times"] for section in machine["sections"] for row in section["rows"])
    assert shown == machine["instructions"]
    plain = lens.machines["0"]["plain"]
    assert [s["lanes"] for s in plain["sections"] if s["body"]] == [1]


@pytest.fixture
def card():
    """A simulated one."""
    cuda.simulate()
    yield
    cuda.simulate(False)


ON_HOST = {"read by index", "gathered", "written by index"}  # their indices lie there


@pytest.mark.parametrize("name", sorted(SORTS.keys() - ON_HOST))
def test_a_cards_kernels_are_those_that_are_launched(name, card):
    fn, x = SORTS[name], X.cuda()
    with trace.record() as story:
        torch.compile(fn)(x.clone())
    lens = KernelLens(fn, x.clone())
    shown = [row["text"] for kernel in lens.trace["kernels"] if "library" not in kernel
             for row in kernel["stages"]["run"] if row["text"] and row["text"][0] != "["]
    compiled = [ready.source for ready in story.of(trace.KernelReady)]
    assert shown == [re.sub(r"\s+# .*", "", r) for s in compiled for r in s.splitlines()]


def test_a_cards_kernels_stand_below_their_launches(card):
    rows = lambda x: torch.softmax(x + 1, -1)
    lens = KernelLens(rows, torch.randn(6, 300).cuda())
    (kernel,) = lens.trace["kernels"]
    assert kernel["stages"]["run"][0]["text"] == (
        "[2, (32, 4)]  rows: a warp a row of 300: the row stays in registers")
    assert kin_of(kernel, "run", "x_r[k] = x[300*i0 + i1]") == ["load x"]
    assert kin_of(kernel, "run", "amax_acc = warp_amax(amax_acc)") == ["amax"]
    assert "NVIDIA's own" in lens.machines["0"]["run"]["none"]
    both = KernelLens(lambda x: (rows(x), x.sum(0)), torch.randn(6, 300).cuda(), machine=False)
    heads = [row["text"] for row in both.shown["stages"]["run"] if row["text"].startswith("[")]
    assert len(heads) == 2 and "sum_1" in repr(both)


def test_without_numba_the_machine_code_says_so(monkeypatch):
    from widgets import _lens_assembly

    def missing(*args):
        raise ImportError("No module named 'numba'")

    monkeypatch.setattr(_lens_assembly, "assembly_of", missing)
    assert KernelLens(block).machines["0"]["run"] == {"none": "No module named 'numba'"}


def test_of_many_kernels_those_that_are_looked_at_have_machine_code(monkeypatch):
    from widgets import kernel_lens

    monkeypatch.setattr(kernel_lens, "AT_ONCE", 1)
    x = torch.ones(8, 30, requires_grad=True)
    lens = KernelLens(layer, x, torch.ones(30, 20), kernel=1)
    assert [*lens.machines] == ["1"] and lens.machines["1"].keys() == {"run", "plain"}
    lens.kernel = 2
    assert [*lens.machines] == ["1", "2"]
    assert KernelLens(layer, x, torch.ones(30, 20), machine=False).machines == {}


def test_what_it_cannot_show():
    with pytest.raises(ValueError, match="no tensor arithmetic that is compiled"):
        KernelLens(lambda x: x, X)
    with pytest.raises(ValueError, match=r"this call has 1 kernel\(s\), numbered from 0"):
        KernelLens(block, kernel=1, machine=False)
    with pytest.raises(traitlets.TraitError):
        KernelLens(block, form="fast", machine=False)
    with pytest.raises(RuntimeError, match="must match the size"):
        KernelLens(block, torch.ones(4), torch.ones(3))


def test_the_kernel_and_the_form_may_be_set_later():
    lens = KernelLens(layer, torch.ones(8, 30), torch.ones(30, 20), machine=False)
    assert lens.shown["name"] == "matmul"
    lens.kernel, lens.form = 1, "plain"
    assert "sum_total = sum_total + tmp4" in repr(lens)
    with pytest.raises(ValueError, match="numbered from 0"):
        lens.kernel = 2
    assert lens.kernel == 1


def test_the_trace_is_plain_and_the_same_each_time():
    first, second = KernelLens(block), KernelLens(block)
    for told, again in ((first.trace, second.trace), (first.machines, second.machines)):
        assert json.loads(json.dumps(told, allow_nan=False)) == told == again


def test_the_picture_has_no_machine_code():
    lens = KernelLens(block)
    svg = ElementTree.fromstring(lens.picture())
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "mul[i0] = tmp4" in [text.strip() for text in texts] and "relu" in texts
    assert lens.picture() == KernelLens(block, machine=False).picture()
    bundle, _ = lens._repr_mimebundle_()
    assert bundle["image/svg+xml"] == lens.picture() and bundle["text/plain"] == repr(lens)


def test_the_fixture_is_up_to_date():
    stored = json.loads(lens_fixture.FILE.read_text())["traces"]
    now = lens_fixture.printed(lens_fixture.lenses(machine=False))
    assert stored == now, "run: python -m tests.widgets.lens_fixture"
