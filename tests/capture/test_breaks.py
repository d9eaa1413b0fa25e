"""Where capture stops: the reason, the place, and CPython does the one instruction as if nothing
had been."""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import logging
import re
import threading
import time

import numpy as np
import pytest

import labcore as torch
from labcore.capture import REASONS, polyfills
from labcore.compiler import compile as lab_compile, disable, graph_break
from labcore.compiler.exc import Unsupported
from labcore.trace import CacheMiss, CallEnd, GraphBreak, record

from . import asserting
from .differential import check

COUNT = 0
SEEN = []


class Point:
    def __init__(self, x):
        self.x = x

    @property
    def double(self):
        return self.x * 2


class Finalized:
    def __del__(self):
        SEEN.clear()


class Dynamic:
    def __getattribute__(self, name):
        return len(name)


class Noisy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.rand(2)


@disable(reason="it talks to a database")
def lookup(x):
    return x + 1


def x4():
    return torch.tensor([1.0, -2.0, 3.0, 4.0])


def lets_go(x):
    told = Finalized()
    y = x + 1
    told = None
    return y, told


def exception(x):
    try:
        raise ValueError("in use")
    except ValueError as error:
        print(error)
    return x * 2


def new_exception(x):
    UnicodeError("made by a class of its own")
    return x * 2


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def item(x):
    return x * x.sum().item()


def printing(x):
    y = x + 1
    print("mid", end="")
    return y


def writes_global(x):
    global COUNT
    COUNT += 1
    return x


def masked_write(x):
    y = x * 2
    y[x > 0] = torch.ones(4)
    return y


def spells(x):
    text = ""
    for i in range(4):
        print(end="")
        text = "a" * i
    return x if text else x + 1


def appends(x, seen=SEEN):
    seen.append(1)
    return x + 1


def writes_method(x):
    Point.times = lambda self, k: self.x * k
    return x + 1


def appends_and_prints(x, seen=SEEN):
    seen.append(1)
    print("mid", end="")
    return x + 1


def counts_and_prints(x):
    global COUNT
    COUNT += 1
    print("", end="")
    return x


def generator(x):
    yield x + 1


def catching(x):
    try:
        raise ERROR
    except RuntimeError:
        return x


def under_inference_mode(x):
    with torch.inference_mode():
        return (x * 2).view(-1)


def with_lock(x, lock=threading.Lock()):
    with lock:
        return x * 2


def grouped(x):
    try:
        raise ExceptionGroup("two", [ValueError(1)])
    except* ValueError:
        y = x + 1
    return y


def local_class(x):
    class Inner:
        pass

    return x


def deep(x, n=200):
    return x if n == 0 else deep(x + 1, n - 1)


def endless(x, n=0):
    while n < 10**6:
        n += 1
    return x


def from_callee(x):
    return helper(x) + 1


def helper(x):
    return x * int(x.sum())


def unused_division(x):
    n = x.to(torch.int64)
    (n // n) + 1
    return x


def divides_a_parameter(x):
    return WEIGHT // 2


CASES = {
    "data-dependent-branch": [
        branch,
        lambda x: x if x.sum() else x,
        lambda x: not x.sum(),
        lambda x: x.sum() and x,
        lambda x: 1.0 in x,
        lambda x: 0 < x.sum() < 3,
        lambda x: any([x.sum() > 100]),
    ],
    "data-dependent-assert": [
        asserting.of_a_comparison,
        asserting.of_the_opposite,
        asserting.of_one_of_two,
    ],
    "tensor-to-python": [
        item,
        lambda x: x.tolist(),
        lambda x: float(x[0]),
        lambda x: f"{x.sum().item()}",
        from_callee,
        lambda x: torch.allclose(x, x),
    ],
    "tensor-as-number": [lambda x: torch.full_like(x, x[0]), lambda x: torch.cat(x.view(2, 2))],
    "data-dependent-size": [lambda x: x[x > 0], lambda x: x[x[0] > 0], masked_write],
    "side-effect-call": [printing, lambda x: (LOGGER.info("x"), x)[1]],
    "caller-frame": [
        lambda x: (dir(), x)[1],
        lambda x: (vars(), x)[1],
        lambda x: (inspect.isfunction(len), x)[1],
        lambda x: (collections.namedtuple("Pair", "a b"), x)[1],
    ],
    "unknown-call": [
        lambda x: (time.perf_counter() > 0, x)[1],
        lambda x: torch.linspace(0, 1, 4) + x,
        lambda x: ({1: x}.__sizeof__(), x)[1],
        lambda x: (np.exp(0.0), x)[1],
    ],
    "mutation": [writes_method],
    "varying-number": [spells],
    "uncounted-write": [lambda x: (x.data.mul_(1), x + 1)[1]],
    "inplace-operator": [lambda x: (WHOLE.mul_(1), PART + x)[1]],
    "random-operator": [
        lambda x: x * 0 + (torch.randint(3, (4,)) < 4),
        lambda x: (torch.rand(4), x * 0)[1],
    ],
    "disabled-call": [lambda x: lookup(x) * 2],
    "graph-break-call": [lambda x: (graph_break("here"), x + 1)[1]],
    "exception": [exception],
    "new-exception": [new_exception],
    "new-object": [lambda x: (Finalized(), x)[1]],
    "grad-mode": [under_inference_mode],
    "context-manager": [with_lock],
    "exception-caught": [catching],
    "attribute": [
        lambda x: x * Point(2).double if False else DYNAMIC.abc * x,
        lambda x: DYNAMIC.abcd + x,
    ],
    "build-class": [local_class],
    "opcode": [grouped],
    "deep-recursion": [deep],
    "too-long": [endless],
    "unused-check": [
        unused_division,
        lambda x: (x.index_select(0, (x > 9).view(-1).long()), x + 1)[1],
    ],
    "no-derivative": [divides_a_parameter],
    "unknown-method": [lambda x: (x.storage_offset(), x + 1)[1]],
    "iterator": [lambda x: x * (next(COUNTED) < 0)],
    "generator": [lambda x: x * STARTED.send(None)],
    "last-reference": [lets_go],
    "autograd-call": [lambda x: x.detach_(), lambda x: (x.grad_fn, x + 1)[1]],
    "autograd-function": [lambda x: Noisy.apply(x * WEIGHT) + 1],
    "operation": [lambda x: str([x])],
}
# what the first call met, and what the handler does
ALSO = {
    grouped: {"new-exception", "exception-caught"},
    spells: {"side-effect-call"},
    exception: {"side-effect-call"},
    lets_go: {"new-object"},
}

COUNTED, STARTED = itertools.count(), (0 for _ in itertools.count())
LOGGER = logging.getLogger("lab")
DYNAMIC, POINT = Dynamic(), Point(3)
WEIGHT = torch.ones(4, requires_grad=True)
WHOLE = torch.ones(4)
PART = WHOLE.detach().view(2, 2)[0].data[:1]
ERROR = RuntimeError("made before")
PAIRS = [(id, f) for id, functions in CASES.items() for f in functions]


@pytest.mark.parametrize(("id", "function"), PAIRS, ids=[f"{i}-{f.__name__}" for i, f in PAIRS])
def test_reason(id, function, capsys):
    report = check_with_state(function)
    assert {event.break_id for event in report.breaks} == {id} | ALSO.get(function, set())
    event = report.breaks[0]
    assert event.origin and event.origin.file in (__file__, asserting.__file__)
    assert event.origin.source
    assert event.what and event.why and event.hint
    assert "{" not in event.what + event.why + event.hint


def test_a_call_is_named_as_the_user_names_it():
    (event,) = check(lambda x: (np.exp(0.0), x)[1], x4()).breaks
    assert event.what == "call of np.exp"


def check_with_state(function):
    """Functions with effects do them once a call; the tests of values are for those without."""
    changing = (spells,)
    if function in changing or function.__name__ == "<lambda>":
        return effects(function)
    return check(function, x4())


def effects(function):
    from labcore.compiler._dynamo.testing import CompileCounter
    from labcore.trace import GraphBreak, record

    from .differential import Report, strict

    counter = CompileCounter()
    with strict(), record() as trace:
        compiled = lab_compile(function, backend=counter)
        compiled(x4())
        compiled(x4())
    return Report(counter, trace.of(GraphBreak))


def test_effects_happen_once_a_call():
    global COUNT
    COUNT = 0
    SEEN.clear()
    for function in (writes_global, appends):
        compiled = lab_compile(function, backend="eager")
        for _ in range(3):
            compiled(x4())
    assert COUNT == 3 and SEEN == [1, 1, 1]


def test_the_caret_points_at_the_breaking_expression():
    with pytest.raises(Unsupported) as caught:
        lab_compile(branch, backend="eager", fullgraph=True)(x4())
    text = str(caught.value)
    assert "branch on a tensor's value [data-dependent-branch]" in text
    assert "if x.sum() > 0:" in text and "^^^^^^^^^^^" in text
    assert "in branch" in text and "torch.where" in text
    assert isinstance(caught.value, RuntimeError)


def test_a_break_in_a_callee_names_the_callees_line():
    with pytest.raises(Unsupported) as caught:
        lab_compile(from_callee, backend="eager", fullgraph=True)(x4())
    assert "return x * int(x.sum())" in str(caught.value)


def test_fullgraph_raises_every_time_and_runs_nothing():
    SEEN.clear()
    compiled = lab_compile(appends_and_prints, backend="eager", fullgraph=True)
    for _ in range(2):
        with pytest.raises(Unsupported):
            compiled(x4())
    assert SEEN == []


def test_generator_functions_are_left_alone():
    compiled = lab_compile(generator, backend="eager")
    assert next(compiled(x4())).tolist() == [2.0, -1.0, 4.0, 5.0]


def test_a_variant_that_stops_is_guarded_like_any_other():
    def f(x, flag):
        return x.sum().item() if flag else x + 1

    from labcore.compiler._dynamo.testing import CompileCounter

    counter = CompileCounter()
    compiled = lab_compile(f, backend=counter)
    assert compiled(x4(), True) == 6.0
    assert compiled(x4(), False).tolist() == [2.0, -1.0, 4.0, 5.0]
    assert counter.frame_count == 2
    assert compiled(x4(), True) == 6.0
    assert counter.frame_count == 2


def test_a_number_that_differs_is_left_to_cpython():
    """COUNT differs at every call: the second variant does not compute with it, and serves all."""
    from labcore.compiler.compile import state_of

    compiled = lab_compile(counts_and_prints, backend="eager")
    for size in (4, 4, 5, 6, 7, 8, 9, 10, 11, 12):
        compiled(torch.ones(size))
    variants = state_of(compiled).cache.variants
    assert len(variants) == 2
    with record() as trace:
        compiled(torch.ones(20))
    assert not trace.of(CacheMiss)


def test_a_loop_too_long_to_unroll_runs_in_cpython_and_other_calls_do_not():
    def f(x, n):
        while n > 0:
            n -= 1
        return x + 1

    compiled = lab_compile(f, backend="eager")
    for n in (10**5, 1, 10**5 + 1, 1):
        compiled(x4(), n)
    with record() as trace:
        compiled(x4(), 1)
        compiled(x4(), 10**5)
    assert [e.result for e in trace.of(CallEnd)] == ["hit", "eager"]


def test_every_reason_reads_well():
    for id, reason in REASONS.items():
        assert id == id.lower() and " " not in id
        for text in (reason.why, reason.hint, reason.leave or "."):
            assert text.endswith((".", "}")), (id, text)


def test_every_reason_is_met_by_a_test():
    elsewhere = {
        "generator",
        "tensor-subclass",
        "inference-tensor",
        "skipped-frame",
        "opaque-result",
        "constant-result",
        "device-copy",
        "several-devices",
    }
    assert set(REASONS) == set(CASES) | elsewhere


class Compiled:
    pattern = re.compile("a")


def test_a_method_in_c_that_wants_its_type() -> None:
    def f(x):
        def replaced(match):
            return "b"

        return x * 2, Compiled.pattern.sub(replaced, "a-a")

    report = check(f, x4())
    assert [stop.break_id for stop in report.breaks] == ["operation"]


def in_use(make):
    def f(x):
        iterator = make()
        next(iterator)
        return x * 2, iterator

    return f


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: (x * 2, {map(abs, [1]): 1}), "a map object as a key"),
        (lambda x: (x * 2, len(zip([1]))), "len() of a zip object"),
        (in_use(lambda: itertools.accumulate([1, 2])), "an accumulate object that is in use"),
        (in_use(lambda: itertools.groupby("ab")), "a groupby object that is in use"),
        (lambda x: (x * 2, functools.cmp_to_key(max)(3)), "what cmp_to_key() gave, in use"),
    ],
)
def test_a_reason_names_what_the_user_wrote(function, what):
    compiled = lab_compile(function, backend="eager", fullgraph=True)
    with pytest.raises(Unsupported) as caught:
        compiled(x4())
    assert what in str(caught.value)
    folder = str(polyfills.__path__[0])
    assert folder not in str(caught.value)


def test_what_is_made_of_a_number_that_varies():
    def logs(x):
        for n in range(5):
            x = x * 2
            graph_break()
            SEEN.append(f"{n}")
        return x + 1

    with record() as trace:
        lab_compile(logs, backend="eager")(x4())
    stops = [stop for stop in trace.of(GraphBreak) if stop.break_id == "varying-number"]
    assert stops and "n, a value that differs from time to time, is needed" in stops[0].what
