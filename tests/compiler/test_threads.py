"""Many threads, and backends that call compiled functions themselves: right answers, no waiting
for ever."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import labcore as torch
from labcore.compiler import graph_break
from labcore.compiler._dynamo.testing import CompileCounter

LOG = []


def straight(x, y):
    return (x + y).relu() * 2


def with_breaks(x, y):
    z = x + y
    for k in range(3):
        LOG.append(k)
        z = z * 2
        graph_break()
    if z.sum() > 0:
        return z
    return z - 1


def with_a_handler(x, y):
    try:
        x = x * 2
        raise KeyError(len(LOG))
    except KeyError:
        graph_break()
        return x + y


def at_once(count, work):
    """`work` in that many threads, all from one barrier on; what they gave."""
    barrier = threading.Barrier(count)

    def begin(number):
        barrier.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@pytest.mark.parametrize("function", [straight, with_breaks, with_a_handler])
def test_eight_threads_call_for_the_first_time(function):
    for _ in range(3):
        counter = CompileCounter()
        compiled = torch.compile(function, backend=counter)
        wanted = {n: function(torch.ones(n), -torch.ones(n)).tolist() for n in (2, 3)}

        def work(number, compiled=compiled, wanted=wanted):
            sizes = (2, 3, 2, 3, 3) * 10
            return all(
                compiled(torch.ones(n), -torch.ones(n)).tolist() == wanted[n] for n in sizes
            )

        before = len(LOG)
        assert at_once(8, work) == [True] * 8
        if function is with_breaks:
            assert len(LOG) - before == 8 * 50 * 3
        again = counter.frame_count
        assert work(0) and counter.frame_count == again


def within(seconds, work):
    """What `work()` gives, in a thread of its own: a test that waits for ever is to fail."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(seconds)


def test_a_backend_calls_other_compiled_functions():
    helper = torch.compile(lambda x: x + 1, backend="eager")

    def backend(gm, example_inputs):
        assert helper(example_inputs[0]).tolist() == [2.0]
        return gm.forward

    compiled = torch.compile(straight, backend=backend)
    one, two = torch.ones(1), torch.ones(1)
    assert within(30, lambda: compiled(one, two)).tolist() == [4.0]


@pytest.mark.parametrize("threads", [False, True])
def test_a_backend_calls_the_very_function_it_compiles(threads):
    calls = []

    def backend(gm, example_inputs):
        run = lambda: compiled(*example_inputs).tolist()
        calls.append(within(30, run) if threads else run())
        return gm.forward

    compiled = torch.compile(straight, backend=backend)
    one, two = torch.ones(1), torch.ones(1)
    assert within(60, lambda: compiled(one, two)).tolist() == [4.0]
    assert calls == [[4.0]]  # eagerly
    assert compiled(one, two).tolist() == [4.0] and len(calls) == 1


def test_two_backends_call_each_others_functions():
    barrier = threading.Barrier(2)

    def backend_that_calls(name):
        def backend(gm, example_inputs):
            barrier.wait(30)
            assert functions[name](*example_inputs).tolist() == [4.0]
            return gm.forward

        return backend

    functions = {
        "f": torch.compile(straight, backend=backend_that_calls("g")),
        "g": torch.compile(straight, backend=backend_that_calls("f")),
    }
    one, two = torch.ones(1), torch.ones(1)
    work = lambda number: functions["fg"[number]](one, two).tolist()
    assert within(60, lambda: at_once(2, work)) == [[4.0], [4.0]]
