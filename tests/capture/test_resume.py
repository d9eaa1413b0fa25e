"""What follows a break: what the graphs output, and that nothing else shows. How many there are is
tests/compiler/test_counts.py."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler import disable
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.compile import state_of
from labcore.compiler.exc import Unsupported
from labcore.trace import Execute, GraphBreak, GraphCaptured, record

LOG = []


@torch.compiler.disable
def log(value):
    """A break."""
    LOG.append(value)


@disable
def observe(y):
    print("observed")
    return y


def with_boundary(x):
    y = x + 1
    y = observe(y)
    return y.relu() * 2


def loop(x, n):
    for i in range(n):
        x = x * 0.5 + 1
        log(i)
        x = x.relu() + 1
    return x


def check(i):
    if i % 3 == 1:
        log("bad")
        raise ValueError("one of three")


def callee(x, i):
    x = x + 1
    log("in callee")
    return x * 2


def nested(x):
    y = x * 3
    y = callee(y, 0)
    return y + 4


def temporaries(x):
    a = x + 1
    b = a * 2
    c = b.relu()
    log("mid")
    return c * x


def one():
    return torch.tensor([1.0])


def test_a_call_of_a_disabled_function_in_the_middle(capsys):
    told = compiler.explain(with_boundary)(torch.tensor([-3.0, -1.0, 1.0, 2.0]))
    assert capsys.readouterr().out == "observed\n"
    assert (told.graph_count, told.graph_break_count) == (2, 1)
    compiled = torch.compile(with_boundary, backend="inductor")
    for _ in range(2):
        assert compiled(torch.tensor([-3.0, -1.0, 1.0, 2.0])).tolist() == [0.0, 0.0, 4.0, 6.0]
    assert capsys.readouterr().out == "observed\n" * 2
    with pytest.raises(Unsupported) as caught:
        torch.compile(with_boundary, fullgraph=True)(torch.ones(4))
    assert "observe" in str(caught.value) and "y = observe(y)" in str(caught.value)
    assert capsys.readouterr().out == ""


def test_dead_temporaries_are_no_outputs():
    counter = CompileCounter()
    torch.compile(temporaries, backend=counter)(one())
    (output,) = [n for n in counter.graphs[0].graph.nodes if n.op == "output"]
    assert [n.name for n in output.args[0]] == ["relu"]


def test_lists_made_before_a_break_grow_in_the_regions_after_it():
    def f(x, given):
        parts = []
        for i in range(50):
            x = x + 1
            log(i)
            y = x * 2
            parts.append(y)
            given.append(y)
        return parts

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    given = []
    parts = compiled(one(), given)
    assert [p.tolist() for p in parts] == [[2.0 * n + 4] for n in range(50)]
    assert all(a is b for a, b in zip(parts, given)) and len(given) == 50
    assert sum(len(p.cache.variants) for p in state_of(compiled).points.values()) == 2


def test_one_list_given_twice_is_another_variant():
    def f(x, a, b):
        a.append(x)
        return x * len(b)

    compiled = torch.compile(f, backend="eager")
    same = []
    for a, b, expected in (([], [], 0.0), ([], [1, 2], 2.0), (same, same, 1.0), ([], [], 0.0)):
        assert compiled(one(), a, b).tolist() == [expected] and len(a) == 1


def test_events_tell_every_region():
    compiler.reset()
    compiled = torch.compile(loop, backend="eager")
    with record() as trace:
        compiled(one(), 3)
    assert [e.compile_id for e in trace.of(GraphCaptured)] == ["0/0", "1/0", "1/1"]
    assert [e.compile_id for e in trace.of(Execute)] == ["0/0", "1/0", "1/0", "1/1"]
    assert len(trace.of(GraphBreak)) == 1
    titles = [p.title for p in state_of(compiled).points.values()]
    assert titles == [f"loop from line {loop.__code__.co_firstlineno + 3}"]


def test_what_fits_no_region_any_more_runs_in_cpython():
    def grow(x, n):
        for _ in range(n):
            x = torch.cat([x, x[:1]])
            log("round")
        return x

    counter = CompileCounter()
    compiled = torch.compile(grow, backend=counter, dynamic=False)
    with pytest.warns(RuntimeWarning, match=r"in the region grow from .*, 8 variants") as caught:
        assert compiled(one(), 20).shape == (21,)
    assert counter.frame_count == 9 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(one(), 20).shape == (21,)


def test_tracebacks_are_eagers():
    def rethrow(x):
        try:
            x = x + 1
            check(1)
        except ValueError:
            log(str(sys.exc_info()[1]))
            raise

    def entries(function):
        with pytest.raises(ValueError, match="one of three") as caught:
            function(one())
        found = traceback.extract_tb(caught.value.__traceback__)
        users = [e for e in found if e.filename == __file__ and e.name != "entries"]
        return [(e.name, e.lineno, e.colno, e.end_colno) for e in users], caught.value.__context__

    assert entries(torch.compile(rethrow, backend="eager")) == entries(rethrow)


def test_the_stopped_instruction_sees_its_own_frame():
    def looks_around(x):
        x = x + 1
        secret = 41
        return x * (locals()["secret"] + 1), globals()["check"], sorted(locals())

    compiled = torch.compile(looks_around, backend="eager")
    value, function, names = compiled(one())
    assert value.tolist() == [84.0] and function is check and names == ["secret", "x"]


def caller_name():
    return sys._getframe(1).f_code.co_name


def test_a_function_that_looks_at_its_caller_finds_it():
    def f(x):
        return (x + 1) * len(caller_name())

    assert torch.compile(f, backend="eager")(one()).tolist() == [2.0]


def test_logging_tells_once_and_in_order_from_where_it_was_called(caplog):
    def f(x):
        logging.getLogger("lab").warning("first %d", 1)
        x = x + 1
        logging.warning("second")
        return x * 2

    compiled = torch.compile(f, backend="eager")
    for _ in range(2):
        caplog.clear()
        assert compiled(one()).tolist() == [4.0]
        told = [(r.getMessage(), r.funcName, r.pathname, r.lineno) for r in caplog.records]
        line = f.__code__.co_firstlineno
        expected = [("first 1", "f", __file__, line + 1), ("second", "f", __file__, line + 3)]
        assert told == expected


def test_a_gradient_flows_through_a_break():
    def f(x, w):
        y = x * w
        log("mid")
        return (y * y).sum()

    for backend in ("eager", "inductor"):
        x, w = one(), torch.tensor([3.0], requires_grad=True)
        torch.compile(f, backend=backend)(x, w).backward()
        assert w.grad.tolist() == [6.0]


def test_threads():
    counter = CompileCounter()
    compiled = torch.compile(nested, backend=counter)
    barrier, results = threading.Barrier(8), []

    def work():
        barrier.wait()
        for _ in range(20):
            results.append(compiled(one()).tolist() == [12.0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160 and counter.frame_count == 2


def test_a_method_bound_before_a_break_is_called_within_the_region_behind_it():
    def f(x, rounds):
        norms = []
        for _ in range(rounds):
            x = (x * 0.5).relu()
            norms.append(x.sum().item())  # append is on the stack while item() runs
        return norms

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    with record() as events:
        assert compiled(one(), 3) == f(one(), 3) and compiled(one(), 20) == f(one(), 20)
    assert counter.frame_count == 1
    assert [stop.break_id for stop in events.of(GraphBreak)] == ["tensor-to-python"]


def test_a_bound_method_is_known_by_its_owner_and_its_name():
    def f(x, method):
        print(end="")
        return x * method("b")

    compiled = torch.compile(f, backend="eager")
    for method in ("abb".count, "abc".count, "abc".index, "cab".index):
        assert compiled(one(), method).tolist() == f(one(), method).tolist()


class Base:
    def name(self):
        return "base"


class Derived(Base):
    def name(self):
        return super().__class__.__name__


def test_super_finds_its_object_behind_a_break():
    def f(x):
        return Derived().name(), x + 1

    compiled = torch.compile(f, backend="eager")
    for _ in range(2):
        name, result = compiled(one())
        assert name == "super" and result.tolist() == (one() + 1).tolist()


def test_arguments_that_only_cpython_looks_at_are_not_guarded():
    def f(x, n):
        for i in range(n):
            x = x + 1
            log(i)
        return x

    compiled = torch.compile(f, backend="eager")
    compiled(one(), 6)
    (behind,) = state_of(compiled).points.values()
    assert len(behind.cache.variants) == 2  # another round, and the end


def test_a_method_bound_by_a_global_name_is_called_within_the_region():
    counter = CompileCounter()
    compiled = torch.compile(tells, backend=counter, fullgraph=True)
    LOG.clear()
    assert compiled(one()).tolist() == [4.0] and compiled(one()).tolist() == [4.0]
    assert LOG == ["told"] * 2 and counter.frame_count == 1


tell = LOG.append


def tells(x):
    x = x + 1
    tell("told")
    return x * 2
