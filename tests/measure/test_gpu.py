"""The rows of `make bench-gpu`: what they compute, how they are judged, and no card."""

from __future__ import annotations

import numpy as np
import pytest

import labcore as torch
from labcore.measure import gpu, gpu_host
from labcore.runtime import driver
from labcore.tensor import from_numpy
from labcore.tensor.cuda import install


@pytest.mark.parametrize("name", gpu.ROWS)
def test_a_row_compiled_is_the_row(name):
    row = gpu.ROWS[name]
    rng = np.random.default_rng(0)
    lengths = sorted({n for shape in row.shapes for n in shape})  # equal ones stay equal
    small = [tuple(6 + lengths.index(n) if n > 1 else 1 for n in s) for s in row.shapes]
    dtype = getattr(torch, row.dtype)
    given = [from_numpy(rng.standard_normal(s).astype(np.float32)).to(dtype) for s in small]
    want = gpu.listed(row.function(torch, *given))
    found = gpu.listed(torch.compile(lambda *t: row.function(torch, *t))(*given))
    torch.testing.assert_close(found, want, rtol=1e-4, atol=1e-4)


def test_ten_kernels_do_not_fuse():
    torch.cuda.simulate()
    with torch.cuda.record() as launches:
        torch.compile(lambda x: gpu_host.region(torch, x))(torch.ones(4, 40).cuda())
    torch.cuda.simulate(False)
    assert len(launches) >= 2 * gpu_host.PAIRS


def test_warm_calls_are_timed_by_what_is_called_and_how(monkeypatch):
    monkeypatch.setattr(gpu_host, "CALLS", 1)
    monkeypatch.setattr(gpu_host, "ROUNDS", 1)
    monkeypatch.setattr(gpu_host, "PAIRS", 1)
    small = {name: (function, tuple((4,) * len(shape) for shape in shapes))
             for name, (function, shapes) in gpu_host.WORK.items()}
    monkeypatch.setattr(gpu_host, "WORK", small)
    torch.cuda.simulate(driver=True)
    try:
        found = gpu_host.warm_calls(torch)
    finally:
        torch.cuda.simulate(False)
    assert list(found) == [f"{what}, {mode}" for what in gpu_host.WORK for mode in gpu_host.MODES]
    assert all(us > 0 for us in found.values())


def test_a_row_is_judged_by_both_figures():
    figures = {"us": 1.0, "of copy": 0.93, "to torch.compile": 0.79, "torch eager us": 2.0,
               "error": 1e-7}
    table = lambda more: gpu.table_of({"softmax 16384x4096": {**figures, **more}}, "")
    cells = lambda **more: [list(column.cells)[0] for column in table(more).columns]
    assert cells()[-1] == "holds" and cells()[2:6] == ["93%", "92%", "0.79", "0.80"]
    assert cells(**{"of copy": 0.91})[-1] == "does not hold" == cells(
        **{"to torch.compile": 0.82})[-1]


def test_what_max_autotune_takes_stands_beside():
    figures = {"us": 1.0, "of copy": 0.93, "to torch.compile": 1.3, "torch eager us": 2.0,
               "error": 1e-7, "tuned us": 0.9, "torch tuned us": 1.2, "to torch tuned": 0.75}
    table = gpu.table_of({"softmax 16384x4096": figures}, "")
    cells = {column.header: list(column.cells)[0] for column in table.columns}
    assert (cells["tuned"], cells["to torch tuned"]) == ("0.9", "0.75")
    assert cells[""] == "does not hold"  # of the form that sizes choose


def test_without_a_card(monkeypatch):
    install(None, None)
    monkeypatch.setattr(driver, "why_not", lambda: "there is none")
    monkeypatch.setattr(torch.cuda, "_silicon", None)
    with pytest.raises(SystemExit, match="bench-gpu needs a card: there is none"):
        gpu.main(["--options", '{"online": false}'])
    assert gpu.chosen(["softmax", "full"])[-1] == "full sum 2^28"
