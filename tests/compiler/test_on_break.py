"""`error_on_graph_break`: where a break is an error, and what else an error of compiling in the
middle of a function is to the function."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import compiler
from labcore.capture.strictness import strict
from labcore.compiler import error_on_graph_break, graph_break
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.compiler.exc import Unsupported

X = torch.ones(1)


def breaks(x):
    y = x + 1
    graph_break("here")
    return y * 2


@pytest.fixture(autouse=True)
def the_flag_is_as_before():
    yield
    assert not strict()


def test_in_a_block():
    def f(x):
        with error_on_graph_break(True):
            x = x + 1
            graph_break()
            return x * 2

    assert f(X).tolist() == [4.0]
    with pytest.raises(Unsupported, match=r"graph_break\(\) was called"):
        torch.compile(f, backend="eager")(X)


def test_after_a_block_it_is_none():
    def f(x):
        with error_on_graph_break(True):
            x = x + 1
        graph_break()
        return x * 2

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    assert [compiled(X).tolist() for _ in range(2)] == [[4.0]] * 2 and counter.frame_count == 2


def test_around_a_call_and_as_a_decorator():
    with error_on_graph_break(True), pytest.raises(Unsupported, match="here"):
        torch.compile(breaks, backend="eager")(X)
    assert torch.compile(breaks, backend="eager")(X).tolist() == [4.0]
    decorated = error_on_graph_break(True)(breaks)
    assert decorated.__name__ == "breaks" and decorated(X).tolist() == [4.0]
    with pytest.raises(Unsupported, match="here"):
        torch.compile(lambda x: decorated(x), backend="eager")(X)
    with pytest.raises(Unsupported, match="here"):
        error_on_graph_break(True)(torch.compile(breaks, backend="eager"))(X)


def test_fullgraph_outranks_it():
    def f(x):
        with error_on_graph_break(False):
            return breaks(x)

    with pytest.raises(Unsupported):
        torch.compile(f, backend="eager", fullgraph=True)(X)
    assert torch._dynamo.error_on_graph_break is error_on_graph_break


def test_handlers_around_the_place_see_the_error():
    log = []

    def f(x):
        try:
            with error_on_graph_break(True):
                x = breaks(x)
        except RuntimeError as error:
            log.append(type(error).__name__)
            return x - 1
        finally:
            log.append("finally")

    assert torch.compile(f, backend="eager")(X).tolist() == [0.0]
    assert log == ["Unsupported", "finally"]


def test_errors_of_compiling_have_the_users_line():
    def f(x):
        try:
            y = x + 1
            compiler.set_stance("fail_on_recompile")
            return y * 2
        finally:
            compiler.set_stance("default")

    with pytest.raises(RuntimeError, match="Detected recompile") as caught:
        torch.compile(f, backend="eager")(X)
    assert any(entry.name == "f" for entry in caught.traceback)
    assert torch.compile(lambda x: x + 1, backend="eager")(X).tolist() == [2.0]


def test_a_block_within_a_block_may_allow_breaks_again():
    def allowed(x):
        with error_on_graph_break(True):
            y = x + 1
            with error_on_graph_break(False):
                print("allowed")
                y = y * 2
            return y + 1

    def forbidden_again(x):
        with error_on_graph_break(True):
            with error_on_graph_break(False):
                y = x * 2
            print("forbidden")
            return y

    for _ in range(2):
        assert torch.compile(allowed, backend="eager")(X).tolist() == allowed(X).tolist()
    with pytest.raises(Unsupported, match="print"):
        torch.compile(forbidden_again, backend="eager")(X)
