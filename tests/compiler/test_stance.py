"""Stances: what is compiled under each, and that the answer is the same; counts are PyTorch's."""

from __future__ import annotations

import pytest

import labcore as torch
from labcore import compiler
from labcore.compiler._dynamo.testing import CompileCounter
from labcore.trace import CallEnd, record


def plain(x):
    return x * 2 + 1


def counts(sizes, stance, before=()):
    """The number of graphs after each call under a stance, some calls made without it before."""
    counter = CompileCounter()
    compiled = torch.compile(plain, backend=counter)
    for n in before:
        compiled(torch.ones(n))
    found = []
    with compiler.set_stance(stance):
        for n in sizes:
            assert compiled(torch.ones(n)).tolist() == [3.0] * n
            found.append(counter.frame_count)
    return found


def test_counts():
    assert counts([2, 2, 3], "default") == [1, 1, 2]
    assert counts([2, 3], "force_eager") == [0, 0]
    assert counts([2, 3], "force_eager", before=[2]) == [1, 1]
    assert counts([2, 3], "eager_on_recompile") == [0, 0]
    assert counts([2, 3], "eager_on_recompile", before=[2]) == [1, 1]
    assert counts([2, 2, 3, 4, 5], "eager_then_compile") == [0, 1, 2, 2, 2]
    assert counts([2, 2], "fail_on_recompile", before=[2]) == [1, 1]


def test_variants_are_used_where_a_stance_allows_it():
    counter = CompileCounter()
    compiled = torch.compile(plain, backend=counter)
    compiled(torch.ones(2))
    for stance, result in [("eager_on_recompile", "hit"), ("fail_on_recompile", "hit")]:
        with compiler.set_stance(stance), record() as trace:
            compiled(torch.ones(2))
        assert [e.result for e in trace.of(CallEnd)] == [result]


def test_fail_on_recompile_tells_every_variants_guard():
    compiled = torch.compile(plain, backend="eager", dynamic=False)
    compiler.reset()
    compiled(torch.ones(2)), compiled(torch.ones(3))
    with compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError) as caught:
        compiled(torch.ones(4))
    line = plain.__code__.co_firstlineno
    place = f"return x * 2 + 1 (test_stance.py:{line + 1}, in plain)"
    assert str(caught.value) == (
        "Detected recompile when torch.compile stance is 'fail_on_recompile'. "
        f"filename: {__file__!r}, function name: 'plain', line number: {line}\n"
        "    triggered by the following guard failure(s):\n"
        f"    - 0/1: tensor 'x' size mismatch at index 0. expected 3, actual 4  # {place}\n"
        f"    - 0/0: tensor 'x' size mismatch at index 0. expected 2, actual 4  # {place}"
    )
    assert compiled(torch.ones(4)).tolist() == [3.0] * 4
    with compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError) as caught:
        torch.compile(plain, backend="eager")(torch.ones(4))
    assert str(caught.value).endswith(f"line number: {line}")


@pytest.mark.parametrize("stance", ["eager_on_recompile", "force_eager", "default"])
def test_a_region_in_the_middle(stance):
    """A stance taken inside of the function holds for the regions after it."""
    log = []

    def f(x):
        y = x + 1
        compiler.set_stance(stance)
        log.append("told")
        return y * 2

    counter = CompileCounter()
    compiled = torch.compile(f, backend=counter)
    try:
        assert compiled(torch.ones(1)).tolist() == [4.0]
    finally:
        compiler.set_stance("default")
    assert log == ["told"] and counter.frame_count == (1 if stance == "eager_on_recompile" else 2)


def test_call_context_and_decorator():
    counter = CompileCounter()
    compiled = torch.compile(plain, backend=counter)

    @compiler.set_stance("force_eager")
    def run(n):
        return compiled(torch.ones(n))

    run(2)
    assert counter.frame_count == 0
    compiled(torch.ones(2))
    assert counter.frame_count == 1
    compiler.set_stance("force_eager")
    compiled(torch.ones(3))
    with compiler.set_stance("default"):
        compiled(torch.ones(3))
        assert counter.frame_count == 2
    compiled(torch.ones(4))
    compiler.set_stance("default")
    assert counter.frame_count == 2
    assert torch._dynamo.set_stance is compiler.set_stance


def test_an_unknown_stance_is_told_which_there_are():
    with pytest.raises(ValueError, match="no stance 'nope'(.|\n)*fail_on_recompile +use"):
        compiler.set_stance("nope")
