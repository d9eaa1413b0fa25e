"""The bar for whoever waits: when it comes, what it says, who does not see it."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from labcore.codegen import progress
from labcore.codegen.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when the test says so."""
    found = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress, "_wait", progress._Wait())
    monkeypatch.setattr(progress.time, "perf_counter", lambda: found.now)
    monkeypatch.delenv("LAB_PROGRESS", raising=False)
    return found


def compile_three(clock, seconds):
    with Progress(3) as bar:
        for number, name in enumerate(("add_0", "sum_1", "mul_2")):
            bar.at(number, name)
            clock.now += seconds


def test_a_terminal_is_told_after_a_second(clock, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    compile_three(clock, 0.7)
    shown = stream.getvalue()
    assert "compiling kernel 3 of 3: mul_2" in shown and "add_0" not in shown
    assert shown.rsplit("\r", 1)[1].strip() == ""  # gone at the end


def test_compiles_that_follow_one_another_are_one_wait(clock, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    for pause in (0.4, 0.4, 5.0):
        compile_three(clock, 0.2)
        clock.now += pause
    assert stream.getvalue().count("kernel 1 of 3: add_0") == 1  # the third, from 2.0 s on
    clock.now += 5
    before = len(stream.getvalue())
    compile_three(clock, 0.2)
    assert len(stream.getvalue()) == before


def test_what_is_quick_shows_nothing(clock, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    compile_three(clock, 0.1)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("reason", ["no terminal", "LAB_PROGRESS=0"])
def test_nobody_looks(clock, monkeypatch, reason):
    stream = io.StringIO() if reason == "no terminal" else Terminal()
    if reason != "no terminal":
        monkeypatch.setenv("LAB_PROGRESS", "0")
    monkeypatch.setattr(sys, "stderr", stream)
    compile_three(clock, 2)
    assert stream.getvalue() == ""


def notebook(monkeypatch, asked_for_input, cell=None):
    """A kernel that runs the cell of this number; `display` and its updates are noted."""
    shown = []
    handle = SimpleNamespace(update=lambda page: shown.append(page.data))

    def display(page, display_id):
        shown.append("a place")
        return handle

    shell = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=asked_for_input))
    shell.ends = []
    if cell:
        shell.execution_count = cell
        shell.events = SimpleNamespace(
            register=lambda name, end: shell.ends.append(end),
            unregister=lambda name, end: shell.ends.remove(end),
        )
    monkeypatch.setattr(progress._Notebook, "_here", None)
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    html = lambda text: SimpleNamespace(data=text)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(
        sys.modules, "IPython.display", SimpleNamespace(HTML=html, display=display)
    )
    return shown, shell


def test_a_notebook_has_a_bar_that_goes(clock, monkeypatch):
    shown, _ = notebook(monkeypatch, asked_for_input=True)
    compile_three(clock, 0.7)
    assert shown[0] == "a place" and shown[-1] == ""
    assert '<progress value="2" max="3"' in shown[1]
    assert "<code>compiling kernel 3 of 3: mul_2</code>" in shown[1]


def test_a_cell_has_one_place_for_all_that_it_compiles(clock, monkeypatch):
    shown, shell = notebook(monkeypatch, asked_for_input=True, cell=3)
    compile_three(clock, 0.7)
    assert shown[-1] == "<code>compiled 3 kernels</code>"
    compile_three(clock, 0.7)
    assert shown[-1] == "<code>compiled 6 kernels</code>"
    (end,) = shell.ends
    end("the result of the cell")
    assert shown.count("a place") == 1 and shown[-1] == "" and not shell.ends
    shell.execution_count = 4
    compile_three(clock, 0.7)
    assert shown.count("a place") == 2 and len(shell.ends) == 1


def test_a_notebook_that_a_program_runs_has_none(clock, monkeypatch):
    shown, _ = notebook(monkeypatch, asked_for_input=False)
    compile_three(clock, 2)
    assert shown == []
