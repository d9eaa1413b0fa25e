"""`make bench` on a few numbers: every workload runs, everyone computes the same, tables stand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from labcore.measure import bench, race, startup, worker
from labcore.measure.comparison import COLUMNS, HEADS, Cell, first_call_rows, markdown, row, table
from labcore.measure.race import LAB, Raced
from labcore.measure.words import numpy_words
from labcore.measure.workloads import Function, Training, Update, workloads

SMALL = workloads(small=True)


def close(found, wanted):
    return len(found) == len(wanted) and all(
        np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(found, wanted)
    )


@pytest.mark.parametrize("name", SMALL)
def test_all_candidates_of_the_lab_compute_the_same(name) -> None:
    found = worker.labcore_calls(name, SMALL[name].work)
    if _steps_on(SMALL[name].work):
        found.calls["labcore eager"]()  # the compiled one has made a step already
    results = {
        label: worker.plain(call()) for label, call in found.calls.items() if label != "stream"
    }
    eager = results["labcore eager"]
    assert {"labcore eager", LAB} <= results.keys()
    for label, result in results.items():
        assert close(result, eager), label
    if isinstance(SMALL[name].work, Function):
        assert found.facts["kernels"] >= 1 and found.facts["bytes"] > 0


def _steps_on(work) -> bool:
    """Does each call begin where the last one ended?"""
    return isinstance(work, Update) or (isinstance(work, Training) and work.optimizer)


def test_what_is_asked_is_the_table_of_workloads() -> None:
    full = workloads()
    assert list(full) == list(SMALL) and len(full) == 21
    assert full["relu(x + b) * 2, 16M"].work.shapes == ((1 << 24,), (1 << 24,))
    assert full["relu(x + b) * 2, 262,144"].stream == 0.9
    assert all(0 < bar <= 1 for each in full.values() for bar in each.bars.values())
    assert all(each.bars.keys() <= {*COLUMNS} for each in full.values())


def test_numpy_has_words_for_the_functions() -> None:
    have = {name for name in SMALL if worker.numpy_calls(name, SMALL[name].work)}
    functions = {name for name, each in SMALL.items() if type(each.work) is Function}
    assert functions - have == {"gelu erf, 1M"}
    with pytest.raises(NotImplementedError):
        numpy_words().nn.functional.gelu(np.ones(3))


def test_the_processes_take_turns_and_answer() -> None:
    workers = [race.Worker(race.sys.executable, "labcore", 1)]
    found = race.race(workers, "relu(x + b) * 2, 4", rounds=2, small=True)
    assert {LAB, "labcore eager", "numpy", "stream"} == found.seconds.keys()
    assert found.ratios[LAB] == 1 and all(t > 0 for t in found.seconds.values())
    assert found.facts == {"kernels": 1, "bytes": 48}
    with pytest.raises(RuntimeError, match="the worker of labcore ended at 'no such workload'"):
        workers[0].ask("no such workload")
    workers[0].close()


def test_threads_are_said_to_everyone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "old")
    told = race.environment(2)
    assert "OPENBLAS_CORETYPE" not in told
    assert told["OMP_NUM_THREADS"] == told["OPENBLAS_NUM_THREADS"] == "2"
    assert "multi_thread_eigen=true intra_op_parallelism_threads=2" in told["XLA_FLAGS"]


def test_a_bar_that_is_missed_is_marked() -> None:
    assert str(Cell(0.4, 0.47)) == "0.40 (< 0.47)" and not Cell(0.4, 0.47).missed
    assert str(Cell(0.5, 0.47)) == "0.50 (< 0.47) !"
    assert str(Cell(0.8, 0.9, at_least=True)) == "0.80 (> 0.9) !"
    assert str(Cell(0.8)) == "0.80" and str(Cell(None, 0.47)) == ""


def test_a_row_has_a_cell_for_each_peer() -> None:
    name = "relu(x + b) * 2, 262,144"
    ratios = {LAB: 1.0, "torch compiled": 0.4, "jax": 1.2, "stream": 1.25}
    made = row(name, SMALL[name], Raced({LAB: 2e-4}, ratios, {}))
    assert made == [
        name, "200.00 us", "0.40 (< 0.47)", "", "1.20 (< 1) !", "", "", "0.80 (> 0.9) !"
    ]
    assert len(made) == len(HEADS) and table([made], "title").row_count == 1
    assert markdown([made]).splitlines()[2].startswith(f"| {name} | 200.00 us |")


def test_first_calls_have_limits_of_their_own() -> None:
    rows = first_call_rows(
        {"cold": 1.2, "from disk": 0.6}, {"cold": 20.0, "from disk": 5.0}
    )
    assert rows[0][1:3] == ["1.20 s (< 1.5 s)", "0.06 (< 0.1)"]
    assert rows[1][1:3] == ["600.00 ms (< 0.5 s) !", "0.12"]
    assert all(len(each) == len(HEADS) for each in rows)
    assert first_call_rows({"cold": 1.2, "from disk": 0.4}, {})[0][2] == ""


def test_processes_for_first_calls_compute_the_right_thing(tmp_path) -> None:
    assert startup.run(startup.FIRST_CALL.format(framework="labcore"), str(tmp_path)) > 0
    assert list(tmp_path.glob("*/output_code.py"))
    assert startup.peers_first_calls(tmp_path / "no such python") == {}


def test_the_whole_command(tmp_path, capsys) -> None:
    file = tmp_path / "figures.json"
    bench.main(["--small", "--alone", "--rounds", "1", "--only", "sum over|exp", "--markdown",
                "--json", str(file)])
    said = capsys.readouterr().out
    assert "sum over rows" in said and "exp, 1M" in said and "softmax" not in said
    figures = json.loads(file.read_text())
    assert list(figures["threads"]["1"]) == ["exp, 1M", "sum over rows", "sum over columns"]
    assert set(figures["threads"]["1"]["exp, 1M"]) == {"seconds", "ratios", "facts", "bars"}
    assert figures["machine"] and figures["date"]
