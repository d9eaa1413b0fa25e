"""What the peers compute in `make bench` is what the lab computes, on a few numbers."""

from __future__ import annotations

import numpy as np
import pytest

import labcore
from labcore.measure import worker
from labcore.measure.words import NUMEXPR
from labcore.measure.workloads import Function, workloads

SMALL = workloads(small=True)


def agree(calls, work) -> None:
    wanted = worker.plain(work.call(labcore, lambda function: function)())
    for call in calls.values():
        found = worker.plain(call())
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_numexpr(name) -> None:
    pytest.importorskip("numexpr").set_num_threads(1)
    work = SMALL[name].work
    calls = worker.numexpr_calls(name, work).calls
    agree(calls, work)
    assert bool(calls) == (name.rpartition(", ")[0] in NUMEXPR and type(work) is Function)


@pytest.mark.parametrize("name", SMALL)
def test_jax(name) -> None:
    pytest.importorskip("jax")
    work = SMALL[name].work
    calls = worker.jax_calls(name, work).calls
    agree(calls, work)
    assert bool(calls) == isinstance(work, Function)


@pytest.mark.parametrize(
    "name", [name for name, each in SMALL.items() if isinstance(each.work, Function)]
)
def test_torch_eager(name) -> None:
    torch = pytest.importorskip("torch")
    work = SMALL[name].work
    agree({"torch eager": work.call(torch, lambda function: function)}, work)
