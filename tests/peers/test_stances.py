"""How many graphs there are under each stance: the lab's numbers are PyTorch's."""

from __future__ import annotations

import pytest

from .pairs import lab, torch

pytest.importorskip("torch._dynamo.testing")

SERIES = {
    "default": ([], [2, 2, 3]),
    "force_eager": ([2], [2, 3]),
    "eager_on_recompile": ([2], [2, 3, 2]),
    "fail_on_recompile": ([2, 3], [3, 2]),
    "eager_then_compile": ([], [2, 2, 3, 4]),
}


def counts(m, stance):
    def plain(x):
        return x * 2 + 1

    m._dynamo.reset()
    counter = m._dynamo.testing.CompileCounter()
    compiled = m.compile(plain, backend=counter, dynamic=False)
    before, sizes = SERIES[stance]
    for n in before:
        compiled(m.ones(n))
    found = []
    with m.compiler.set_stance(stance):
        for n in sizes:
            compiled(m.ones(n))
            found.append(counter.frame_count)
    return found


@pytest.mark.parametrize("stance", [*SERIES])
def test_counts_under_a_stance(stance):
    assert counts(lab, stance) == counts(torch, stance)


def test_the_text_of_fail_on_recompile():
    told = []
    for m in (lab, torch):
        m._dynamo.reset()
        compiled = m.compile(lambda x: x * 2, backend="eager", dynamic=False)
        compiled(m.ones(2))
        with m.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError) as caught:
            compiled(m.ones(4))
        told.append([line.strip() for line in str(caught.value).split("\n")])
    ours = [line.partition("  # ")[0] for line in told[0]]  # the user's line stands behind it
    assert ours == told[1] and "test_stances.py:" in "".join(told[0])


@pytest.mark.parametrize("fullgraph", [False, True])
def test_hatches_give_the_same(fullgraph):
    def run(m):
        m._dynamo.reset()

        def inner(x):
            return x.sin() + 1

        calls = []

        @m.compiler.assume_constant_result
        def constant():
            calls.append(1)
            return len(calls)

        whole = m.compiler.allow_in_graph(inner)
        counter = m._dynamo.testing.CompileCounter()
        compiled = m.compile(
            lambda x: whole(x) * constant(), backend=counter, fullgraph=fullgraph
        )
        results = [compiled(m.zeros(2)).tolist() for _ in range(2)]
        return results, len(calls), counter.frame_count, counter.op_count

    assert run(lab) == run(torch)
