"""Launchers: what they take, how long their code lives, and threads."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from labcore.codegen.build import compile_source
from labcore.runtime.loader import LoadError, load

SOURCE = """
def double(x: "float32*", out: "float32*"):
    for i0 in range(4):
        out[i0] = x[i0] + x[i0]


def total(x: "float64*", out: "float64*"):
    acc = float64(0.0)
    for i0 in range(200000):
        for i1 in range(400):
            acc = acc + x[i1]
    out[0] = acc
"""


@pytest.fixture(scope="module")
def code():
    return compile_source(SOURCE, "<test>")


def loaded(code):
    return load(code.data, code.kernels, code.externals)


def test_a_launcher_runs_its_kernel(code):
    double = loaded(code)["double"]
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    assert double(x, out) == 0
    assert out.tolist() == [0, 2, 4, 6]
    assert double.__name__ == "double"


def test_a_launcher_starts_at_the_first_element(code):
    double = loaded(code)["double"]
    x, out = np.arange(10, dtype=np.float32), np.zeros(4, np.float32)
    double(x[3:], out)
    assert out.tolist() == [6, 8, 10, 12]


def test_a_launcher_takes_derived_arrays(code):
    class Derived(np.ndarray):
        pass

    double = loaded(code)["double"]
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    double(x.view(Derived), out)
    assert out.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "wrong", [(), (1,), (1, 2), (None, None), ("x", b"y"), ([1.0], [2.0]), (object(), object())]
)
def test_what_is_no_array_is_refused(code, wrong):
    double = loaded(code)["double"]
    with pytest.raises(TypeError):
        double(*wrong)


def test_too_few_or_too_many_arrays_are_refused(code):
    double = loaded(code)["double"]
    x = np.zeros(4, np.float32)
    for count in (0, 1, 3):
        with pytest.raises(TypeError):
            double(*[x] * count)
    with pytest.raises(TypeError):
        double(x, out=x)


def test_code_lives_as_long_as_a_launcher_does(code):
    launchers = loaded(code)
    double = launchers.pop("double")
    held = weakref.ref(double.__self__)
    del launchers
    gc.collect()
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    double(x, out)
    assert out.tolist() == [2, 2, 2, 2]
    del double
    assert held() is None


def test_launchers_leave_no_references_behind(code):
    double = loaded(code)["double"]
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(100):
        double(x, out)
        with pytest.raises(TypeError):
            double(x, 1)
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before


def test_a_long_kernel_lets_other_threads_run(code):
    """This thread counts while the other one is in the kernel: the lock was not held."""
    total = loaded(code)["total"]
    x, ticks = np.ones(400), 0

    def work():
        total(x, np.zeros(1))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks += 1
        time.sleep(0)
    assert ticks > 100


def test_many_threads_load_and_launch(code):
    wrong = []

    def work():
        for _ in range(5):
            double = loaded(code)["double"]
            x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
            for _ in range(200):
                double(x, out)
            if out.tolist() != [0, 2, 4, 6]:
                wrong.append(out)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_missing_function_or_kernel_is_an_error_not_a_crash(code):
    with pytest.raises(LoadError, match="no function no_such_function"):
        load(code.data, code.kernels, ["no_such_function"])
    with pytest.raises(LoadError, match="no kernel 'triple'"):
        load(code.data, ["triple"], [])
