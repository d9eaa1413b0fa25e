"""One loop on several threads: each turn once, whoever calls, and what happens when it fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from labcore.codegen.build import compile_source
from labcore.runtime.loader import load
from labcore.runtime.threads import LEAST
from labcore.tensor import get_num_threads, set_num_threads

SOURCE = f"""
def count(hits: "int64*", turns: "int64"):
    for i0 in prange(turns):
        hits[i0] = hits[i0] + int64(1)


def rows(x: "float32*", out: "float32*"):
    for i0 in prange(256):
        acc = float32(0.0)
        for i1 in range({LEAST}):
            acc = acc + x[i1]
        out[i0] = acc


def take(index: "int64*", out: "int64*", turns: "int64"):
    for i0 in prange(turns):
        check_index(index[i0], 10)
        out[i0] = index[i0]
"""
SIZES = (0, 1, 63, 64, 65, 2 * LEAST - 1, 2 * LEAST, 2 * LEAST + 1, 10 * LEAST + 7)


@pytest.fixture(scope="module")
def kernels():
    code = compile_source(SOURCE, "<test>")
    return load(code.data, code.kernels, code.externals)


@pytest.fixture(params=(1, 2, 4))
def threads(request) -> Iterator[int]:
    before = get_num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


@pytest.fixture
def four() -> Iterator[None]:
    before = get_num_threads()
    set_num_threads(4)
    yield
    set_num_threads(before)


def in_threads(work, count: int) -> list:
    """Run `work(k)` in Python threads of its own; what each returned or raised."""
    found: list = [None] * count

    def run(k: int) -> None:
        try:
            found[k] = work(k)
        except Exception as error:
            found[k] = error

    started = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return found


@pytest.mark.parametrize("turns", SIZES)
def test_each_turn_runs_once(kernels, threads, turns):
    hits = np.zeros(turns + 100, np.int64)
    for _ in range(3):
        kernels["count"](hits, turns)
    assert (hits[:turns] == 3).all() and not hits[turns:].any()


def test_rows_are_the_same_for_any_number_of_threads(kernels, threads):
    x, out = np.random.default_rng(0).random(LEAST, np.float32), np.zeros(256, np.float32)
    kernels["rows"](x, out)
    assert out[0] > 0 and (out == out[0]).all()


def test_several_python_threads_call_at_once(kernels, four):
    def work(k: int) -> bool:
        hits = np.zeros(8 * LEAST, np.int64)
        for _ in range(20):
            kernels["count"](hits, hits.size)
        return bool((hits == 20).all())

    assert in_threads(work, 8) == [True] * 8


def test_an_index_that_does_not_exist_raises_in_the_caller(kernels, four):
    index, out = np.zeros(8 * LEAST, np.int64), np.zeros(8 * LEAST, np.int64)
    for place in (0, 5 * LEAST, index.size - 1):
        index[place] = 10
        with pytest.raises(IndexError, match="out of range"):
            kernels["take"](index, out, index.size)
        index[place] = 9
        kernels["take"](index, out, index.size)
        assert out[place] == 9


def test_callers_do_not_see_each_others_errors(kernels, four):
    def work(k: int) -> int:
        index, out = np.full(8 * LEAST, 9 + k % 2), np.zeros(8 * LEAST, np.int64)
        raised = 0
        for _ in range(20):
            try:
                kernels["take"](index, out, index.size)
            except IndexError:
                raised += 1
        return raised

    assert in_threads(work, 6) == [0, 20] * 3


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_workers_come_when_they_are_needed_and_stay_few():
    program = f"""
import os, numpy as np
from tests.runtime.test_threads import SOURCE, compile_source, load, set_num_threads
set_num_threads(8)  # BLAS has its own
code = compile_source(SOURCE, "<test>")
count = load(code.data, code.kernels, code.externals)["count"]
hits = np.zeros(16 * {LEAST}, np.int64)
def there(threads, turns):
    set_num_threads(threads)
    count(hits, turns)
    return len(os.listdir("/proc/self/task"))
first = len(os.listdir("/proc/self/task"))
print([there(*call) - first for call in [
    (8, 2 * {LEAST} - 1), (1, hits.size), (3, hits.size), (8, 2 * {LEAST}), (3, hits.size),
    (5, hits.size), (1, hits.size)]])
"""
    assert _python(program) == "[0, 0, 2, 2, 2, 4, 4]"


def test_a_forked_child_has_workers_of_its_own():
    """The parent forks while other threads are in a kernel: locks may be held at that moment."""
    program = f"""
import os, threading, time, numpy as np
from tests.runtime.test_threads import SOURCE, compile_source, load, set_num_threads
set_num_threads(3)
code = compile_source(SOURCE, "<test>")
count = load(code.data, code.kernels, code.externals)["count"]
def right():
    hits = np.zeros(8 * {LEAST}, np.int64)
    for _ in range(10):
        count(hits, hits.size)
    return bool((hits == 10).all())
stop = False
def work():
    while not stop:
        assert right()
others = [threading.Thread(target=work) for _ in range(2)]
for t in others: t.start()
codes = []
for _ in range(5):
    child = os.fork()
    if not child:
        os._exit(0 if right() and len(os.listdir("/proc/self/task")) == 3 else 1)
    codes.append(os.waitpid(child, 0)[1])
stop = True
for t in others: t.join()
print(codes, right())
"""
    assert _python(program) == "[0, 0, 0, 0, 0] True"


@pytest.mark.parametrize(("given", "wanted"), [("3", "3"), ("", "n"), ("many", "n"), ("0", "n")])
def test_how_many_threads_there_are_at_first(given, wanted):
    program = "import labcore, os; print(labcore.get_num_threads())"
    found = _python(program, OMP_NUM_THREADS=given)
    assert found == (str(len(os.sched_getaffinity(0))) if wanted == "n" else wanted)


def _python(program: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                          text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
